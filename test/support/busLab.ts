/** Messages for tests of the bus on a real broker: numbered by key, with a check for missing or reordered ones. */
import { kafkaBus } from '../../src/bus/kafka/bus.ts'
import type { KafkaBusOptions } from '../../src/bus/kafka/bus.ts'
import type { KafkaOptions } from '../../src/bus/kafka/options.ts'
import type { Bus, ConsumeOptions, Delivered } from '../../src/bus/port.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { memoryLog } from './lab.ts'

export const TOPIC = 'host.reports.v1'

export const say = (key: string, value: number): BusRecord => ({ topic: TOPIC, key, value: String(value), headers: {} })

export const openBus = (options: KafkaOptions, more: Partial<KafkaBusOptions> = {}) => {
  const log = memoryLog()
  return { log, bus: kafkaBus({ options, clock: systemClock, log, ...more }) }
}

export const listen = async (bus: Bus, group: string, more: Partial<ConsumeOptions> = {}) => {
  const heard: Delivered[] = []
  const take = async (message: Delivered): Promise<void> => void heard.push(message)
  const consumer = await bus.consume({ topic: TOPIC, group, from: 'earliest', take, ...more })
  return { heard, stop: consumer.stop }
}

/** The numbers by key, in order of their first delivery. */
export const firsts = (
  heard: readonly Pick<Delivered, 'key' | 'value'>[],
): Readonly<Record<string, readonly number[]>> => {
  const byKey = Map.groupBy(heard, ({ key }) => key)
  return Object.fromEntries(
    [...byKey].map(([key, each]) => [key, [...new Set(each.map(({ value }) => Number(value)))]]),
  )
}

/** Publishes numbers under each key in sequence; each is retried until it is stored, as the relay does. */
export const talker = (bus: Bus, keys: readonly string[]) => {
  let [on, failures] = [true, 0]
  const told: Record<string, number[]> = Object.fromEntries(keys.map((key) => [key, []]))
  const insist = async (record: BusRecord): Promise<void> => {
    for (let stored = false; !stored;)
      stored = await bus.publish([record]).then(
        () => true,
        () => {
          failures++
          return false
        },
      )
  }
  const talk = async (key: string): Promise<void> => {
    for (let number = 0; on; number++) {
      await insist(say(key, number))
      told[key]!.push(number)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  const ended = Promise.all(keys.map(talk))
  const stop = async () => {
    on = false
    await ended
    return { told, failures }
  }
  return { stop, count: () => Object.values(told).reduce((sum, { length }) => sum + length, 0) }
}
