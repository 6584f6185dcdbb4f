/**
 * What time brings: recorded deadlines, Nova's next try, orders without an answer, silent hosts, idle actors.
 *
 * W1 nothing is kept in timers alone: after a restart the same reads find the same work;
 * W2 every round is bounded, and an entity is worked on once at a time.
 */
import type { Order } from '../wire/orders.ts'
import { deployable } from './deployable/decider.ts'
import type { Liveness } from './host/liveness.ts'
import { conclude } from './instance/conclude.ts'
import type { Instance } from './instance/decider.ts'
import { tellNova } from './instance/notifier.ts'
import { type Kernel, newWork } from './kernel.ts'
import { idOf, kindOf } from './memory.ts'
import { orderMessage } from './reactions.ts'

export type Sweeper = {
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Look at this entity now rather than with the next round. */
  readonly nudge: (entity: string) => void
  /** One round; for tests and for whoever drives the clock. */
  readonly round: () => Promise<void>
  /** Resolves when nothing that was found or nudged is in hand any more. */
  readonly idle: () => Promise<void>
}

const DUE_MAX = 500
const ORDERS_MAX = 500
/** At a start at most so many portions of orders are sent again at once; the rounds go on with the rest. */
const PORTIONS_MAX = 1000
/** So many entities are worked on at once; who comes later is found by a later round. */
const IN_HAND_MAX = 2000
/** A release that is ordered again is answered within this time, or late. */
const RELEASE_FOR_MS = 600_000
/** Silent hosts and idle actors are looked at every so many rounds. */
const SLOW_ROUNDS = 8

/** Works on an entity once at a time. */
const attendant = (kernel: Kernel) => {
  const { region, log } = kernel
  const inHand = new Set<string>()
  const running = new Set<Promise<void>>()
  const attendInstance = async (entity: string) => {
    const looked = await region.look(entity)
    if (!looked.ok) return
    const { open } = looked.value.state as Instance
    if (open) await conclude(kernel, idOf(entity))
    await tellNova(kernel, idOf(entity))
  }
  const attendDeployable = async (entity: string) => {
    const work = newWork(kernel, { by: 'sweeper' }, (draft) => {
      draft.decide(deployable, entity, { type: 'Due', at: draft.at, deadline: draft.at + RELEASE_FOR_MS })
      return null
    })
    await region.tell(entity, work)
  }
  const attend = (entity: string) =>
    kindOf(entity) === deployable.kind ? attendDeployable(entity) : attendInstance(entity)
  const begin = (entity: string) => {
    if (inHand.has(entity) || inHand.size >= IN_HAND_MAX) return
    inHand.add(entity)
    const work = attend(entity)
      .catch((error: unknown) => log.error({ entity, error: String(error) }, 'sweep.failed'))
      .finally(() => {
        inHand.delete(entity)
        running.delete(work)
      })
    running.add(work)
  }
  const ended = async () => {
    while (running.size > 0) await Promise.allSettled(running)
  }
  return { begin, ended, inHand: () => inHand.size }
}

/** Orders are numbered, so sending one again is harmless; hosts answer with what they did. Returns how many were sent. */
const resendOver =
  ({ clock, reads, publish }: Kernel) =>
  async (before: number): Promise<number> => {
    const waiting = await reads.ordersBefore(before, ORDERS_MAX)
    if (waiting.length === 0) return 0
    const slots = waiting.map(({ slot }) => slot)
    await reads.markOrdersSent(slots, clock.now())
    await publish(waiting.map(({ body }) => orderMessage(body as Order, clock.now())))
    return waiting.length
  }

export const sweeperOver = (kernel: Kernel, liveness: Liveness): Sweeper => {
  const { clock, reads, region, options, log } = kernel
  const attending = attendant(kernel)
  const resend = resendOver(kernel)
  let [stopped, rounds] = [false, 0]
  let cancel = () => {}

  const nudge = (entity: string) => {
    if (!stopped) attending.begin(entity)
  }
  const round = async () => {
    // those in hand are due as well: they must not hide the others
    const due = await reads.dueBefore(clock.now(), DUE_MAX + attending.inHand())
    for (const { entity } of due) nudge(entity)
    await resend(clock.now() - options.resendMs)
    if (rounds++ % SLOW_ROUNDS !== 0) return
    region.passivate()
    await liveness.sweep()
  }
  const loop = async () => {
    await round().catch((error: unknown) => log.warn({ error: String(error) }, 'sweep.round'))
    if (!stopped) cancel = clock.after(options.sweepEveryMs, () => void loop())
  }
  /** What was sent before this process started may have been lost with the last one: all of it, portion by portion. */
  const resendAll = async () => {
    const started = clock.now() - 1
    for (let portion = 0; portion < PORTIONS_MAX; portion++) if ((await resend(started)) < ORDERS_MAX) return
  }
  return {
    nudge,
    round,
    idle: attending.ended,
    start: async () => {
      await resendAll().catch((error: unknown) => log.warn({ error: String(error) }, 'sweep.resend'))
      void loop()
    },
    stop: async () => {
      stopped = true
      cancel()
      await attending.ended()
    },
  }
}
