/**
 * Turns journal rows into messages: facts for readers, orders for hosts. Pure. No other code turns events into
 * messages.
 */
import type { BusRecord } from '../wire/envelope.ts'
import { traceField } from '../vocabulary/trace.ts'
import { type FactChannel, type Letter, factLetter, orderLetter, record } from '../wire/message.ts'
import type { Order } from '../wire/orders.ts'
import { isInternal } from './placement/decider.ts'
import type { Event } from './runtime/decider.ts'
import { idOf, kindOf } from './runtime/memory.ts'
import type { FeedRow, JournalRow } from './runtime/ports.ts'

/**
 * The topic for the facts of each kind of entity. Facts about profile names and counters are internal and not
 * published.
 */
const CHANNELS: Readonly<Record<string, FactChannel>> = {
  arq: 'arqEvents',
  deployable: 'deployableEvents',
  device: 'deviceEvents',
  profile: 'profileEvents',
  host: 'hostEvents',
  instance: 'arqEvents',
  placement: 'placementEvents',
}

export const orderOf = (event: Event): Order | null => {
  const given = event as { readonly order?: Order | null; readonly again?: Order | null }
  const order = given.order ?? given.again
  return order && typeof order === 'object' && 'slot' in order ? order : null
}

/** An order has the same message id however often it is sent. */
const letterOf = (order: Order, time: number, position?: string): Letter =>
  orderLetter(order, `${order.slot}.${order.number}`, time, position)
export const orderMessage = (...given: Parameters<typeof letterOf>): BusRecord => record(letterOf(...given))

/** Rows with orders are published at once, because a host waits for them; facts may wait. */
export const isUrgent = ({ events }: JournalRow): boolean => events.some((event) => orderOf(event) !== null)

/** The data from which the messages of a row are made, for code that only compares with it. */
export const lettersOf = (row: FeedRow): readonly Letter[] => {
  const channel = CHANNELS[kindOf(row.key)]
  const entity = idOf(row.key)
  return row.events.flatMap((event, at) => {
    const order = orderOf(event)
    const fact = { entity: row.key, version: row.version, event, cause: row.cause, command: row.commandId }
    const id = `${row.key}.${row.version}.${at}`
    const meta = { id, time: row.at, position: row.position, ...traceField(row.cause.trace) }
    return [
      ...(order ? [letterOf(order, row.at, row.position)] : []),
      ...(channel && !isInternal(event) ? [factLetter(channel, entity, fact, meta)] : []),
    ]
  })
}
export const reactions = (row: FeedRow): readonly BusRecord[] => lettersOf(row).map((letter) => record(letter))
