/**
 * Decisions for the case that the slots which a host has prepared differ from the journal.
 *
 * SLOT-1 if a host has prepared the hardware of a handle for something that the journal does not explain, the handle is
 *    withheld until an operator releases it. If a request holds the handle, it stays held and is withheld when the
 *    request gives it up;
 * SLOT-2 a handle that a request holds and its host has lost is prepared again, by a new order. If that fails or is not
 *    answered by its deadline, the handle is withheld as well: Nova has no event for an accelerator that is lost after
 *    the bind;
 * SLOT-3 when an operator releases a handle that was withheld for a slot on its host, or because rows were lost
 *    (`rowsLost.ts`), or whose release has failed, the host is first ordered to release that slot, with a number above
 *    all numbers that it knows for the slot. An operator who withholds the handle by hand decides without the host.
 */
import type { OperatorNote } from '../../vocabulary/operatorNote.ts'
import { INT_MAX } from '../../vocabulary/fields.ts'
import { type Decision, accept } from '../runtime/decider.ts'
import type { DeployableEvent } from './messages.ts'
import { QUARANTINED_FOR_CLEANING } from './cleaning.ts'
import { orderFor } from './orders.ts'
import type { SlotCommand } from './slotMessages.ts'
import { type Deployable, type SlotHandle, markOf } from './state.ts'

export const COMPARISON = 'comparison with the host'

const WITHHELD_FROM: ReadonlySet<SlotHandle['state']> = new Set(['free', 'held', 'quarantined'])

export const compared = (held: Deployable, command: SlotCommand): Decision<DeployableEvent> => {
  const handle = held.handles[command.handle]
  if (!handle || markOf(handle) !== command.mark || handle.quarantine || handle.pending) return accept()
  return command.type === 'Withhold' ? withhold(handle, command) : prepareAgain(held, handle, command)
}

const withhold = (
  handle: SlotHandle,
  { reason, found }: Extract<SlotCommand, { readonly type: 'Withhold' }>,
): Decision<DeployableEvent> => {
  if (!WITHHELD_FROM.has(handle.state)) return accept()
  const note = { until: 'released', by: COMPARISON, reason } as const
  return accept({ type: 'HandleQuarantined', handle: handle.uuid, ...note, ...(found ? { found } : {}) })
}

const prepareAgain = (
  held: Deployable,
  handle: SlotHandle,
  { deadline, requestId, reason }: Extract<SlotCommand, { readonly type: 'PrepareAgain' }>,
): Decision<DeployableEvent> => {
  const { arq } = handle
  if (handle.state !== 'held' || arq === null || !held.hostWork || held.presence !== 'present') return accept()
  // no image is loaded: the region holds it already, and loading another one would disturb other requests
  const order = orderFor(held, handle, {
    type: 'PrepareSlot',
    arq,
    deadline,
    requestId,
    bitstream: null,
    again: true,
  })
  return accept({ type: 'Granted', handle: handle.uuid, arq, order, repeated: reason })
}

/** The events when a repeated preparation has failed or was not answered by its deadline (SLOT-2). */
export const lost = ({ uuid, pending }: SlotHandle, reason: string): readonly DeployableEvent[] => [
  { type: 'OrderFailed', slot: uuid, number: pending!.number, reason, again: null },
  {
    type: 'HandleQuarantined',
    handle: uuid,
    until: 'released',
    by: COMPARISON,
    reason: `its host has lost it and could not prepare it again: ${reason}`,
  },
]

/** The release of the handle has failed, and nobody has taken it into their own hands since. */
const isUnreleased = ({ prepared, pending, quarantine }: SlotHandle): boolean =>
  prepared === true && !pending && (quarantine === undefined || quarantine.by === QUARANTINED_FOR_CLEANING)

/**
 * The events when an operator releases a handle that its host may have prepared (SLOT-3); null: it was withheld for
 * another reason.
 */
export const undone = (
  held: Deployable,
  handle: SlotHandle,
  { by, reason }: OperatorNote,
  deadline: number,
): Decision<DeployableEvent> | null => {
  const { found, inDoubt } = handle.quarantine ?? {}
  // the lost rows may say that the handle was prepared
  if (handle.state !== 'quarantined' || !(found ?? ((inDoubt && held.hostWork) || isUnreleased(handle)))) return null
  // a host that knows the highest possible number accepts no further order
  if (found && found.number >= INT_MAX) return null
  const above = { ...held, orders: Math.max(held.orders, found?.number ?? 0) }
  const also = !found || found.slot === handle.uuid ? [] : [found.slot]
  const order = orderFor(above, handle, { type: 'ReleaseSlot', deadline, also })
  return accept(
    { type: 'HandleCleared', handle: handle.uuid, by, reason },
    { type: 'HandleQuarantined', handle: handle.uuid, until: 'confirmed', by, reason },
    { type: 'HandleReleased', handle: handle.uuid, arq: handle.lastArq ?? '', order },
  )
}
