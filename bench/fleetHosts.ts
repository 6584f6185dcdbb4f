/**
 * Host programs in one process: each as it is started on a machine of its own, with a key, a ledger and simulated
 * devices, but all on one connection to the broker, and with their files in memory.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { kafkaBus } from '../src/bus/kafka/bus.ts'
import type { KafkaOptions } from '../src/bus/kafka/options.ts'
import type { Bus, ConsumeOptions } from '../src/bus/port.ts'
import { systemClock, systemIds } from '../src/vocabulary/clock.ts'
import { realHostIo } from '../src/drivers/hostIo.ts'
import { type SimulatedHost, sizedCloud } from '../src/drivers/simulated/cloud.ts'
import { simulatedDriver } from '../src/drivers/simulated/simulated.ts'
import { memoryDisk } from '../src/host/disk.ts'
import { type Host, startHost } from '../src/host/host.ts'
import { silent } from '../src/vocabulary/log.ts'
import { CATALOGUE } from '../src/wire/catalogue.ts'
import { REPORT_HEADERS } from '../src/wire/reports.ts'
import { deadLetterCounts } from './deadLetters.ts'

export type FleetSize = {
  readonly hosts: number
  readonly devices: number
  readonly handles: number
  readonly everyMs: { readonly report: number; readonly heartbeat: number; readonly measure: number }
}
/** Messages on the bus so far. */
export type Sent = { readonly inventories: number; readonly heartbeats: number; readonly measurements: number }
export type Fleet = {
  readonly sent: () => Sent
  /** Hosts that have been started. */
  readonly started: () => number
  /** Resolves when all have been. */
  readonly allStarted: Promise<void>
  readonly deadLetters: Pick<ReturnType<typeof deadLetterCounts>, 'all' | 'lines'>
  readonly stop: () => Promise<void>
}

/** The bus of all hosts: what they publish is counted, and orders go to the host that they name. */
const sharedBus = async (options: KafkaOptions) => {
  const bus = kafkaBus({ options, clock: systemClock, log: silent })
  const takers = new Map<string, ConsumeOptions['take']>()
  const sent = { inventories: 0, heartbeats: 0, measurements: 0 }
  const { topic } = CATALOGUE.hostOrders
  const take: ConsumeOptions['take'] = async (order, aside) => takers.get(order.key)?.(order, aside)
  await bus.consume({ topic, group: 'fleet', from: 'earliest', window: 64, take })
  const deadLetters = deadLetterCounts()
  await bus.consume({
    topic: CATALOGUE.deadLetters.topic,
    group: 'fleet-dead-letters',
    from: 'earliest',
    take: async (record) => deadLetters.take(record),
  })
  const ofHost = (name: string): Pick<Bus, 'publish' | 'consume'> => ({
    consume: async (asked) => {
      takers.set(name, asked.take)
      return { stop: async () => void takers.delete(name) }
    },
    publish: async (records) => {
      await bus.publish(records)
      for (const { headers, value } of records) {
        if (headers[REPORT_HEADERS.kind] === 'Inventory') sent.inventories++
        if (headers[REPORT_HEADERS.kind] !== 'Heartbeat') continue
        sent.heartbeats++
        if (value.includes('"measured":')) sent.measurements++
      }
    },
  })
  return { ofHost, sent: () => ({ ...sent }), deadLetters, stop: bus.stop }
}

const started = ({ hostname, plan }: SimulatedHost, bus: Pick<Bus, 'publish' | 'consume'>, { everyMs }: FleetSize) =>
  startHost({
    name: hostname,
    stateDir: '/state',
    bus,
    drivers: [simulatedDriver(plan)],
    io: realHostIo({ hostname, stateDir: '/nonexistent', warn: () => {} }),
    disk: memoryDisk(),
    clock: systemClock,
    ids: systemIds,
    log: silent,
    options: {
      version: 'bench',
      reportEveryMs: everyMs.report,
      heartbeatEveryMs: everyMs.heartbeat,
      measureEveryMs: everyMs.measure,
    },
  })

/**
 * Starts them one after the other over `overMs`, so that they neither report at the same moment nor are all new at
 * once.
 */
export const openFleet = async (options: KafkaOptions, size: FleetSize, overMs: number): Promise<Fleet> => {
  const bus = await sharedBus(options)
  const hosts: Host[] = []
  const began = performance.now()
  const startAll = async (): Promise<void> => {
    for (const [at, one] of sizedCloud('fleet', size).entries()) {
      const early = began + (at * overMs) / size.hosts - performance.now()
      if (early > 1) await sleep(early)
      hosts.push(await started(one, bus.ofHost(one.hostname), size))
    }
  }
  return {
    sent: bus.sent,
    started: () => hosts.length,
    allStarted: startAll(),
    deadLetters: bus.deadLetters,
    stop: async () => {
      await Promise.all(hosts.map((host) => host.stop('at once')))
      await bus.stop()
    },
  }
}
