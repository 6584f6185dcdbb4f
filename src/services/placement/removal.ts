/**
 * Removes providers that nothing recorded explains any more: deletes them, or reserves all their units while some are
 * allocated.
 */
import type { ProviderChange, Finding, HeldProvider } from '../../actors/placement/decider.ts'
import { OWNER_TRAIT } from '../../actors/placement/names.ts'
import type { Placement, PlacementFault } from '../../actors/placement/port.ts'
import { canonicalJson } from '../../wire/canonical.ts'
import { allReserved, contentOf, foreignTraitIn } from './content.ts'

/** How many consumers a reason names. */
const CONSUMERS_SHOWN = 5
const textOf = (consumers: readonly string[]): string =>
  consumers.slice(0, CONSUMERS_SHOWN).join(', ') +
  (consumers.length > CONSUMERS_SHOWN ? ` and ${consumers.length - CONSUMERS_SHOWN} more` : '')

type Unwanted = Pick<HeldProvider, 'uuid' | 'name' | 'deployable' | 'traits'>
const finding = (
  unwanted: Unwanted,
  state: Finding['state'],
  reason: string,
  did: readonly ProviderChange[] = [],
): Finding => ({
  uuid: unwanted.uuid,
  name: unwanted.name,
  deployable: unwanted.deployable,
  traits: unwanted.traits,
  state,
  reason,
  reserving: [],
  ours: state !== 'placement_conflict',
  did,
})
/** A provider that only its owner trait says to be ours. */
export const ofOthers = (one: Unwanted): Finding =>
  finding(
    one,
    'placement_conflict',
    `the provider ${one.uuid} (${one.name}) carries ${OWNER_TRAIT}, and nothing recorded says that this service made it: another Cyborg may serve it, so it is left as it is; "drift heal" deletes it, or reserves it while units of it are allocated`,
  )
/** From now on it is ours, by order of an operator. */
export const takeOver = (one: Unwanted): Finding =>
  finding(one, 'pending', 'an operator has ordered that it goes', ['adopted'])
const gone = (unwanted: Unwanted, did: readonly ProviderChange[]): Finding => ({
  ...finding(unwanted, 'in_sync', '', did),
  reason: null,
  gone: true,
})

const reserveAll = async (
  placement: Placement,
  unwanted: Unwanted,
  reason: string,
): Promise<Finding | PlacementFault> => {
  const content = await contentOf(placement, unwanted.uuid)
  if (!content.ok) return content
  const { generation, inventories } = content.value
  const wish = allReserved(inventories)
  if (canonicalJson(wish) === canonicalJson(inventories)) return finding(unwanted, 'pending', reason)
  const answer = await placement.setInventories({ uuid: unwanted.uuid, generation, inventories: wish })
  return answer.ok ? finding(unwanted, 'pending', reason, ['inventory']) : answer
}

const attempt = async (placement: Placement, unwanted: Unwanted): Promise<Finding | PlacementFault> => {
  const { uuid, name } = unwanted
  const content = await contentOf(placement, uuid)
  if (!content.ok) return content
  const foreign = foreignTraitIn(content.value.traits)
  if (foreign !== undefined)
    return finding(
      unwanted,
      'placement_conflict',
      `the provider ${uuid} (${name}) carries ${foreign}: it belongs to Nova`,
    )
  const used = await placement.allocations(uuid)
  if (!used.ok) return used
  const consumers = Object.keys(used.value.consumers)
  if (consumers.length > 0) return reserveAll(placement, unwanted, `units are allocated to ${textOf(consumers)}`)
  const removed = await placement.remove(uuid)
  if (removed.ok) return gone(unwanted, ['removed'])
  if (removed.error === 'inUse') return reserveAll(placement, unwanted, 'units were allocated meanwhile')
  if (removed.error === 'hasChildren') return finding(unwanted, 'pending', 'other providers stand below it')
  return removed
}

/** A fault: Placement did not answer, or it accepts nothing from this service. */
export const takeBack = async (placement: Placement, unwanted: Unwanted): Promise<Finding | PlacementFault> => {
  const result = await attempt(placement, unwanted)
  if (!('error' in result) || result.error === 'unanswered' || result.error === 'denied') return result
  return result.error === 'gone' ? gone(unwanted, []) : finding(unwanted, 'pending', result.reason)
}
