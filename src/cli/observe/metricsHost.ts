/**
 * The metrics of a host program. Several hosts of one process are shown as one, because host names as labels would
 * create an unbounded number of series.
 */
import type { Driver } from '../../drivers/driver.ts'
import { HEALTHS, QUANTITIES, type Quantity } from '../../vocabulary/health.ts'
import type { Host } from '../../host/host.ts'
import type { OrderEnded } from '../../host/orders.ts'
import { CATALOGUE } from '../../wire/catalogue.ts'
import type { Meter } from './metrics.ts'

type Act = 'prepare' | 'release' | 'program' | 'discover'

const timedBy =
  (meter: Meter, driver: string) =>
  async <Value>(call: Act, work: () => Promise<Value>): Promise<Value> => {
    const began = performance.now()
    const ended = (outcome: string) =>
      meter.observe('host_driver_seconds', { driver, call, outcome }, (performance.now() - began) / 1000)
    try {
      const value = await work()
      ended('done')
      return value
    } catch (error) {
      ended('failed')
      throw error
    }
  }

/** Wraps a driver and measures the duration of its calls; its behaviour does not change. */
export const timedDriver = (driver: Driver, meter: Meter): Driver => {
  const timed = timedBy(meter, driver.name)
  const { program } = driver
  return {
    ...driver,
    discover: (...given) => timed('discover', () => driver.discover(...given)),
    prepare: (...given) => timed('prepare', () => driver.prepare(...given)),
    release: (...given) => timed('release', () => driver.release(...given)),
    ...(program ? { program: (...given) => timed('program', () => program(...given)) } : {}),
  }
}

export const ordersCounted =
  (meter: Meter): OrderEnded =>
  (type, outcome, tookMs) => {
    meter.count('host_orders_total', { type, outcome })
    meter.observe('host_order_seconds', { type }, Math.max(0, tookMs) / 1000)
  }

type Shown = Pick<Host, 'load' | 'measured'>
const readingsOf = (hosts: readonly Shown[]) =>
  Map.groupBy(
    hosts.flatMap((host) => host.measured()),
    ({ driver }) => driver,
  )
const devicesByHealth = (hosts: readonly Shown[]) =>
  [...readingsOf(hosts)].flatMap(([driver, readings]) =>
    HEALTHS.map((health) => {
      const all = readings.flatMap(({ devices }) => devices)
      return [{ driver, health }, all.filter((one) => one.health === health).length] as const
    }),
  )
const highest = (hosts: readonly Shown[]) =>
  [...readingsOf(hosts)].flatMap(([driver, readings]) =>
    (Object.keys(QUANTITIES) as Quantity[]).flatMap((quantity) => {
      const values = readings.flatMap(({ devices }) => devices.flatMap(({ numbers }) => numbers[quantity] ?? []))
      return values.length > 0
        ? [[{ driver, quantity }, values.reduce((one, other) => Math.max(one, other))] as const]
        : []
    }),
  )

export const showHosts = (meter: Meter, hosts: readonly Shown[]): void => {
  // starts at 0, so that the first dead letter is visible as an increase
  meter.count('dead_letters_total', { topic: CATALOGUE.hostOrders.topic }, 0)
  meter.show('host_devices', () => devicesByHealth(hosts))
  meter.show('host_measured_highest', () => highest(hosts))
  const sum = (part: 'ordersInHand' | 'resultsWaiting') => () => hosts.reduce((all, host) => all + host.load()[part], 0)
  meter.show('host_orders_in_hand', sum('ordersInHand'))
  meter.show('host_results_waiting', sum('resultsWaiting'))
}
