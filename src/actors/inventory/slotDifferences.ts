/**
 * Finds where the slots that a host reports as prepared differ from the journal. Pure.
 *
 * A report shows a past moment, so handles with an order under way are not compared; neither are withheld or
 * quarantined ones. A difference may still come from a late report: code that acts on one must find it a second time.
 */
import type { DeployableUuid, HandleUuid, SlotUuid } from '../../vocabulary/identifiers.ts'
import { functionOf } from '../../vocabulary/attachedFunctions.ts'
import type { PreparedSlot, Slots } from '../../wire/slots.ts'
import type { Found } from '../deployable/slotMessages.ts'
import { type Deployable, type SlotHandle, markOf } from '../deployable/state.ts'

/**
 * `unexplained`: the host has prepared a slot for something that the journal does not contain; `lost`: the journal says
 * that a slot is prepared, and the host does not have it; `in_use`: the hardware of a handle is in use, and no request
 * has the handle.
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
  /** Prepared slots that neither belong to a handle of this host nor have the same hardware as one. */
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
/** The text does not name the request, because anybody who may read the inventory sees it. */
const described = ({ slot, number }: PreparedSlot): string => `slot ${slot} prepared by order ${number}`

const difference = (
  { held, handle }: HeldHandle,
  kind: Difference['kind'],
  reason: string,
  found: Found | null = null,
): Difference => ({ kind, deployable: held.uuid, handle: handle.uuid, mark: markOf(handle), reason, found })

/** Handles with an order under way, and withheld handles, are not compared. */
const isOpen = ({ pending, quarantine }: SlotHandle): boolean => pending === null && quarantine === undefined
const isShown = ({ held, handle }: HeldHandle): boolean =>
  held.presence === 'present' && !handle.unseen && isOpen(handle)
/**
 * Whether the host takes part in binds of the handle and reports it. A handle for a mediated device counts even if the
 * last report did not contain it: when the driver finds a mediated device that it does not recognize, it reports fewer
 * handles.
 */
const isWorkedOn = ({ held, handle }: HeldHandle): boolean =>
  held.hostWork && held.presence === 'present' && isOpen(handle) && (!handle.unseen || handle.type === 'MDEV')

const LOST = 'its host does not have it prepared for the request that holds it'

/** The difference for a reported slot that is the handle's own slot. */
const ownDifference = (holding: HeldHandle, shown: PreparedSlot): readonly Difference[] => {
  const { held, handle } = holding
  if (!isShown(holding)) return []
  // also where the host only loads images: a slot prepared for that is released like any other
  if (handle.state === 'free')
    return [
      difference(
        holding,
        'unexplained',
        `its host has ${described(shown)}, and the journal holds it free`,
        foundOf(shown),
      ),
    ]
  if (!held.hostWork || handle.state !== 'held' || (shown.state !== 'releasing' && shown.arq === handle.arq)) return []
  return shown.number > held.orders
    ? [
        difference(
          holding,
          'unexplained',
          `its host has ${described(shown)}, which the journal never gave, and another request holds it`,
          foundOf(shown),
        ),
      ]
    : [difference(holding, 'lost', LOST)]
}

/**
 * The differences for a reported slot that the journal does not know and that has the same hardware as these handles.
 */
const foreignDifferences = (holdings: readonly HeldHandle[], shown: PreparedSlot): readonly Difference[] =>
  holdings
    .filter(({ handle }) => isOpen(handle) && handle.state !== 'missing')
    .map((holding) =>
      difference(
        holding,
        'unexplained',
        `its host has ${described(shown)} with the same hardware, and the journal does not know that slot`,
        foundOf(shown),
      ),
    )

const covers = ({ from, upTo }: Slots, slot: SlotUuid): boolean =>
  (from === undefined || slot >= from) && (upTo === undefined || slot <= upTo)

/** Groups handles by the function that they attach and by its physical function. */
const byHardware = (holdings: readonly HeldHandle[]): ReadonlyMap<string, readonly HeldHandle[]> => {
  const found = new Map<string, HeldHandle[]>()
  for (const holding of holdings)
    for (const what of [functionOf(holding.handle), holding.handle.physfn ?? null]) {
      if (what === null) continue
      const others = found.get(what)
      if (others) others.push(holding)
      else found.set(what, [holding])
    }
  return found
}

export const slotDifferences = (slots: Slots, deployables: readonly Deployable[]): Differences => {
  const holdings = deployables.flatMap((held) =>
    Object.values(held.handles).map((handle): HeldHandle => ({ held, handle })),
  )
  const own = new Map<SlotUuid, HeldHandle>(holdings.map((holding) => [holding.handle.uuid, holding]))
  const hardware = byHardware(holdings)
  const shown = slots.prepared.map((slot) => {
    const holding = own.get(slot.slot)
    const others = holding ? [] : (hardware.get(slot.function) ?? [])
    return {
      slot,
      known: holding !== undefined || others.length > 0,
      found: holding ? ownDifference(holding, slot) : foreignDifferences(others, slot),
    }
  })
  const named = new Set<SlotUuid>(slots.prepared.map(({ slot }) => slot))
  // a handle cannot be prepared again beside an unknown slot with the same hardware, so it is not reported as lost
  const taken = new Set(shown.flatMap(({ found }) => found.map(({ handle }) => handle)))
  const lost = holdings
    .filter((holding) => isWorkedOn(holding) && holding.handle.state === 'held')
    .filter(({ handle: { uuid } }) => covers(slots, uuid) && !named.has(uuid) && !taken.has(uuid))
    .map((holding) => difference(holding, 'lost', LOST))
  return {
    differences: [...shown.flatMap(({ found }) => found), ...lost],
    unknown: shown.flatMap(({ slot, known }) => (known ? [] : [slot])),
    undecided: holdings.some(({ handle }) => handle.pending !== null),
  }
}

/** Finds free handles whose hardware is in use nevertheless. */
export const usedByOthers = ({ inUse = [] }: Slots, deployables: readonly Deployable[]): readonly Difference[] => {
  if (inUse.length === 0) return []
  const free = deployables.flatMap((held) =>
    Object.values(held.handles).flatMap((handle): HeldHandle[] => (handle.state === 'free' ? [{ held, handle }] : [])),
  )
  const hardware = byHardware(free)
  return inUse.flatMap(({ function: used, by }) =>
    (hardware.get(used) ?? [])
      .filter(({ handle }) => isOpen(handle))
      .map((holding) => difference(holding, 'in_use', `its hardware ${used} is in use and nobody has it: ${by}`)),
  )
}
