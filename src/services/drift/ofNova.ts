/**
 * Devices of a host for which Nova shows a provider of its own: both services would give them to a guest (placement
 * 6.3).
 */
import type { ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import { functionOf } from '../../vocabulary/attachedFunctions.ts'
import type { FoundDifference } from '../../actors/answers/drift.ts'
import type { Deployable } from '../../actors/deployable/state.ts'
import { OWNER_TRAIT } from '../../actors/placement/names.ts'
import { MANAGED_TRAIT, type OfNova, ofNova } from '../../actors/placement/ofNova.ts'
import type { Placement, Provider, PlacementResult } from '../../actors/placement/port.ts'
import { driftEntry } from './entry.ts'
import type { Facts } from '../placement/facts.ts'

/**
 * The PCI functions of a deployable and the physical functions behind them, each with its relation to the deployable.
 */
const functionsOf = ({ handles }: Deployable): ReadonlyMap<string, 'own' | 'physical'> => {
  const found = new Map<string, 'own' | 'physical'>()
  const all = Object.values(handles).filter(({ type }) => type === 'PCI')
  for (const { physfn } of all) if (physfn !== undefined) found.set(physfn, 'physical')
  for (const handle of all) found.set(functionOf(handle), 'own')
  return found
}

const reasonOf = ({ provider, use }: OfNova, part: 'own' | 'physical'): string => {
  const shows = `Nova shows the provider ${provider.name} (${provider.uuid})`
  if (use === 'divided') return `${shows}: it divides the device into mediated devices`
  return part === 'own'
    ? `${shows}: it passes the device through as well`
    : `${shows} of its physical function, or of virtual functions of that: 'accelerando doctor --nova-conf' on the host says which`
}

/** The provider's name is no proof: somebody else may use names of the same form. */
const isOfNova = async (port: Placement, { provider, use }: OfNova): Promise<PlacementResult<boolean>> => {
  const answer = await port.traits(provider.uuid)
  if (!answer.ok) return answer.error === 'gone' ? { ok: true, value: false } : answer
  const { traits } = answer.value
  return { ok: true, value: use === 'passed' ? traits.includes(MANAGED_TRAIT) : !traits.includes(OWNER_TRAIT) }
}

const entryOf = ({ uuid, name, rpUuid }: Deployable, reason: string): FoundDifference =>
  driftEntry({ kind: 'nova_device', provider: rpUuid, name, deployable: uuid }, { reason })

/**
 * `tree`: all providers below the compute node. Placement is asked only about those whose name matches one of our
 * devices.
 */
export const novaEntries = async (
  port: Placement,
  { task, deployables }: Facts,
  tree: readonly Provider[],
): Promise<PlacementResult<readonly FoundDifference[]>> => {
  const ours = new Set<ResourceProviderUuid>(task.wanted.map(({ uuid }) => uuid))
  const theirs = Map.groupBy(
    tree.filter(({ uuid }) => !ours.has(uuid)).flatMap((provider) => ofNova(provider) ?? []),
    (one) => one.function,
  )
  const named = deployables
    .filter(({ exists }) => exists)
    .flatMap((held) =>
      [...functionsOf(held)].flatMap(([address, part]) =>
        (theirs.get(address) ?? []).map((one) => ({ held, part, one })),
      ),
    )
  const entries: FoundDifference[] = []
  for (const { held, part, one } of named) {
    const shown = await isOfNova(port, one)
    if (!shown.ok) return shown
    if (shown.value) entries.push(entryOf(held, reasonOf(one, part)))
  }
  return { ok: true, value: entries }
}
