/**
 * What time brings: recorded deadlines, Nova's next try, orders without an answer, silent hosts, idle actors.
 *
 * W1 nothing is kept in timers alone: after a restart the same reads find the same work;
 * W2 every round is bounded, and an entity is worked on once at a time.
 */
import type { Order } from '../wire/orders.ts'
import type { Liveness } from './host/liveness.ts'
import { conclude } from './instance/conclude.ts'
import type { Instance } from './instance/decider.ts'
import { tellNova } from './instance/notifier.ts'
import type { Kernel } from './kernel.ts'
import { idOf } from './memory.ts'
import { orderMessage } from './reactions.ts'

export type Sweeper = {
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Look at this entity now rather than with the next round. */
  readonly nudge: (entity: string) => void
  /** One round; for tests and for whoever drives the clock. */
  readonly round: () => Promise<void>
}

const DUE_MAX = 500
const ORDERS_MAX = 500
/** Silent hosts and idle actors are looked at every so many rounds. */
const SLOW_ROUNDS = 8

export const sweeperOver = (kernel: Kernel, liveness: Liveness): Sweeper => {
  const { clock, reads, region, options, log } = kernel
  const inHand = new Set<string>()
  const running = new Set<Promise<void>>()
  let [stopped, rounds] = [false, 0]
  let cancel = () => {}

  const attend = async (entity: string) => {
    const looked = await region.look(entity)
    if (!looked.ok) return
    const { open } = looked.value.state as Instance
    if (open) await conclude(kernel, idOf(entity))
    await tellNova(kernel, idOf(entity))
  }
  const nudge = (entity: string) => {
    if (stopped || inHand.has(entity)) return
    inHand.add(entity)
    const work = attend(entity)
      .catch((error: unknown) => log.error({ entity, error: String(error) }, 'sweep.failed'))
      .finally(() => {
        inHand.delete(entity)
        running.delete(work)
      })
    running.add(work)
  }
  /** Orders are numbered, so sending one again is harmless; hosts answer with what they did. */
  const resend = async (before: number) => {
    const waiting = await reads.ordersBefore(before, ORDERS_MAX)
    if (waiting.length === 0) return
    await reads.markOrdersSent(
      waiting.map(({ slot }) => slot),
      clock.now(),
    )
    await kernel.publish(waiting.map(({ body }) => orderMessage(body as Order, clock.now())))
  }
  const round = async () => {
    const due = await reads.dueBefore(clock.now(), DUE_MAX)
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
  return {
    nudge,
    round,
    start: async () => {
      // what was sent before this process started may have been lost with the last one
      await resend(clock.now()).catch((error: unknown) => log.warn({ error: String(error) }, 'sweep.resend'))
      void loop()
    },
    stop: async () => {
      stopped = true
      cancel()
      await Promise.allSettled(running)
    },
  }
}
