import { beforeEach, describe, expect, test } from 'vitest'
import type { Driver } from '../../src/drivers/driver.ts'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { fitting } from '../../src/host/sections.ts'
import { inventoryDigest } from '../../src/wire/message.ts'
import { REPORT_HEADERS } from '../../src/wire/reports.ts'
import { quiet } from '../support/lab.ts'
import type { HostLab } from '../support/hostLab.ts'
import { openHostLab } from '../support/hostLab.ts'

let lab: HostLab
beforeEach(async () => {
  lab = await openHostLab()
})
const named = (name: string, discover: Driver['discover']): Driver => ({ ...lab.driver, name, discover })
const digests = () => lab.heard.flatMap(({ headers }) => headers[REPORT_HEADERS.digest] ?? [])

describe('REPORT-1 REPORT-2 the picture', () => {
  test('is whole, numbered, told at once after the start and every minute', async () => {
    const host = await lab.boot({ options: { aliases: ['node-1.example.org'], version: '9.9.9' } })
    expect(lab.inventories()).toEqual([
      {
        type: 'Inventory',
        host: 'h1',
        bootId: host.bootId,
        bootNumber: expect.any(Number),
        number: 1,
        observedAt: lab.clock.now(),
        version: '9.9.9',
        ledger: 'new',
        aliases: ['node-1.example.org'],
        drivers: [{ driver: 'simulated_driver', status: 'ok', devices: lab.devices }],
      },
    ])
    await lab.clock.pass(59_999)
    expect(lab.inventories()).toHaveLength(1)
    await lab.clock.pass(120_002)
    expect(lab.inventories().map(({ number }) => number)).toEqual([1, 2, 3, 4])
  })
  test('unchanged, it has the same digest, which the receiver computes too', async () => {
    const host = await lab.boot()
    await host.reportNow()
    await quiet()
    lab.driver.control.unplug(1)
    await host.reportNow()
    await quiet()
    const [one, two, three] = digests()
    expect(one).toBe(two)
    expect(three).not.toBe(one)
    expect(lab.inventories().map(inventoryDigest)).toEqual([one, two, three])
  })
  test('without an unplugged device it is complete all the same', async () => {
    lab.driver.control.unplug(0)
    await lab.boot()
    const [section] = lab.inventories()[0]!.drivers
    expect(section).toMatchObject({ status: 'ok', devices: [{}, {}] })
  })
  test('reportNow tells a picture begun after the call; calls meanwhile share one', async () => {
    let [looks, gate] = [0, Promise.withResolvers<void>()]
    const discover: Driver['discover'] = async (io) => {
      looks++
      await gate.promise
      return lab.driver.discover(io)
    }
    const host = await lab.boot({ drivers: [named('slow_driver', discover)] })
    const asked = [host.reportNow(), host.reportNow(), host.reportNow()]
    gate.resolve()
    expect(await Promise.all(asked)).toEqual([true, true, true])
    expect(looks).toBe(2)
    gate = Promise.withResolvers()
  })
})

describe('a driver that fails', () => {
  const errors = () =>
    lab
      .inventories()
      .at(-1)!
      .drivers.map((section) => (section.status === 'failed' ? section.error : 'ok'))
  test('is told as failed with its reason; the others are complete', async () => {
    await lab.boot({ drivers: [named('broken_driver', () => Promise.reject(new Error('sysfs is gone'))), lab.driver] })
    expect(errors()).toEqual(['sysfs is gone', 'ok'])
    await lab.clock.pass(5000)
    expect(lab.heartbeats().at(-1)!.status.drivers).toEqual({ broken_driver: 'failed', simulated_driver: 'ok' })
  })
  test('by throwing what is no error, or at once, or by answering nonsense', async () => {
    const nonsense = [{ ...lab.devices[0]!, type: 'TOASTER' }] as unknown as readonly ReportedDevice[]
    const long = [{ ...lab.devices[0]!, deployables: [{ ...lab.devices[0]!.deployables[0]!, name: 'x'.repeat(1001) }] }]
    await lab.boot({
      drivers: [
        named('a', () => Promise.reject(null)),
        named('b', () => {
          throw new Error('at once')
        }),
        named('c', async () => nonsense),
        named('d', async () => long),
        named('e', async () => undefined as never),
      ],
    })
    expect(errors()).toEqual([
      'null',
      'at once',
      expect.stringContaining('0.type'),
      expect.stringContaining('0.deployables.0.name'),
      expect.stringContaining('no report may hold'),
    ])
  })
  test('by not answering: after its time, and again at once until it does; the others wait no longer than that', async () => {
    const gate = Promise.withResolvers<void>()
    const discover: Driver['discover'] = async (io) => {
      await gate.promise
      return lab.driver.discover(io)
    }
    const host = await lab.boot({ drivers: [named('hung_driver', discover)], options: { discoverMs: 1000 } })
    await lab.clock.pass(500)
    expect(lab.inventories()).toEqual([])
    await lab.clock.pass(501)
    expect(errors()).toEqual(['did not answer within 1000 ms'])
    await host.reportNow()
    await quiet()
    expect(errors()).toEqual(['the discovery before this one has not ended yet'])
    gate.resolve()
    await quiet()
    await host.reportNow()
    await quiet()
    expect(errors()).toEqual(['ok'])
  })
  test('by showing more than a report takes: the biggest section gives way, with the reason', () => {
    const { devices } = lab
    const big = { driver: 'big', status: 'ok', devices: Array.from({ length: 40 }, () => devices[0]!) } as const
    const small = { driver: 'small', status: 'ok', devices } as const
    const fitted = fitting([small, big], 10_000)
    expect(fitted).toMatchObject([
      { driver: 'small', status: 'ok' },
      { driver: 'big', status: 'failed', error: expect.stringContaining('does not fit') },
    ])
    expect(fitting([small, big], 1).every(({ status }) => status === 'failed')).toBe(true)
    expect(fitting([small, big], 1e6)).toEqual([small, big])
  })
})

