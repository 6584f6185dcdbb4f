/**
 * When an order is over, by the monotonic clock of this host. Its deadline is a moment by the clock of a control, and either clock may be wrong.
 *
 * DEADLINE-1 an order lasts no longer than it had left when it was sent, counted from its arrival: a host whose clock is behind does not carry
 *   it out hours later;
 * DEADLINE-2 an order for this start of the host was sent after the start. As old as the freshest of them in the last minutes seems to be, so
 *   far this host's clock counts as ahead: a host whose clock is ahead carries out what is sent to it. Any other order is judged by
 *   the clock of this host;
 * DEADLINE-3 after the arrival of an order no step of the clock changes when it is over.
 */
import type { Clock } from '../clock.ts'
import type { Order } from '../wire/orders.ts'
import type { Sending } from './memory.ts'

/** The freshest order of this span and of the one before it counts. */
const SPAN_MS = 300_000

/** By how much this clock is ahead at most, judged by the messages of the last one to two spans. */
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

/** The moment when an order that has just arrived is over. */
export type DueAt = (order: Pick<Order, 'deadline'>, sending: Sending) => number

/** `boot`: the number of this start. */
export const createDeadlines = ({ now, monotonic }: Pick<Clock, 'now' | 'monotonic'>, boot: number): DueAt => {
  // as the clock was at the start: a step of it is no news about the control
  const difference = now() - monotonic()
  const aheadBy = createAhead(monotonic)
  return ({ deadline }, { meant, sentAt }) => {
    const [at, term] = [monotonic(), deadline - sentAt]
    const steady = at + difference
    const left =
      meant === boot && Number.isFinite(sentAt) ? deadline - steady + aheadBy(steady - sentAt) : deadline - now()
    // sent after its deadline: by a control whose clock is not that of who gave the order, or a release
    return at + (term > 0 ? Math.min(left, term) : left)
  }
}
