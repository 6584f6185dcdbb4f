/**
 * Decisions for a deployable when the journal has lost rows of it: its host may know orders, and guests may use
 * handles, that the journal no longer contains.
 *
 * ROWS-LOST-1 the next order gets a number above all numbers in the lost rows, so that the host does not ignore it as
 *    an older one;
 * ROWS-LOST-2 a handle that a lost row names is in doubt: a guest that the journal does not know may use it. It is
 *    given to nobody until an operator releases it. Before that, its host gets no order to release it, because that
 *    would take it from that guest;
 * ROWS-LOST-3 the host repeats its answer to an order that is still pending, so the loss of an answer alone puts
 *    nothing in doubt;
 * ROWS-LOST-4 the image of a region is unknown when a lost row was about its programming.
 */
import type { HandleUuid } from '../../vocabulary/identifiers.ts'
import type { Order } from '../../wire/orders.ts'
import type { OperatorNote } from '../../vocabulary/operatorNote.ts'
import type { DeployableCommand, DeployableEvent } from './messages.ts'
import type { Deployable, SlotHandle } from './state.ts'

type Lost = Extract<DeployableCommand, { readonly type: 'RowsLost' }>

const orderIn = (event: DeployableEvent): Order | null => {
  if (event.type === 'OrderFailed') return event.again
  return 'order' in event ? event.order : null
}
const numberIn = (event: DeployableEvent): number =>
  Math.max(orderIn(event)?.number ?? 0, 'number' in event ? event.number : 0)

const handleIn = (event: DeployableEvent): HandleUuid | null => {
  if ('handle' in event) return event.handle
  return event.type === 'OrderDone' || event.type === 'OrderFailed' ? event.slot : null
}
const programs = (event: DeployableEvent): boolean => {
  const order = orderIn(event)
  const loads = order?.type === 'PrepareSlot' && order.bitstream !== undefined
  return loads || event.type === 'ProgramStarted' || event.type === 'Programmed' || event.type === 'ProgramFailed'
}

/** Each handle that the lost rows name; true: more than an answer of its host was lost. */
const named = ({ events, handles }: Lost): ReadonlyMap<HandleUuid, boolean> => {
  const found = new Map<HandleUuid, boolean>(handles.map((uuid) => [uuid, true]))
  for (const event of events) {
    const uuid = handleIn(event)
    if (uuid !== null) found.set(uuid, found.get(uuid) === true || event.type !== 'OrderDone')
  }
  return found
}
/**
 * A lost answer alone puts only a free or missing handle in doubt; in other states the order is sent again, and so is
 * the answer (ROWS-LOST-3).
 */
const isInDoubt = ({ state, quarantine }: SlotHandle, more: boolean): boolean => {
  if (quarantine?.inDoubt) return false
  return more || state === 'free' || state === 'missing'
}

/** Keeps the reason of an operator who already withholds the handle; that operator may not know of the other guest. */
const noteFor = ({ quarantine }: SlotHandle, { by, reason }: OperatorNote): OperatorNote => ({
  by,
  reason: quarantine ? `${reason}; withheld before by ${quarantine.by}: ${quarantine.reason}` : reason,
})

export const rowsLost = (held: Deployable, lost: Lost): readonly DeployableEvent[] => {
  const to = Math.max(held.orders, ...lost.events.map(numberIn))
  const imageUnknown = held.bitstreamId !== null && lost.events.some(programs)
  const raised: DeployableEvent = { type: 'OrdersRaised', to, ...(imageUnknown ? { imageUnknown } : {}) }
  const doubted = [...named(lost)].flatMap(([uuid, more]): DeployableEvent[] => {
    const handle = held.handles[uuid]
    if (!handle || !isInDoubt(handle, more)) return []
    return [{ type: 'HandleQuarantined', handle: uuid, until: 'released', inDoubt: true, ...noteFor(handle, lost) }]
  })
  return [...(to > held.orders || imageUnknown ? [raised] : []), ...doubted]
}
