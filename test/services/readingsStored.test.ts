/** Readings of hosts that wait to be stored: how many are kept, how many one statement stores, and which are lost. */
import { describe, expect, test } from 'vitest'
import { type Outcome, done } from '../../src/fault.ts'
import type { HostReading } from '../../src/actors/runtime/sharing.ts'
import { createMeasurements } from '../../src/services/devices/measurements.ts'
import type { Kernel } from '../../src/services/kernel/kernel.ts'
import type { Measurements } from '../../src/wire/measurements.ts'
import { REFUSED_AWAY } from '../support/kernelParts.ts'
import { handClock, memoryLog } from '../support/lab.ts'
import { heartbeatOf } from '../support/reports.ts'

const HELD = { uuid: 'u1', driver: 'd' }
const PATH = '{"address":"0"}'
const bad: Measurements['devices'] = [{ controlPath: PATH, health: 'bad', reasons: ['hot'], numbers: {} }]

/** `known`: whether a host is recorded, and with which devices. */
const opened = (known: Outcome<object> = done({ state: { exists: false } })) => {
  const [clock, log] = [handClock(), memoryLog()]
  const stored: (readonly HostReading[])[] = []
  const lists: string[] = []
  const world = { away: false, listed: done({ items: [], next: null }) as Outcome<object> }
  const noteMeasured = async (readings: readonly HostReading[]) => {
    if (world.away) throw new Error('away')
    stored.push(readings)
  }
  const list = async (view: string, where: object) => (lists.push(`${view} ${JSON.stringify(where)}`), world.listed)
  const kernel = {
    ...{ clock, log, sharing: { noteMeasured }, readers: { list } },
    region: {
      readCached: async (_: unknown, key: string) => {
        if (key === 'host/broken') throw new Error('no such actor')
        return known
      },
    },
  } as unknown as Kernel
  const keeper = createMeasurements(kernel)
  const take = (host: string, ...readings: readonly Partial<Measurements>[]) =>
    keeper.take({
      ...heartbeatOf(host),
      measured: readings.map((one) => ({ driver: 'd', at: 1, devices: [], ...one })),
    })
  const names = () => stored.map((all) => all.map(({ host, reading }) => `${host} ${reading.driver} ${reading.at}`))
  return { clock, log, world, lists, stored, keeper, take, names }
}

describe('readings that wait', () => {
  test('are stored once, of each driver the last one, in words that every store takes', async () => {
    const { keeper, take, stored, names } = opened()
    await take(
      'h1',
      { at: 1 },
      { driver: 'e', complaint: 'no\0' },
      { at: 2, devices: [{ ...bad[0]!, reasons: ['\0'] }] },
    )
    await take('h2', { at: 3 })
    await keeper.note()
    await keeper.note()
    expect(names()).toEqual([['h1 d 2', 'h1 e 1', 'h2 d 3']])
    expect(stored[0]![0]!.reading).toEqual({ driver: 'd', at: 2, devices: [{ ...bad[0]!, reasons: [''] }] })
    expect(stored[0]![1]!.reading).toEqual({ driver: 'e', at: 1, devices: [], complaint: 'no' })
  })
  test('are stored a thousand at once, and twenty thousand wait at most; those go on being replaced', async () => {
    const { keeper, take, names } = opened()
    for (let n = 0; n < 20_001; n++) await take(`h${n}`, {})
    await take('h0', { at: 9 })
    for (let n = 0; n < 22; n++) await keeper.note()
    expect(names().map((all) => all.length)).toEqual(Array.from({ length: 20 }, () => 1000))
    expect([names()[0]![0], names()[19]!.at(-1)]).toEqual(['h0 d 9', 'h19999 d 1'])
  })
  test('are lost when they cannot be stored, which is said', async () => {
    const { keeper, take, world, log, names } = opened()
    await take('h1', {})
    world.away = true
    await keeper.note()
    world.away = false
    await keeper.note()
    expect(names()).toEqual([])
    const detail = { readings: 1, error: 'away' }
    expect(log.said).toEqual([{ level: 'warn', message: 'measured.notStored', detail }])
  })
})

describe('a reading is compared with what is recorded', () => {
  const DEVICES = done({ state: { exists: true, devices: { [PATH]: HELD } } })
  const LISTED = 'devices {"hostname":"h1"}'
  test('again after five minutes, or when another device is bad', async () => {
    const { clock, take, lists } = opened(DEVICES)
    await take('h1', {})
    await take('h1', {})
    expect(lists).toEqual([LISTED])
    await clock.pass(299_999)
    await take('h1', {})
    expect(lists).toHaveLength(1)
    await clock.pass(1)
    await take('h1', {})
    expect(lists).toHaveLength(2)
    await take('h1', { devices: bad })
    expect(lists).toHaveLength(3)
  })
  test('again with the next one when that was not possible', async () => {
    const { take, lists, world } = opened(DEVICES)
    const readable = world.listed
    world.listed = REFUSED_AWAY
    await take('h1', {})
    world.listed = readable
    await take('h1', {})
    await take('h1', {})
    expect(lists).toEqual([LISTED, LISTED])
  })
  test('unless its host is not recorded or cannot be read', async () => {
    for (const known of [done({ state: { exists: false } }), REFUSED_AWAY]) {
      const { take, lists } = opened(known)
      await take('h1', {})
      expect(lists).toEqual([])
    }
  })
  test('also when the comparison of one before it breaks, which is said', async () => {
    const { keeper, take, lists, log, names } = opened(DEVICES)
    await take('broken', {})
    await take('h1', {})
    await keeper.note()
    expect([lists, names()]).toEqual([[LISTED], [['broken d 1', 'h1 d 1']]])
    const detail = { host: 'broken', driver: 'd', error: 'no such actor' }
    expect(log.said).toEqual([{ level: 'warn', message: 'measured.notCompared', detail }])
  })
})
