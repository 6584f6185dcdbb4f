/** The recorded facts of a host that Placement should show. */
import type { HostName } from '../../vocabulary/identifiers.ts'
import { type Outcome, allOf, done } from '../../vocabulary/fault.ts'
import type { Deployable } from '../../actors/deployable/state.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import { host, hostKey } from '../../actors/host/decider.ts'
import { namesHeld } from '../../actors/host/held.ts'
import { type PlacementRecord, placement, placementKey } from '../../actors/placement/decider.ts'
import { wantedOf } from '../../actors/placement/wanted.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Task } from './pass.ts'
import { boundOn } from './units.ts'

export type Facts = {
  readonly task: Task
  readonly record: PlacementRecord
  readonly deployables: readonly Deployable[]
}

/** Reads the journal, so that the facts include everything recorded before this call. */
export const factsOf = async (kernel: Kernel, name: HostName): Promise<Outcome<Facts>> => {
  const { region, options } = kernel
  const [known, recorded] = await Promise.all([
    region.readCurrent(host, hostKey(name)),
    region.readCurrent(placement, placementKey(name)),
  ])
  if (!known.ok) return known
  if (!recorded.ok) return recorded
  const [{ state: held }, { state: record }] = [known.value, recorded.value]
  const uuids = Object.values(held.devices).flatMap(({ deployables }) => Object.values(deployables))
  const all = await allOf(uuids.map((uuid) => region.readCurrent(deployable, deployableKey(uuid))))
  if (!all.ok) return all
  const shown = all.value.map(({ state }) => state)
  const bound = await boundOn(kernel, shown)
  if (!bound.ok) return bound
  const wanted = wantedOf(held, shown, options.reserveSilent)
  const task = { host: name, aliases: held.aliases, wanted, bound: bound.value, held: record, names: namesHeld(held) }
  return done({ task, record, deployables: shown })
}
