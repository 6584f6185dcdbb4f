/**
 * Where the slots that a host says to have prepared differ from the journal. Pure.
 *
 * A report is a picture of a past moment, so an order that is under way is no difference, and neither is what is withheld or quarantined
 * already. What is found here may still be the trace of a report that was late: whoever acts on it has to see it a second time.
 */
import type { DeployableUuid, HandleUuid } from '../../identifiers.ts'
import { functionOf } from '../../attachedFunctions.ts'
import type { PreparedSlot, Slots } from '../../wire/slots.ts'
import type { Found } from '../deployable/slotMessages.ts'
import { type Deployable, type SlotHandle, markOf } from '../deployable/state.ts'

/**
 * `unexplained`: the host has it prepared for something that the journal does not hold; `lost`: the journal holds it, and the host does not;
 * `in_use`: its hardware is in use, and nobody has it.
 */
export type Difference = {
  readonly kind: 'unexplained' | 'lost' | 'in_use'
  readonly deployable: DeployableUuid
  readonly handle: HandleUuid
  readonly mark: string
  readonly reason: string
  readonly found: Found | null
}
export type Differences = {
  readonly differences: readonly Difference[]
  /** Prepared slots that are of no handle of this host, nor of the same hardware as one. */
  readonly unknown: readonly PreparedSlot[]
  /** An order is under way: when it has ended, the same slots may differ. */
  readonly undecided: boolean
}
type HeldHandle = { readonly held: Deployable; readonly handle: SlotHandle }

const foundOf = ({ slot, number, arq }: PreparedSlot): Found => ({
  slot,
  number,
  ...(arq === undefined ? {} : { arq }),
})
/** Without the request: whoever may read the inventory sees the reason. */
const told = ({ slot, number }: PreparedSlot): string => `slot ${slot} prepared by order ${number}`

const difference = (
  { held, handle }: HeldHandle,
  kind: Difference['kind'],
  reason: string,
  found: Found | null = null,
): Difference => ({ kind, deployable: held.uuid, handle: handle.uuid, mark: markOf(handle), reason, found })

/** Nothing is concluded of a handle whose order is under way, or that is withheld already. */
const isOpen = ({ pending, quarantine }: SlotHandle): boolean => pending === null && quarantine === undefined
const isShown = ({ held, handle }: HeldHandle): boolean =>
  held.presence === 'present' && !handle.unseen && isOpen(handle)
/**
 * Its host takes part in binds of it, and shows it. A mediated device that its driver does not know for its own counts against what can be offered, so
 * the handle that it belongs to may be one that is not shown.
 */
const isWorkedOn = ({ held, handle }: HeldHandle): boolean =>
  held.hostWork && held.presence === 'present' && isOpen(handle) && (!handle.unseen || handle.type === 'MDEV')

const LOST = 'its host does not have it prepared for the request that holds it'

/** The host names the handle's own slot. */
const ownDifference = (place: HeldHandle, shown: PreparedSlot): readonly Difference[] => {
  const { held, handle } = place
  if (!isShown(place)) return []
  // also where only its programming needs its host: what was prepared for that is released like any other
  if (handle.state === 'free')
    return [
      difference(place, 'unexplained', `its host has ${told(shown)}, and the journal holds it free`, foundOf(shown)),
    ]
  if (!held.hostWork || handle.state !== 'held' || (shown.state !== 'releasing' && shown.arq === handle.arq)) return []
  return shown.number > held.orders
    ? [
        difference(
          place,
          'unexplained',
          `its host has ${told(shown)}, which the journal never gave, and another request holds it`,
          foundOf(shown),
        ),
      ]
    : [difference(place, 'lost', LOST)]
}

/** The host names a slot that the journal does not know, with the same hardware as these handles. */
const foreignDifferences = (places: readonly HeldHandle[], shown: PreparedSlot): readonly Difference[] =>
  places
    .filter(({ handle }) => isOpen(handle) && handle.state !== 'missing')
    .map((place) =>
      difference(
        place,
        'unexplained',
        `its host has ${told(shown)} with the same hardware, and the journal does not know that slot`,
        foundOf(shown),
      ),
    )

const covers = ({ from, upTo }: Slots, slot: string): boolean =>
  (from === undefined || slot >= from) && (upTo === undefined || slot <= upTo)

/** By the function they attach, and by the physical function they are a part of. */
const byHardware = (places: readonly HeldHandle[]): ReadonlyMap<string, readonly HeldHandle[]> => {
  const found = new Map<string, HeldHandle[]>()
  for (const place of places)
    for (const what of [functionOf(place.handle), place.handle.physfn ?? null]) {
      if (what === null) continue
      const others = found.get(what)
      if (others) others.push(place)
      else found.set(what, [place])
    }
  return found
}

export const slotDifferences = (slots: Slots, deployables: readonly Deployable[]): Differences => {
  const places = deployables.flatMap((held) =>
    Object.values(held.handles).map((handle): HeldHandle => ({ held, handle })),
  )
  const own = new Map<string, HeldHandle>(places.map((place) => [place.handle.uuid, place]))
  const hardware = byHardware(places)
  const shown = slots.prepared.map((slot) => {
    const place = own.get(slot.slot)
    const others = place ? [] : (hardware.get(slot.function) ?? [])
    return {
      slot,
      known: place !== undefined || others.length > 0,
      found: place ? ownDifference(place, slot) : foreignDifferences(others, slot),
    }
  })
  const named = new Set<string>(slots.prepared.map(({ slot }) => slot))
  // what cannot be prepared again beside an unknown slot is not tried
  const taken = new Set(shown.flatMap(({ found }) => found.map(({ handle }) => handle)))
  const lost = places
    .filter((place) => isWorkedOn(place) && place.handle.state === 'held')
    .filter(({ handle: { uuid } }) => covers(slots, uuid) && !named.has(uuid) && !taken.has(uuid))
    .map((place) => difference(place, 'lost', LOST))
  return {
    differences: [...shown.flatMap(({ found }) => found), ...lost],
    unknown: shown.flatMap(({ slot, known }) => (known ? [] : [slot])),
    undecided: places.some(({ handle }) => handle.pending !== null),
  }
}

/** Handles that nobody has, and whose hardware is in use all the same. */
export const usedByOthers = ({ inUse = [] }: Slots, deployables: readonly Deployable[]): readonly Difference[] => {
  if (inUse.length === 0) return []
  const free = deployables.flatMap((held) =>
    Object.values(held.handles).flatMap((handle): HeldHandle[] => (handle.state === 'free' ? [{ held, handle }] : [])),
  )
  const hardware = byHardware(free)
  return inUse.flatMap(({ function: used, by }) =>
    (hardware.get(used) ?? [])
      .filter(({ handle }) => isOpen(handle))
      .map((place) => difference(place, 'in_use', `its hardware ${used} is in use and nobody has it: ${by}`)),
  )
}
