/**
 * Brings one provider in Placement into agreement with the records. Everything is read before it is judged, and written
 * with the generation that was read, so that a change by somebody else in between is noticed (placement 5.2, 9.2).
 *
 * SETTLE-1 equal content is not written: each write of an inventory disturbs the claims of Nova;
 * SETTLE-2 a provider not recorded as ours is written only if its UUID, name and content show that it is ours
 *    (placement 6.1);
 * SETTLE-3 traits that others set on our provider stay. Only traits that this service has set are removed, and names of
 *    functions that the card is not loaded with.
 */
import type { ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import { type Backoff, backoffMs, pause } from '../../vocabulary/waiting.ts'
import type { Clock } from '../../vocabulary/clock.ts'
import { canonicalJson } from '../../wire/canonical.ts'
import { rpUuidOf } from '../../vocabulary/rpUuid.ts'
import type { ProviderChange, Finding, HeldProvider } from '../../actors/placement/decider.ts'
import { OWNER_TRAIT, isFunctionTrait } from '../../actors/placement/names.ts'
import type { Inventories, Placement, PlacementFault, Provider, PlacementResult } from '../../actors/placement/port.ts'
import { type Wanted, inventoriesOf, reservedFor } from '../../actors/placement/wanted.ts'
import { agreedIn } from './agreements.ts'
import { type Content, allReserved, contentOf, foreignTraitIn } from './content.ts'

export type Tools = {
  readonly placement: Placement
  readonly clock: Pick<Clock, 'after'>
  readonly root: Provider
  /** By UUID: the provider of the compute node and all providers below it. */
  readonly tree: ReadonlyMap<ResourceProviderUuid, Provider>
  /** Traits and resource classes that Placement is known to have; shared by all passes of this process. */
  readonly names: Set<string>
}

/** Whether a provider without a record must have been made by this service or its predecessor (placement 6.1). */
const isAdoptable = (
  { uuid, name, resourceClass, traits: wanted }: Wanted,
  { inventories, traits }: Content,
): boolean =>
  rpUuidOf(name) === uuid &&
  (traits.includes(OWNER_TRAIT) ||
    (traits.every((trait) => wanted.includes(trait) || isFunctionTrait(trait)) &&
      Object.keys(inventories).every((each) => each === resourceClass)))

/** Traits of others, which stay (SETTLE-3). */
const foreignIn = (wanted: Wanted, held: HeldProvider | undefined, present: readonly string[]): readonly string[] => {
  const own = new Set([...(held?.traits ?? []), ...wanted.traits])
  return present.filter((trait) => !own.has(trait) && !isFunctionTrait(trait)).toSorted()
}

type Progress = {
  readonly wanted: Wanted
  readonly held: HeldProvider | undefined
  readonly did: ProviderChange[]
  ours: boolean
}

const finding = ({ wanted, held, did, ours }: Progress, state: Finding['state'], reason: string | null): Finding => ({
  uuid: wanted.uuid,
  name: wanted.name,
  deployable: wanted.deployable,
  // the former traits may still be set until a write of the new ones is confirmed
  traits:
    state === 'in_sync'
      ? wanted.traits
      : [...new Set([...(held?.traits ?? []), ...(ours ? wanted.traits : [])])].toSorted(),
  state,
  reason,
  ...(state === 'placement_conflict' ? { reserving: [] } : reservedFor(wanted)),
  ours,
  did: [...did],
})
const conflict = (progress: Progress, reason: string): Finding => finding(progress, 'placement_conflict', reason)
const pending = (progress: Progress, reason: string): Finding => finding(progress, 'pending', reason)

const NAMES_MAX = 10_000
/** The names that Placement must know before the provider can use them. */
const ensure = async (
  { placement, names }: Tools,
  { resourceClass, traits }: Wanted,
): Promise<PlacementFault | null> => {
  const asked = [
    { name: `class ${resourceClass}`, ask: () => placement.ensureClass(resourceClass) },
    ...traits.map((trait) => ({ name: `trait ${trait}`, ask: () => placement.ensureTrait(trait) })),
  ]
  for (const { name, ask } of asked) {
    if (names.has(name)) continue
    const answer = await ask()
    if (!answer.ok) return answer
    if (names.size >= NAMES_MAX) names.clear()
    names.add(name)
  }
  return null
}

/** Creates the provider. Fault `duplicate`: the name or the UUID is in use. */
const make = async (tools: Tools, progress: Progress): Promise<PlacementResult<Provider>> => {
  const { wanted } = progress
  const unknown = await ensure(tools, wanted)
  if (unknown) return unknown
  const made = await tools.placement.create({ uuid: wanted.uuid, name: wanted.name, parent: tools.root.uuid })
  if (!made.ok) return made
  progress.did.push('created')
  progress.ours = true
  return made
}

/** Returns the existing provider, or creates it. A finding: it cannot be created. */
const stand = async (tools: Tools, progress: Progress): Promise<PlacementResult<Provider> | Finding> => {
  const { placement, tree } = tools
  const { wanted, held } = progress
  const near = tree.get(wanted.uuid)
  if (near) return { ok: true, value: near }
  // a provider never seen before is most likely absent, so creating it is tried before reading it
  const first = held ? null : await make(tools, progress)
  if (first && (first.ok || first.error !== 'duplicate')) return first
  const known = await placement.provider(wanted.uuid)
  if (known.ok || known.error !== 'gone') return known
  const made = first ?? (await make(tools, progress))
  if (made.ok || made.error !== 'duplicate') return made
  const other = await placement.named(wanted.name)
  if (!other.ok) return other
  if (other.value === null || other.value.uuid === wanted.uuid) return { ...made, error: 'stale' }
  return conflict(progress, `the name ${wanted.name} belongs to the provider ${other.value.uuid}, which is not ours`)
}

/** The answer of Placement before 1.37 to a change of parent. */
const isImmovable = ({ error, reason }: PlacementFault): boolean => error === 'refused' && /\bre-?parent/i.test(reason)
/**
 * Placement before 1.37 cannot move the provider below the new compute node, so it is deleted, unless units of it are
 * allocated (P6), and made again. The fault `gone` means: it was deleted and can now be made.
 */
const makeWay = async (
  placement: Placement,
  progress: Progress,
  { reason }: PlacementFault,
): Promise<PlacementFault | Finding> => {
  const removed = await placement.remove(progress.wanted.uuid)
  if (removed.ok) {
    progress.did.push('removed')
    return { ok: false, error: 'gone', reason: 'it was deleted to be made below its compute node' }
  }
  if (removed.error !== 'inUse') return removed
  return pending(
    progress,
    `it cannot be moved below its compute node before Placement 1.37 (${reason}), nor be made anew while units of it are allocated`,
  )
}

/** Null: the provider is ours and has the right name and parent. */
const place = async (
  { placement, root }: Tools,
  progress: Progress,
  provider: Provider,
  content: Content,
): Promise<PlacementFault | Finding | null> => {
  const { wanted } = progress
  const foreign = foreignTraitIn(content.traits)
  if (foreign !== undefined)
    return conflict(progress, `the provider ${provider.uuid} carries ${foreign}: it belongs to Nova`)
  if (!progress.ours) {
    if (provider.root !== root.uuid)
      return conflict(progress, `the provider ${provider.uuid} stands below another compute node, ${provider.root}`)
    if (provider.name !== wanted.name || !isAdoptable(wanted, content))
      return conflict(progress, `the provider ${provider.uuid} (${provider.name}) exists and is not known to be ours`)
    progress.did.push('adopted')
    progress.ours = true
  }
  const [renamed, moved] = [provider.name !== wanted.name, provider.parent !== root.uuid]
  if (!renamed && !moved) return null
  const answer = await placement.update({ uuid: wanted.uuid, name: wanted.name, parent: root.uuid })
  if (!answer.ok) return moved && isImmovable(answer) ? makeWay(placement, progress, answer) : answer
  if (renamed) progress.did.push('renamed')
  if (moved) progress.did.push('moved')
  return null
}

/**
 * `kept`: units of another class are allocated, so that class stays, fully reserved. The wanted class is as wanted,
 * unless it is not there yet.
 */
type Stocked = { readonly generation: number; readonly kept: string | null }
/** Writes the inventory if it differs. */
const writeInventory = async (
  placement: Placement,
  { wanted, did }: Progress,
  { generation, inventories: present }: Content,
): Promise<PlacementResult<Stocked>> => {
  const { uuid, resourceClass } = wanted
  const set = async (inventories: Inventories): Promise<PlacementResult<number>> => {
    if (canonicalJson(inventories) === canonicalJson(present)) return { ok: true, value: generation }
    const answer = await placement.setInventories({ uuid, generation, inventories })
    if (answer.ok) did.push('inventory')
    return answer
  }
  const written = await set(inventoriesOf(wanted))
  if (written.ok) return { ok: true, value: { generation: written.value, kept: null } }
  if (written.error !== 'inUse') return written
  const own = Object.hasOwn(present, resourceClass) ? inventoriesOf(wanted) : {}
  const reserved = await set({ ...allReserved(present), ...own })
  if (!reserved.ok) return reserved
  const others = Object.keys(present).filter((name) => name !== resourceClass)
  return { ok: true, value: { generation: reserved.value, kept: `units of ${others.join(', ')} are still allocated` } }
}

/**
 * Traits are written before the inventory: a provider with units is then complete, and a partly written one already has
 * our owner trait.
 */
const write = async (tools: Tools, progress: Progress, content: Content): Promise<PlacementFault | Finding> => {
  const { placement } = tools
  const { wanted, held, did } = progress
  const foreign = foreignIn(wanted, held, content.traits)
  const traits = [...foreign, ...wanted.traits].toSorted()
  const [lacks, differs] = [
    Object.keys(content.inventories).join() !== wanted.resourceClass,
    traits.join() !== content.traits.toSorted().join(),
  ]
  const unknown = lacks || differs ? await ensure(tools, wanted) : null
  if (unknown) return unknown
  let { generation } = content
  if (differs) {
    const answer = await placement.setTraits({ uuid: wanted.uuid, generation, traits })
    if (!answer.ok) return answer
    did.push('traits')
    generation = answer.value
  }
  const stocked = await writeInventory(placement, progress, { ...content, generation })
  if (!stocked.ok) return stocked
  const { kept, generation: last } = stocked.value
  const result = kept === null ? finding(progress, 'in_sync', null) : pending(progress, kept)
  return {
    ...result,
    ...(foreign.length > 0 && { foreign }),
    ...(kept === null && { agreed: agreedIn(wanted, last) }),
  }
}

const ATTEMPTS_MAX = 5
const BACKOFF: Backoff = { firstMs: 50, maxMs: 800 }
const isFault = (result: PlacementFault | Finding | null): result is PlacementFault =>
  result !== null && 'error' in result
/** Faults worth an immediate new try, because somebody else changed something between the read and the write. */
const isPassing = ({ error }: PlacementFault): boolean => ['stale', 'gone', 'unknownName'].includes(error)

/** The content of a provider that was just created. */
const emptyAt = ({ generation }: Provider): PlacementResult<Content> => ({
  ok: true,
  value: { generation, inventories: {}, traits: [] },
})

const attempt = async (tools: Tools, progress: Progress): Promise<PlacementFault | Finding> => {
  const { placement } = tools
  const stood = await stand(tools, progress)
  if (!('ok' in stood)) return stood
  if (!stood.ok) return stood
  const isNew = progress.did.includes('created') && stood.value.generation === 0
  const content = isNew ? emptyAt(stood.value) : await contentOf(placement, progress.wanted.uuid)
  if (!content.ok) return content
  const placed = await place(tools, progress, stood.value, content.value)
  return placed ?? write(tools, progress, content.value)
}

/** A fault ends the pass: Placement did not answer, or it accepts nothing from this service. */
export const reconcileProvider = async (
  tools: Tools,
  wanted: Wanted,
  held: HeldProvider | undefined,
): Promise<Finding | PlacementFault> => {
  const progress: Progress = { wanted, held, did: [], ours: held?.ours ?? false }
  let [result, tree] = [await attempt(tools, progress), tools.tree]
  for (let tries = 1; tries < ATTEMPTS_MAX && isFault(result) && isPassing(result); tries++) {
    await pause(tools.clock, backoffMs(BACKOFF, tries))
    // the tree that was read at the beginning of the pass is out of date
    tree = new Map()
    if (result.error === 'unknownName') tools.names.clear()
    result = await attempt({ ...tools, tree }, progress)
  }
  if (!isFault(result) || result.error === 'unanswered' || result.error === 'denied') return result
  return pending(progress, result.reason)
}
