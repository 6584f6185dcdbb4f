/** Reports and heartbeats of a host in full, and when each of them is made. */
import { describe, expect, test } from 'vitest'
import type { Driver } from '../../src/drivers/driver.ts'
import type { ReportedDevice } from '../../src/hardware.ts'
import { handleKey } from '../../src/host/entry.ts'
import { Inventory, type InventoryOptions } from '../../src/host/inventory.ts'
import { Measuring } from '../../src/host/measuring.ts'
import { type Section, Watch } from '../../src/host/sections.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { MESSAGE_MAX_BYTES, readReport } from '../../src/wire/message.ts'
import type { PlaybookRun } from '../../src/wire/playbooks.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'
import { ledgerEntry } from './ledgerEntry.ts'

const uuid = (n: number): string => `a0000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const BOOT = { bootId: uuid(0), bootNumber: 7 }
const INFO = { bus: 'af', device: '00', domain: '0000', function: '0' }
const DEVICE: ReportedDevice = {
  type: 'GPU',
  vendor: '10de',
  model: 'm',
  stdBoardInfo: null,
  vendorBoardInfo: null,
  controlPath: { type: 'PCI', info: '{}' },
  deployables: [],
}
const entry = (n: number) =>
  ledgerEntry(uuid(n), n, {
    deployableUuid: uuid(9),
    handle: handleKey({ type: 'PCI', info: { ...INFO, function: String(n) } }),
  })
type Given = Partial<Omit<InventoryOptions, 'watches'>> & { readonly drivers?: readonly Partial<Driver>[] }
const lab = ({ drivers = [{}], ...more }: Given = {}) => {
  const [clock, log, io] = [handClock(), memoryLog(), recordedHostIo({}, 'h1')]
  const whole = drivers.map((driver, n): Driver => ({
    name: `d${n}`,
    discover: async () => [DEVICE],
    prepare: async () => undefined,
    release: async () => undefined,
    ...driver,
  }))
  const heard: BusRecord[] = []
  const looked: (readonly Section[])[] = []
  let made = 0
  const inventory = new Inventory({
    host: 'h1',
    boot: BOOT,
    version: '1.2.3',
    aliases: ['node-1'],
    watches: whole.map((driver) => new Watch(driver, { io, clock, limitMs: 1000, heldBack: () => null })),
    measuring: new Measuring(whole, { host: 'h1', io, clock, log, everyMs: 30_000, limitMs: 1000 }),
    bus: { publish: async (records) => void heard.push(...records) },
    clock,
    ids: { uuid: () => uuid(1000 + ++made) } as InventoryOptions['ids'],
    log,
    reportEveryMs: 60_000,
    heartbeatEveryMs: 1e9,
    load: () => ({ ordersInHand: 3, resultsWaiting: 4 }),
    asking: () => false,
    ledger: () => [entry(1), entry(2)],
    placed: () => {},
    looked: (sections) => void looked.push(sections),
    playbooks: () => null,
    divided: (section) => section,
    ...more,
  })
  const reports = () =>
    heard.map((record) => {
      const read = readReport(record)
      if (!read.ok) throw new Error(JSON.stringify(read))
      return { id: read.value.id, ...read.value.body }
    })
  return { inventory, clock, log, heard, looked, reports, began: clock.now(), last: () => reports().at(-1)! }
}
const RUN: PlaybookRun = {
  driver: 'd0',
  playbook: 'setup',
  status: 'failed',
  startedAt: 1,
  finishedAt: 2,
  reason: 'no',
  output: 'o',
}
const shown = (n: number) => ({
  slot: uuid(n),
  number: n,
  state: 'prepared',
  function: `0000:af:00.${n}`,
})

describe('a report', () => {
  test('has all that a host knows: its start, its sections, its slots, what is in use and its playbooks', async () => {
    const used = [
      { type: 'PCI' as const, info: { ...INFO, function: '2' }, by: 'a guest' },
      { type: 'PCI' as const, info: { ...INFO, function: '3' }, by: 'another' },
    ]
    const failing = { discover: () => Promise.reject(new Error('no sysfs')) }
    const it = lab({ drivers: [{ inUse: async () => used }, failing], playbooks: () => [RUN] })
    expect(await it.inventory.report()).toBe(true)
    const sections = [
      { driver: 'd0', status: 'ok', devices: [DEVICE] },
      { driver: 'd1', status: 'failed', error: 'no sysfs' },
    ]
    expect(it.reports()).toEqual([
      {
        id: `${BOOT.bootId}/1`,
        type: 'Inventory',
        host: 'h1',
        ...BOOT,
        number: 1,
        observedAt: it.began,
        version: '1.2.3',
        macs: true,
        aliases: ['node-1'],
        slots: { prepared: [shown(1), shown(2)], inUse: [{ function: '0000:af:00.3', by: 'another' }] },
        playbooks: [RUN],
        drivers: sections,
      },
    ])
    expect(it.looked).toEqual([sections])
    expect(it.log.said).toEqual([
      {
        level: 'warn',
        detail: { host: 'h1', driver: 'd1', status: 'failed', error: 'no sysfs' },
        message: 'inventory.driverFailed',
      },
    ])
  })
  test('of a host that asks for its slots has none, and the question stays', async () => {
    let asking = true
    const it = lab({ asking: () => asking })
    it.inventory.answer({ type: 'TellSlots', host: 'h1', bootId: BOOT.bootId, id: 'q', from: uuid(2) })
    await it.inventory.idle()
    expect(it.last()).toMatchObject({ ledger: 'new', number: 1 })
    expect(['slots', 'playbooks'].filter((part) => part in it.last())).toEqual([])
    asking = false
    await it.inventory.report()
    expect(it.last()).toMatchObject({ number: 2, slots: { from: uuid(2), prepared: [shown(2)], answers: 'q' } })
    expect(it.last()).not.toHaveProperty('ledger')
    expect(it.last()).not.toHaveProperty('slots.inUse')
  })
  test('shows each section as it is divided, and is judged as it was found', async () => {
    const it = lab({ divided: (section) => ({ driver: section.driver, status: 'failed', error: 'divided' }) })
    await it.inventory.report()
    expect(it.last()).toMatchObject({ drivers: [{ driver: 'd0', status: 'failed', error: 'divided' }] })
    expect(it.looked).toEqual([[{ driver: 'd0', status: 'ok', devices: [DEVICE] }]])
  })
  test('without room for its slots does not say them, which is logged, and a question stays', async () => {
    const MOST = MESSAGE_MAX_BYTES - 16 * 1024
    const sizeOf = (devices: readonly ReportedDevice[]) =>
      Buffer.byteLength(JSON.stringify([{ driver: 'd0', status: 'ok', devices }]))
    const filled = (bytes: number): readonly ReportedDevice[] => {
      const whole = Array.from({ length: 13 }, () => ({ ...DEVICE, vendorBoardInfo: 'x'.repeat(65_000) }))
      const left = bytes - sizeOf([...whole, { ...DEVICE, vendorBoardInfo: '' }])
      const parts = [Math.floor(left / 2), left - Math.floor(left / 2)]
      return [
        ...whole,
        { ...DEVICE, stdBoardInfo: 'x'.repeat(parts[0]! - 2), vendorBoardInfo: 'x'.repeat(parts[1]! + 4) },
      ]
    }
    let devices = filled(MOST - 100)
    expect(sizeOf(devices)).toBe(MOST - 100)
    const it = lab({ drivers: [{ discover: async () => devices }] })
    it.inventory.answer({ type: 'TellSlots', host: 'h1', bootId: BOOT.bootId, id: 'q' })
    await it.inventory.idle()
    expect(it.last()).toMatchObject({ drivers: [{ status: 'ok' }] })
    expect(it.last()).not.toHaveProperty('slots')
    const [said] = it.log.said
    expect(said).toMatchObject({ level: 'warn', detail: { host: 'h1' }, message: 'inventory.slotsUnsaid' })
    expect(said!.detail['room']).toBeLessThan(100)
    devices = []
    await it.inventory.report()
    expect(it.last()).toMatchObject({ slots: { prepared: [shown(1), shown(2)], answers: 'q' } })
  })
  test('is made at once when it is asked for, once for all who ask meanwhile, and the timer begins anew', async () => {
    const it = lab()
    it.inventory.start()
    await quiet()
    await it.clock.pass(59_999)
    await Promise.all([it.inventory.report(), it.inventory.report()])
    await it.clock.pass(59_999)
    const inventories = () => it.reports().filter(({ type }) => type === 'Inventory').length
    expect(inventories()).toBe(2)
    await it.clock.pass(1)
    expect(inventories()).toBe(3)
  })
  test.each<[number, number]>([
    [60_000, 5000],
    [3000, 3000],
  ])('that could not be sent is made again: every %i ms after %i ms', async (reportEveryMs, againMs) => {
    let away = true
    const sent: number[] = []
    const it = lab({
      reportEveryMs,
      bus: {
        publish: async () => {
          sent.push(it.clock.now() - it.began)
          if (away) throw new Error('no broker')
        },
      },
    })
    expect(await it.inventory.report()).toBe(false)
    expect(it.log.said).toEqual([
      { level: 'warn', detail: { host: 'h1', number: 1, reason: 'no broker' }, message: 'inventory.unsent' },
    ])
    away = false
    await it.clock.pass(againMs + reportEveryMs)
    expect(sent).toEqual([0, againMs, againMs + reportEveryMs])
  })
  test('that fails altogether does not keep the next one', async () => {
    let fails = true
    const it = lab({
      looked: () => {
        if (fails) throw new Error('a bug')
      },
    })
    await expect(it.inventory.report()).rejects.toThrow('a bug')
    fails = false
    expect(await it.inventory.report()).toBe(true)
  })
})

describe('after the stop', () => {
  test('no report is made', async () => {
    const it = lab()
    it.inventory.start()
    await quiet()
    it.inventory.close()
    expect(await it.inventory.report()).toBe(false)
    await it.clock.pass(1e7)
    expect(it.reports().filter(({ type }) => type === 'Inventory')).toHaveLength(1)
  })
  test('nothing is measured', async () => {
    let asked = 0
    const it = lab({ drivers: [{ measure: async () => (asked++, { devices: [] }) }] })
    it.inventory.start()
    await it.clock.pass(30_000)
    expect(asked).toBe(2)
    it.inventory.close()
    await it.clock.pass(1e6)
    expect(asked).toBe(2)
  })
  test('what is looked at then is not told', async () => {
    const gate = Promise.withResolvers<readonly ReportedDevice[]>()
    const it = lab({ drivers: [{ discover: () => gate.promise }] })
    const report = it.inventory.report()
    await quiet()
    it.inventory.close()
    gate.resolve([])
    expect([await report, it.heard, it.looked]).toEqual([false, [], []])
  })
})

test('one driver is looked at by its name, which counts as its last discovery', async () => {
  const it = lab({ drivers: [{}, { discover: async () => [] }] })
  expect(await it.inventory.look('none')).toBe(null)
  expect(await it.inventory.look('d1')).toEqual({ driver: 'd1', status: 'ok', devices: [] })
  await it.inventory.seen('d1')
  await it.inventory.seen('none')
  let isSeen = false
  void it.inventory.seen('d0').then(() => (isSeen = true))
  await quiet()
  expect([isSeen, it.heard, it.looked]).toEqual([false, [], []])
})

describe('a heartbeat', () => {
  test('has the state of each driver, the load, and what was measured', async () => {
    const measure: Driver['measure'] = async (_io, [path]) => ({
      devices: [{ controlPath: path!, numbers: { power_watts: 5 } }],
    })
    const failing = { discover: () => Promise.reject(new Error('no')) }
    const it = lab({ heartbeatEveryMs: 5000, drivers: [{ measure }, failing] })
    it.inventory.start()
    await it.clock.pass(5000)
    const beats = it.reports().filter(({ type }) => type === 'Heartbeat')
    const beat = (at: number, status: string, other: string) => ({
      id: expect.any(String),
      type: 'Heartbeat',
      host: 'h1',
      ...BOOT,
      observedAt: it.began + at,
      status: { drivers: { d0: status, d1: other }, ordersInHand: 3, resultsWaiting: 4 },
    })
    const devices = [{ controlPath: '{}', health: 'ok', reasons: [], numbers: { power_watts: 5 } }]
    const measured = [{ driver: 'd0', at: it.began, devices }]
    expect(beats).toEqual([beat(0, 'starting', 'starting'), { ...beat(5000, 'ok', 'failed'), measured }])
    expect(it.inventory.measured()).toEqual(measured)
    expect(new Set(beats.map(({ id }) => id)).size).toBe(2)
  })
  test('that could not be sent is logged, and its measurements are in the next one', async () => {
    let away = true
    const sent: BusRecord[] = []
    const measure: Driver['measure'] = async () => ({ devices: [] })
    const it = lab({
      heartbeatEveryMs: 5000,
      drivers: [{ measure }],
      bus: {
        publish: async (records) => {
          if (away && records[0]!.value.includes('Heartbeat')) throw new Error('no broker')
          sent.push(...records)
        },
      },
    })
    it.inventory.start()
    await it.clock.pass(5000)
    away = false
    await it.clock.pass(5000)
    expect(it.log.said).toEqual([
      { level: 'warn', detail: { host: 'h1', reason: 'no broker' }, message: 'heartbeat.unsent' },
      { level: 'warn', detail: { host: 'h1', reason: 'no broker' }, message: 'heartbeat.unsent' },
    ])
    expect(sent.at(-1)!.value).toContain('"measured"')
    it.inventory.close()
    const count = sent.length
    await it.clock.pass(50_000)
    expect(sent).toHaveLength(count)
  })
})
