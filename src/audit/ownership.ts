/** Which providers are ours by the journal: not their traits decide, because another Cyborg sets the same. */
import { deployable } from '../actors/deployable/decider.ts'
import type { DeployableEvent } from '../actors/deployable/messages.ts'
import { type Host, host } from '../actors/host/decider.ts'
import { namesHeld } from '../actors/host/held.ts'
import { type PlacementEvent, type PlacementRecord, placement } from '../actors/placement/decider.ts'
import { kindOf } from '../actors/runtime/memory.ts'
import { rpUuidOf } from '../vocabulary/rpUuid.ts'
import type { Loss } from './evidence.ts'
import type { History, Step } from './history.ts'

type Row = { readonly key: string; readonly events: readonly unknown[] }
const ofDeployable = (event: DeployableEvent): readonly string[] => {
  if (event.type === 'DeployableRecorded') return [event.identity.rpUuid]
  return 'description' in event && event.description.place ? [event.description.place.rpUuid] : []
}

/** Every provider that was ours at any time: that of a recorded deployable, or taken over by order of an operator. */
export const everOurs = (lost: readonly Loss[]) => {
  const [found, ordered] = [new Set<string>(), new Set<string>()]
  const ofPlacement = (key: string, event: PlacementEvent): void => {
    if (event.type === 'PassBegun') ordered[event.ordered ? 'add' : 'delete'](key)
    if (event.type === 'ProviderReconciled' && event.provider.ours && ordered.has(key)) found.add(event.provider.uuid)
  }
  const note = ({ key, events }: Row): void => {
    if (kindOf(key) === placement.kind) for (const event of events) ofPlacement(key, event as PlacementEvent)
    if (kindOf(key) !== deployable.kind) return
    for (const event of events) for (const uuid of ofDeployable(event as DeployableEvent)) found.add(uuid)
  }
  for (const { rows } of lost) rows.forEach(note)
  return {
    step: ({ changes }: Step): void => {
      for (const { row } of changes) note(row)
    },
    has: (uuid: string): boolean => found.has(uuid),
  }
}

/** The providers that this service has to account for now: recorded as ours, or named as a deployable of a host. */
export const oursNow = (history: History): ReadonlySet<string> =>
  new Set(
    [...history.entities()].flatMap(([key, state]) => {
      if (kindOf(key) === host.kind) return namesHeld(state as Host).map(rpUuidOf)
      if (kindOf(key) !== placement.kind) return []
      return Object.values((state as PlacementRecord).providers).flatMap(({ uuid, ours }) => (ours ? [uuid] : []))
    }),
  )
