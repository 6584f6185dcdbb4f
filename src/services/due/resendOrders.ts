/**
 * Sends again the orders that their hosts have not answered. An order is numbered, so a repeat is harmless: the host
 * answers with what it did.
 *
 * RESEND-1 the pause before the next repeat grows with the age of the order, up to `RESEND_MAX_MS`;
 * RESEND-2 nothing is sent to a host that is down or removed; every `QUIET_MS` it is checked whether the host still is;
 * RESEND-3 a programming whose deadline has passed is not repeated but ends as failed. This also ends a programming
 *    that an older release ordered without recording its deadline as due work;
 * RESEND-4 an order postponed further ahead than possible is sent now, because the clock was set back since it was
 *    postponed. The deadline of a programming by a wrong clock has passed after its term (TERMS-1).
 */
import type { HostName } from '../../vocabulary/identifiers.ts'
import { isUndecided } from '../../vocabulary/fault.ts'
import { orderMessage } from '../../actors/reactions.ts'
import { deployableKey } from '../../actors/deployable/decider.ts'
import type { DueAt } from '../../actors/runtime/sharing.ts'
import type { Row } from '../../actors/runtime/views.ts'
import { attend } from './due.ts'
import { type Kernel, RELEASE_FOR_MS } from '../kernel/kernel.ts'
import { createTerms } from '../kernel/terms.ts'

const ORDERS_MAX = 500
/** At a start at most this many portions of orders are sent again; the rounds send the rest. */
const PORTIONS_MAX = 1000
export const RESEND_MAX_MS = 60_000
export const QUIET_MS = 120_000
/**
 * No control postpones an order further than this, even if its clock is two minutes ahead. Such orders are looked for
 * every `FAR_EVERY_MS`.
 */
const AHEAD_MS = 2 * QUIET_MS
const FAR_EVERY_MS = 10_000

type Pending = Row<'pending_orders'>
type Times = {
  readonly resendMs: number
  readonly bindDeadlineMs: number
  readonly programDeadlineMs: number
}

/** The time between the creation of the order and its deadline. */
const termMs = ({ body: { type } }: Pending, { bindDeadlineMs, programDeadlineMs }: Times): number => {
  if (type === 'ReleaseSlot') return RELEASE_FOR_MS
  return type === 'Program' ? programDeadlineMs : bindDeadlineMs
}
/** Pure: how long to wait before the order is looked at again; `silent`: its host is down or removed. */
export const pauseMs = (order: Pending, now: number, silent: boolean, times: Times): number => {
  const { resendMs } = times
  const age = now - (order.body.deadline - termMs(order, times))
  const pause = silent ? QUIET_MS : Math.min(age, RESEND_MAX_MS)
  // a programming ends at its deadline, even if its host is silent
  const left = order.body.type === 'Program' ? order.body.deadline - now : Infinity
  return Math.max(resendMs, Math.min(pause, left))
}

const SILENT: ReadonlySet<string> = new Set(['down', 'removed'])
const createSilent =
  ({ readers }: Kernel) =>
  async (orders: readonly Pending[]): Promise<ReadonlySet<HostName>> => {
    const names = [...new Set(orders.map(({ hostname }) => hostname))]
    const found = await readers.list('hosts', { name: names }, {})
    // if the view cannot be read, hosts count as up: one repeat too many does no harm
    return new Set(
      found.ok ? found.value.items.filter(({ liveness }) => SILENT.has(liveness)).map(({ name }) => name) : [],
    )
  }

export type Resend = {
  /** Sends the orders whose next repeat is due. */
  readonly round: () => Promise<void>
  /** Sends everything again, in portions: what was sent before this process started may be lost. */
  readonly all: () => Promise<void>
}

/** Whether the order is a programming whose deadline has passed. */
const createIsOver = ({ clock, options: { programDeadlineMs: ms } }: Kernel) => {
  const terms = createTerms(clock)
  return ({ slot, number, body: { type, deadline } }: Pending): boolean =>
    type === 'Program' && terms.hasPassed(`${slot} ${number}`, deadline - ms, ms)
}

export const createOrderResend = (kernel: Kernel): Resend => {
  const { clock, sharing, publish, region, options, log } = kernel
  const [silentHosts, isOver] = [createSilent(kernel), createIsOver(kernel)]
  const end = async ({ deployable_uuid: uuid, body: { deadline } }: Pending) => {
    const fault = await attend(kernel, deployableKey(uuid), region.readCurrent, deadline)
    if (fault && !isUndecided(fault)) log.warn({ deployable: uuid, fault }, 'resend.programNotEnded')
  }
  /** Returns when each order is to be looked at again. */
  const send = async (orders: readonly Pending[]) => {
    const now = clock.now()
    const silent = await silentHosts(orders)
    const over = new Set(orders.filter(isOver))
    const running = orders.filter((order) => !over.has(order))
    const sent = running.filter(({ hostname }) => !silent.has(hostname))
    // ended first, because a deadline must not wait for the bus
    for (const order of over) await end(order)
    if (sent.length > 0) await publish(sent.map(({ body }) => orderMessage(body, now)))
    return running.map((order) => {
      const { slot, number, hostname } = order
      return { slot, number, sentAt: now + pauseMs(order, now, silent.has(hostname), options) - options.resendMs }
    })
  }
  const repeat = async (moments: DueAt, now: number) => {
    const orders = await sharing.takeOrders(moments, now, ORDERS_MAX)
    if (orders.length === 0) return
    const later = (await send(orders)).filter(({ sentAt }) => sentAt > now)
    if (later.length > 0) await sharing.postponeOrders(later)
  }
  let farAt = -Infinity
  return {
    round: async () => {
      const now = clock.now()
      await repeat(now - options.resendMs, now)
      if (clock.monotonic() - farAt < FAR_EVERY_MS) return
      farAt = clock.monotonic()
      await repeat({ after: now + AHEAD_MS }, now)
    },
    all: async () => {
      // this moment also covers postponed orders, and lets none be taken twice
      const before = clock.now() + Math.max(QUIET_MS, RESEND_MAX_MS)
      const places: Awaited<ReturnType<typeof send>>[number][] = []
      try {
        for (let portion = 0; portion < PORTIONS_MAX; portion++) {
          const orders = await sharing.takeOrders(before, before + 1, ORDERS_MAX)
          // orders keep this moment if they cannot be sent, so that the rounds find them
          const unsent = orders.map(({ slot, number }) => ({ slot, number, sentAt: clock.now() }))
          const from = places.push(...unsent) - unsent.length
          if (orders.length > 0) places.splice(from, unsent.length, ...(await send(orders)))
          if (orders.length < ORDERS_MAX) break
        }
      } finally {
        for (let from = 0; from < places.length; from += ORDERS_MAX)
          await sharing.postponeOrders(places.slice(from, from + ORDERS_MAX))
      }
    },
  }
}
