/** The bus between processes: the in-process one, reached over a wire, repeating, delaying and reordering as the seed says. */
import type { Mangle } from '../../src/bus/cursor.ts'
import { inProcessBus } from '../../src/bus/inProcess.ts'
import type { Bus, Consumer } from '../../src/bus/port.ts'
import type { Random } from './random.ts'
import type { Life, Schedule } from './schedule.ts'

export type Network = {
  /** How unruly it is, from 0 to 1. */
  unrest: number
  readonly life: Life
  readonly seenBy: (life: Life) => Bus
}

export const openNetwork = (schedule: Schedule, random: Random): Network => {
  const server = schedule.life('bus')
  const delayMs = (): number => (random.chance(0.2) ? random.below(5) : 0)
  const mangle: Mangle = (candidates) => {
    const late = random.chance(0.02 + network.unrest * 0.3)
    const again = random.chance(0.1 + network.unrest * 0.3)
    // most repeats follow soon; some come when everything has moved on
    const latest = random.chance(0.6) ? 3000 : 120_000
    return {
      index: random.below(candidates.length),
      ...(late ? { delayMs: random.below(50 + network.unrest * 8000) } : {}),
      ...(again ? { againAfterMs: random.below(latest) } : {}),
    }
  }
  const bus = inProcessBus({ clock: schedule.clockOf(server), mangle })

  const seenBy = (life: Life): Bus => {
    const consumers = new Set<Consumer>()
    const leave = (): void => {
      for (const consumer of consumers) void consumer.stop()
    }
    life.mourners.add(() => schedule.soon(server, leave))
    return {
      publish: (batch) => schedule.across(life, server, delayMs, () => bus.publish(batch)),
      consume: (options) =>
        schedule.across(life, server, delayMs, async () => {
          // a consumer that dies has not taken what it had in hand: that comes again
          const take: typeof options.take = (message) =>
            schedule.across(server, life, delayMs, () => options.take(message))
          const consumer = await bus.consume({ ...options, take })
          consumers.add(consumer)
          if (!life.alive) leave()
          return { stop: () => schedule.across(life, server, delayMs, () => consumer.stop()) }
        }),
      stop: async () => {},
    }
  }
  const network: Network = { unrest: 0, life: server, seenBy }
  return network
}
