/** The readings of drivers between two heartbeats: which are taken, and in how many bytes. */
import { describe, expect, test } from 'vitest'
import type { Driver, Measured } from '../../src/drivers/driver.ts'
import { Measuring } from '../../src/host/measuring.ts'
import type { Section } from '../../src/host/sections.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'

const EVERY_MS = 30_000
const LIMIT_MS = 1000
const section = (driver: string, ...paths: readonly string[]): Section => ({
  driver,
  status: 'ok',
  devices: paths.map((info) => ({
    type: 'GPU',
    vendor: 'v',
    model: 'm',
    stdBoardInfo: null,
    vendorBoardInfo: null,
    controlPath: { type: 'PCI', info },
    deployables: [],
  })),
})
type Measure = NonNullable<Driver['measure']>
const measuring = (drivers: Readonly<Record<string, Measure | undefined>>, everyMs = EVERY_MS) => {
  const [clock, log, io] = [handClock(), memoryLog(), recordedHostIo({}, 'h1')]
  const all = Object.entries(drivers).map(([name, measure]) => ({
    name,
    discover: async () => [],
    prepare: async () => undefined,
    release: async () => undefined,
    ...(measure === undefined ? {} : { measure }),
  }))
  const made = new Measuring(all, { host: 'h1', io, clock, log, everyMs, limitMs: LIMIT_MS })
  const note = async (...sections: readonly Section[]) => {
    for (const one of sections) made.note(one)
    await quiet(40)
  }
  return { clock, log, io, made, note, began: clock.now() }
}
const telling =
  (...devices: Measured['devices']): Measure =>
  async () => ({ devices })
const warm = (controlPath: string, degrees = 40) => ({ controlPath, numbers: { temperature_celsius: degrees } })
const OK = { health: 'ok', reasons: [] }

test('a driver is asked for the devices that it has shown, at once and then at intervals', async () => {
  const asked: unknown[] = []
  const { made, note, clock, io, began } = measuring({
    d: async (given, paths, signal) => {
      asked.push([given === io, paths, signal.aborted])
      return { devices: [warm('a', 40 + asked.length)] }
    },
    without: undefined,
  })
  made.start()
  await note({ driver: 'd', status: 'failed', error: 'no' })
  expect([asked, made.latest(), made.take()]).toEqual([[], [], []])
  await note(section('d', 'a', 'b'), section('without', 'c'), section('unknown', 'e'))
  const reading = (at: number, degrees: number) => ({
    driver: 'd',
    at,
    devices: [{ ...warm('a', degrees), ...OK }],
  })
  expect([made.latest(), made.take(), made.take()]).toEqual([[reading(began, 41)], [reading(began, 41)], []])
  // another discovery changes the devices, and does not bring another reading
  await note(section('d', 'c'))
  expect(made.take()).toEqual([])
  await clock.pass(EVERY_MS - 1)
  expect(asked).toHaveLength(1)
  await clock.pass(1)
  expect(made.take()).toEqual([reading(began + EVERY_MS, 42)])
  await clock.pass(EVERY_MS)
  expect(asked).toEqual([
    [true, ['a', 'b'], false],
    [true, ['c'], false],
    [true, ['c'], false],
  ])
})

test('what a heartbeat could not tell is taken again, in its newest form', async () => {
  let degrees = 40
  const { made, note, clock } = measuring({ d: async () => ({ devices: [warm('a', degrees++)] }) })
  made.start()
  await note(section('d', 'a'))
  const taken = made.take()
  made.giveBack(taken)
  expect([made.take(), made.take()]).toEqual([taken, []])
  made.giveBack(taken)
  await clock.pass(EVERY_MS)
  expect(made.take().map(({ devices }) => devices[0]!.numbers)).toEqual([{ temperature_celsius: 41 }])
})

describe('the readings of one heartbeat', () => {
  const BYTES = 256 * 1024
  const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
  const many = (count: number, last = 'x'): Measured['devices'] => [
    ...Array.from({ length: count }, (_, n) => warm(`${n}${'x'.repeat(900)}`)),
    warm(last),
  ]
  const taken = async (first: Measured['devices'], second: Measured['devices']) => {
    const { made, note } = measuring({ a: telling(...first), b: telling(...second) })
    await note(section('a', 'p'), section('b', 'p'))
    const all = made.latest()
    return {
      bytes: all.reduce((sum, one) => sum + sizeOf(one), 0),
      take: () => made.take().map(({ driver }) => driver),
    }
  }
  test('are as many as fit into 256 KiB, and the others are in the next one', async () => {
    const { bytes } = await taken(many(130), many(100, 'y'))
    expect(bytes).toBeLessThan(BYTES)
    const spare = BYTES - bytes
    const fills = (extra: number) => {
      const more = many(100).slice(0, -1)
      const each = warm('z'.repeat(900))
      const size = sizeOf({ ...each, ...OK }) + 1
      const whole = Math.floor((spare + extra) / size)
      const rest = spare + extra - whole * size
      return [...more, warm('y'.repeat(1 + rest)), ...Array.from({ length: whole }, () => each)]
    }
    const [exact, over] = [await taken(many(130), fills(0)), await taken(many(130), fills(1))]
    expect([exact.bytes, over.bytes]).toEqual([BYTES, BYTES + 1])
    expect([exact.take(), exact.take()]).toEqual([['a', 'b'], []])
    expect([over.take(), over.take(), over.take()]).toEqual([['a'], ['b'], []])
  })
  test('are at least one, however long it is', async () => {
    const { take } = await taken(many(400), many(1))
    expect([take(), take(), take()]).toEqual([['a'], ['b'], []])
  })
})

