/**
 * Works on what falls due: recorded deadlines, the next try to notify Nova, orders without an answer, silent hosts, idle actors.
 *
 * SWEEPER-1 nothing exists only in a timer: after a restart, or in another process, the same reads find the same work;
 * SWEEPER-2 every round is bounded, and only one worker has an entity at a time: within a process by a list, among processes by claims;
 * SWEEPER-3 the process that recorded due work begins at once and without a claim; other processes leave it alone for `headStartMs`;
 * SWEEPER-4 a claim ends when the work is done, well or badly, and expires when its process is dead;
 * SWEEPER-5 only a process that has its store to itself sends all unanswered orders again at its start, because its bus died with the
 *    process before it. Otherwise the orders are still on the broker, and each restart would flood the hosts with repeats:
 *    orders without an answer after `resendMs` are found by the rounds;
 * SWEEPER-6 no deadline waits for the bus: orders are sent again in separate rounds;
 * SWEEPER-7 the process that recorded due work has it in memory: only entities that were claimed are read from the journal first.
 */
import type { EntityKey } from '../../identifiers.ts'
import type { Cancel } from '../../clock.ts'
import { isUndecided } from '../../fault.ts'
import { createViewChecks } from './viewChecks.ts'
import { textOf } from '../../errorText.ts'
import { orderMessage } from '../reactions.ts'
import type { Read } from '../runtime/region.ts'
import { attend } from './due.ts'
import type { Kernel } from './kernel.ts'
import type { Liveness } from './liveness.ts'

export type Sweeper = {
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Look at this entity now rather than with the next round. */
  readonly nudge: (entity: EntityKey) => void
  /** One round; for tests and for a simulation that drives the clock. */
  readonly round: () => Promise<void>
  /** Resolves when no entity is being worked on any more. */
  readonly idle: () => Promise<void>
}

const DUE_MAX = 500
const ORDERS_MAX = 500
/** At a start at most this many portions of orders are sent again; the rounds go on with the rest. */
const PORTIONS_MAX = 1000
/** At most this many entities are worked on at once; a later round finds the others. */
const IN_HAND_MAX = 2000
/** Silent hosts and idle actors are looked at every so many rounds. */
const SLOW_ROUNDS = 8

/** Works on an entity once at a time. */
const createAttendance = (kernel: Kernel) => {
  const { region, sharing, log } = kernel
  const inHand = new Set<EntityKey>()
  const running = new Set<Promise<void>>()
  const claimed = new Set<EntityKey>()
  const work = async (entity: EntityKey, read: Read) => {
    try {
      const fault = await attend(kernel, entity, read)
      // that the store cannot be read is logged elsewhere, once; a later round finds the entity again
      if (fault && !isUndecided(fault)) log.warn({ entity, fault }, 'sweep.refused')
    } catch (error) {
      log.error({ entity, error: textOf(error) }, 'sweep.failed')
    }
  }
  const begin = (entity: EntityKey, read: Read) => {
    if (inHand.has(entity) || inHand.size >= IN_HAND_MAX) return
    inHand.add(entity)
    const mine = work(entity, read).finally(() => {
      inHand.delete(entity)
      running.delete(mine)
    })
    running.add(mine)
  }
  const ended = async () => {
    while (running.size > 0) await Promise.allSettled(running)
  }
  /** Ends the claims on entities whose work is done. */
  const letGo = async () => {
    const over = [...claimed].filter((entity) => !inHand.has(entity))
    if (over.length === 0) return
    await sharing.unclaim(over)
    for (const entity of over) claimed.delete(entity)
  }
  const claim = async (before: number, forMs: number) => {
    // entities being worked on may be claimed as well, once: they must not hide the others
    const limit = Math.min(DUE_MAX, IN_HAND_MAX - inHand.size)
    if (limit === 0) return
    for (const { entity } of await sharing.claimDue(before, limit, forMs)) {
      claimed.add(entity)
      begin(entity, region.readCurrent)
    }
  }
  return { begin, ended, letGo, claim }
}

/** Orders are numbered, so sending one again is harmless; hosts answer with what they did. Returns how many were sent. */
const createResend =
  ({ clock, sharing, publish }: Kernel) =>
  async (before: number): Promise<number> => {
    const waiting = await sharing.takeOrders(before, clock.now(), ORDERS_MAX)
    if (waiting.length > 0) await publish(waiting.map(({ body }) => orderMessage(body, clock.now())))
    return waiting.length
  }

export const createSweeper = (kernel: Kernel, liveness: Liveness): Sweeper => {
  const { clock, journal, region, options, log } = kernel
  const attending = createAttendance(kernel)
  const resend = createResend(kernel)
  const checks = createViewChecks(kernel)
  let [stopped, rounds] = [false, 0]
  const timers = new Map<() => Promise<unknown>, Cancel>()

  const nudge = (entity: EntityKey) => {
    if (!stopped) attending.begin(entity, region.readCached)
  }
  const orders = () => resend(clock.now() - options.resendMs)
  const dues = async () => {
    await attending.letGo()
    await attending.claim(clock.now() - (journal.exclusive ? 0 : options.headStartMs), options.claimMs)
    await liveness.note()
    if (rounds++ % SLOW_ROUNDS !== 0) return
    region.passivate()
    await liveness.sweep()
    await checks.now()
  }
  const loop = async (work: () => Promise<unknown>) => {
    await work().catch((error: unknown) => log.warn({ error: String(error) }, 'sweep.round'))
    if (!stopped)
      timers.set(
        work,
        clock.after(options.sweepEveryMs, () => void loop(work)),
      )
  }
  /** Orders sent before this process started may have been lost with the process before it: sends all of them again, in portions. */
  const resendAll = async () => {
    const started = clock.now() - 1
    for (let portion = 0; portion < PORTIONS_MAX; portion++) if ((await resend(started)) < ORDERS_MAX) return
  }
  return {
    nudge,
    round: async () => {
      await dues()
      await orders()
    },
    idle: attending.ended,
    start: async () => {
      if (journal.exclusive)
        await resendAll().catch((error: unknown) => log.warn({ error: String(error) }, 'sweep.resend'))
      void loop(dues)
      void loop(orders)
    },
    stop: async () => {
      stopped = true
      for (const cancel of timers.values()) cancel()
      await attending.ended()
      await attending.letGo().catch((error: unknown) => log.warn({ error: String(error) }, 'sweep.claims'))
    },
  }
}
