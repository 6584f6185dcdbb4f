/** A bus on a scripted broker for one test, with a clock that the test advances. */
import { afterEach, beforeEach } from 'vitest'
import type { KafkaBus, KafkaBusOptions } from '../../src/bus/kafka/bus.ts'
import { kafkaBus } from '../../src/bus/kafka/bus.ts'
import type { KafkaOptions } from '../../src/bus/kafka/options.ts'
import type { Clock } from '../../src/vocabulary/clock.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import type { ScriptedBroker } from './broker/broker.ts'
import { scriptedBroker } from './broker/broker.ts'
import { handClock, memoryLog, quiet, until as untilWithin } from './lab.ts'

export const REPORTS = 'host.reports.v1'
export const ORDERS = 'host.orders.v1'
/** Keys that hash to the partitions 0, 1, 2, 3 of four. */
export const KEYS = ['a', 'd', 'c', 'f'] as const

export const say = (key: string, value: string, topic = REPORTS): BusRecord => ({ topic, key, value, headers: {} })

/** Time-out for a broker that does not answer; long enough for a working one on a busy machine. */
export const SHORT = { connectMs: 500, answerMs: 500 }
export const until = (holds: () => boolean, what = 'it'): Promise<void> => untilWithin(holds, what, 20_000)

export const optionsOf = (broker: ScriptedBroker, more: Partial<KafkaOptions> = {}): KafkaOptions => ({
  brokers: [broker.address],
  prefix: '',
  clientId: 'test',
  tls: null,
  sasl: null,
  ...more,
})

/** Time advances only by `pass`; records the requested waits. */
export const watchedClock = () => {
  const clock = handClock()
  const waits: number[] = []
  const open = new Set<symbol>()
  const after: Clock['after'] = (ms, run) => {
    const wait = Symbol(String(ms))
    waits.push(ms)
    open.add(wait)
    const cancel = clock.after(ms, () => {
      open.delete(wait)
      run()
    })
    return () => {
      open.delete(wait)
      cancel()
    }
  }
  return { ...clock, after, waits, pending: () => open.size }
}

/** For each test a new broker with reports and orders in four partitions, and buses that are stopped with it. */
export const kafkaLab = () => {
  let broker: ScriptedBroker
  const open: KafkaBus[] = []
  const clocks = new Set<ReturnType<typeof watchedClock>>()
  beforeEach(async () => {
    broker = await scriptedBroker()
    for (const topic of [REPORTS, ORDERS]) broker.topics.make(topic, 4)
  })
  afterEach(async () => {
    broker.off()
    let stopped = false
    void Promise.all(open.splice(0).map((bus) => bus.stop())).finally(() => (stopped = true))
    // what a test left in hand is waited for by its own clock
    while (!stopped) {
      await quiet()
      for (const { pass } of clocks) await pass(1000)
    }
    clocks.clear()
    await broker.stop()
  })
  const openBus = (more: Partial<KafkaBusOptions> = {}) => {
    const clock = watchedClock()
    clocks.add(clock)
    const log = memoryLog()
    const bus = kafkaBus({ options: optionsOf(broker), clock, log, ...more })
    open.push(bus)
    return { bus, log, clock }
  }
  return {
    get broker() {
      return broker
    },
    openBus,
  }
}