describe('a reading', () => {
  test('is not begun while the one before it has not ended, which is given up after its time', async () => {
    const gate = Promise.withResolvers<Measured>()
    const signals: AbortSignal[] = []
    const { made, note, clock, began } = measuring({
      d: (_io, _paths, signal) => {
        signals.push(signal)
        return gate.promise
      },
    })
    made.start()
    await note(section('d', 'a'))
    await clock.pass(LIMIT_MS)
    expect(made.take()).toEqual([
      { driver: 'd', at: began + LIMIT_MS, complaint: 'did not answer within 1000 ms', devices: [] },
    ])
    expect((signals[0]!.reason as Error).message).toBe('no end within 1000 ms')
    await clock.pass(2 * EVERY_MS)
    expect([signals.length, made.take()]).toEqual([1, []])
    gate.resolve({ devices: [warm('a')] })
    await quiet()
    await clock.pass(EVERY_MS)
    expect([signals.length, made.take()]).toMatchObject([2, [{ devices: [{ controlPath: 'a' }] }]])
  })
  test.each<[unknown, string]>([
    [new Error('no tool'), 'no tool'],
    [new Error(''), 'failed without a reason'],
    [new Error(`${'x'.repeat(500)}y`), 'x'.repeat(500)],
  ])('that fails is told with its reason: case %#', async (thrown, complaint) => {
    const { made, note, began } = measuring({ d: () => Promise.reject(thrown) })
    await note(section('d', 'a'))
    expect(made.take()).toEqual([{ driver: 'd', at: began, complaint, devices: [] }])
  })
  test('of a driver that complains has its devices as well, and the complaint is logged once, as is its end', async () => {
    const complaints = ['half of it', 'half of it', undefined, undefined]
    const { made, note, clock, log } = measuring({
      d: async () => {
        const complaint = complaints.shift()
        return { devices: [warm('a')], ...(complaint === undefined ? {} : { complaint }) }
      },
    })
    made.start()
    await note(section('d', 'a'))
    expect(made.take()).toMatchObject([{ complaint: 'half of it', devices: [{ controlPath: 'a' }] }])
    await clock.pass(3 * EVERY_MS)
    expect(made.take()[0]).not.toHaveProperty('complaint')
    expect(log.said).toEqual([
      { level: 'warn', detail: { host: 'h1', driver: 'd', complaint: 'half of it' }, message: 'measuring.failed' },
      { level: 'info', detail: { host: 'h1', driver: 'd' }, message: 'measuring.well' },
    ])
  })
  test('of up to a thousand devices is told, and of more a complaint', async () => {
    const count = async (devices: number) => {
      const { made, note } = measuring({ d: telling(...Array.from({ length: devices }, () => warm('a'))) })
      await note(section('d', 'a'))
      return made.take()[0]!
    }
    expect((await count(1000)).devices).toHaveLength(1000)
    expect(await count(1001)).toMatchObject({
      devices: [],
      complaint: expect.stringMatching(/^measured what no report may hold: devices: /),
    })
  })
})

test('a reading is told up to 512 KiB, and of a longer one a complaint', async () => {
  const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
  const one = warm('x'.repeat(900))
  const told = async (count: number, last: number) => {
    const { made, note } = measuring({ d: telling(...Array(count).fill(one), warm('y'.repeat(last))) })
    await note(section('d', 'a'))
    return made.take()[0]!
  }
  const [each, spare] = [sizeOf({ ...one, ...OK }) + 1, 512 * 1024 - sizeOf(await told(0, 1))]
  const [count, rest] = [Math.floor(spare / each), spare % each]
  const most = await told(count, 1 + rest)
  expect([sizeOf(most), most.devices.length]).toEqual([524_288, count + 1])
  expect(await told(count, 2 + rest)).toMatchObject({
    devices: [],
    complaint: 'a reading must not be longer than 524288 bytes',
  })
})

test('a host that does not measure makes an empty reading each minute, and asks nobody', async () => {
  let asked = 0
  const { made, note, clock, began } = measuring({ d: async () => (asked++, { devices: [] }) }, 0)
  made.start()
  await note(section('d', 'a'))
  const empty = (at: number) => ({ driver: 'd', at, devices: [] })
  expect(made.take()).toEqual([empty(began)])
  await clock.pass(59_999)
  expect(made.take()).toEqual([])
  await clock.pass(1)
  expect([made.take(), asked]).toEqual([[empty(began + 60_000)], 0])
})

test('after the stop nothing more is measured, and what was begun is not told', async () => {
  const gate = Promise.withResolvers<Measured>()
  let asked = 0
  const { made, note, clock } = measuring({ d: () => (asked++, gate.promise) })
  made.start()
  await note(section('d', 'a'))
  made.close()
  gate.resolve({ devices: [warm('a')] })
  await clock.pass(3 * EVERY_MS)
  expect([asked, made.latest(), made.take()]).toEqual([1, [], []])
})
