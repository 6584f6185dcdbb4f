/** What recorded events wait for, such as the answer of a host to an order, and how it was answered. Pure. */
import { membersOf } from '../vocabulary/record.ts'
import type { Event } from './answerShapes.ts'
import { factOf } from './eventLines.ts'

export type Awaited = {
  /** The event that waits, and the entity that the answer is about. */
  readonly after: string
  readonly subject: string
  /** Who has to answer. */
  readonly whom: string
  /** The number of the order; null: any answer counts. */
  readonly order: number | null
}

/** The types of events that are answers: to an order, and of Nova to what it was told. */
const OF_ORDERS: readonly string[] = ['OrderDone', 'OrderFailed', 'Programmed', 'ProgramFailed']
const OF_NOVA: readonly string[] = ['NovaTold']
export const ANSWERS: readonly string[] = [...OF_ORDERS, ...OF_NOVA]

export const awaitedBy = ({ id, event: { subject, data } }: Event): Awaited | null => {
  const { type, order } = factOf(data)
  const { number, host } = membersOf(order)
  if (typeof number === 'number') return { after: id, subject, whom: `host ${String(host)}`, order: number }
  return type === 'ResendAsked' ? { after: id, subject, whom: 'Nova', order: null } : null
}

/** The first answer among the events, which are in the order in which they were recorded. */
export const answerTo = ({ subject, order }: Awaited, events: readonly Event[]): Event | undefined =>
  events.find(({ event }) => {
    const { type, number } = factOf(event.data)
    if (event.subject !== subject || typeof type !== 'string') return false
    return order === null ? OF_NOVA.includes(type) : OF_ORDERS.includes(type) && number === order
  })

const TAKEN: readonly unknown[] = ['delivered', 'gone']
/** Why the answer is not what was wanted, in its own words; null: it is. */
export const flawIn = ({ event: { data } }: Event): string | null => {
  const { type, reason, endings, note } = factOf(data)
  if (type === 'OrderFailed' || type === 'ProgramFailed') return String(reason)
  if (type !== 'NovaTold') return null
  const ends = Object.values(membersOf(endings))
  if (ends.length > 0 && ends.every((end) => TAKEN.includes(end))) return null
  return typeof note === 'string' ? note : 'it has not taken everything'
}
