/**
 * Computes when an order is over, by the monotonic clock of this host. A deadline is a time by the clock of a control;
 * either clock may be wrong.
 *
 * DEADLINE-1 from its arrival, an order lasts no longer than it had left when it was sent: a host whose clock is behind
 *    does not carry an order out hours later;
 * DEADLINE-2 orders for this start of the host were sent after the start. The smallest age that such an order seemed to
 *    have in the last minutes is how far the clock of this host counts as ahead, so that a host whose clock is ahead
 *    still carries out its orders. Any other order is judged by the clock of this host;
 * DEADLINE-3 after the arrival of an order, a step of the clock does not change when the order is over.
 */
import type { Clock } from '../vocabulary/clock.ts'
import type { Order } from '../wire/orders.ts'
import type { Sending } from './memory.ts'

/** The freshest order of the present span and of the previous span of this length counts. */
const SPAN_MS = 300_000

/**
 * Estimates how far this clock is ahead at most, in ms, from the apparent ages of the orders of the last one to two
 * spans.
 */
const createAhead = (monotonic: () => number) => {
  let [began, least, before] = [-Infinity, Infinity, Infinity]
  return (seemsOldMs: number): number => {
    const now = monotonic()
    if (now - began >= SPAN_MS) {
      before = now - began < 2 * SPAN_MS ? least : Infinity
      ;[began, least] = [now, Infinity]
    }
    least = Math.min(least, seemsOldMs)
    return Math.max(0, Math.min(least, before))
  }
}

/** Returns when an order that has just arrived is over, by the monotonic clock. */
export type DueAt = (order: Pick<Order, 'deadline'>, sending: Sending) => number

/** `boot`: the number of this start. */
export const createDeadlines = ({ now, monotonic }: Pick<Clock, 'now' | 'monotonic'>, boot: number): DueAt => {
  // the difference of the clocks at the start: a later step of the clock tells nothing about the control
  const difference = now() - monotonic()
  const aheadBy = createAhead(monotonic)
  return ({ deadline }, { meant, sentAt }) => {
    const [at, term] = [monotonic(), deadline - sentAt]
    const steady = at + difference
    const left =
      meant === boot && Number.isFinite(sentAt) ? deadline - steady + aheadBy(steady - sentAt) : deadline - now()
    // an order without time left is a release, or came from a control whose clock differs from that of the control that
    // set the deadline
    return at + (term > 0 ? Math.min(left, term) : left)
  }
}