describe('REPORT-3 a bus that takes nothing', () => {
  test('gets a newer picture soon, and no heap of heartbeats', async () => {
    let away = true
    let heartbeats = 0
    const publish: typeof lab.bus.publish = async (batch) => {
      if (away && batch[0]!.headers['report-kind'] === 'Heartbeat') {
        heartbeats++
        await new Promise<never>(() => {})
      }
      if (away) throw new Error('no broker')
      await lab.bus.publish(batch)
    }
    const host = await lab.boot({ bus: { consume: lab.bus.consume, publish } })
    expect(await host.reportNow()).toBe(false)
    await lab.clock.pass(60_000)
    expect([lab.inventories(), heartbeats]).toEqual([[], 1])
    away = false
    await lab.clock.pass(5001)
    expect(lab.inventories()).toHaveLength(1)
  })
})

test('heartbeats come apart from pictures, every few seconds, from the start', async () => {
  const gate = Promise.withResolvers<never>()
  await lab.boot({ drivers: [named('slow_driver', () => gate.promise)] })
  await lab.clock.pass(15_001)
  expect(lab.heartbeats()).toHaveLength(4)
  expect(lab.heartbeats()[0]).toMatchObject({
    host: 'h1',
    status: { drivers: { slow_driver: 'starting' }, ordersInHand: 0, resultsWaiting: 0 },
  })
})

test('orders wait for the first look at their driver, not at others', async () => {
  const gate = Promise.withResolvers<void>()
  const slow = named('slow_driver', async () => {
    await gate.promise
    return []
  })
  await lab.boot({ drivers: [slow, lab.driver] })
  await lab.send(lab.order('PrepareSlot', 1, { driver: 'slow_driver' }), lab.order('PrepareSlot', 1, { device: 1 }))
  expect(lab.results().map(({ slot }) => slot)).toEqual([lab.order('PrepareSlot', 1, { device: 1 }).slot])
  gate.resolve()
  await quiet()
  expect(lab.results()).toHaveLength(2)
})

describe('a driver that makes again what a restart of the machine undid', () => {
  const restoring = (calls: string[], fails = 0) => {
    let left = fails
    return {
      ...named('making_driver', async () => {
        calls.push('discover')
        return []
      }),
      restore: async () => {
        calls.push('restore')
        if (left-- > 0) throw new Error('not yet')
        return true
      },
    }
  }
  test('does so once, before it is looked at and before any order', async () => {
    const calls: string[] = []
    const host = await lab.boot({ drivers: [restoring(calls)] })
    await host.reportNow()
    expect(calls).toEqual(['restore', 'discover', 'discover'])
  })
  test('and again when it could not, with the reason in the report until then', async () => {
    const calls: string[] = []
    const host = await lab.boot({ drivers: [restoring(calls, 1)] })
    expect(lab.inventories()[0]!.drivers).toEqual([{ driver: 'making_driver', status: 'failed', error: 'not yet' }])
    await host.reportNow()
    expect(calls).toEqual(['restore', 'restore', 'discover'])
  })
})
