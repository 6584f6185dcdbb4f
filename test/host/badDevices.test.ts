/** Which devices of a driver count as bad, and what of that is kept on the disk (MEASURE-3 to MEASURE-5). */
import { describe, expect, test } from 'vitest'
import type { Card } from '../../src/card.ts'
import type { HostIo } from '../../src/drivers/driver.ts'
import { BadDevices, type Found } from '../../src/host/badDevices.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { memoryLog } from '../support/lab.ts'

const FILE = '/state/d.failing.json'
const [ALARM, FATAL, HOT] = [
  'the tool of its vendor reports an alarm',
  'it has reported fatal PCI errors',
  'it is as hot as its critical temperature, or hotter',
]
const device = (info: string, more: Partial<Found> = {}): Found => ({
  type: 'GPU',
  vendor: '10de',
  stdBoardInfo: '{"product_id":"20b5"}',
  controlPath: { type: 'PCI', info },
  ...more,
})
const KIND = JSON.stringify(['GPU', '10de', '{"product_id":"20b5"}'])

const open = async (text: string | null = null, io = recordedHostIo({}, 'h1')) => {
  if (text !== null) await io.write(FILE, text)
  const log = memoryLog()
  const keeps: string[] = []
  let full = false
  const counting: HostIo = {
    ...io,
    keep: async (path, kept) => {
      if (full) throw new Error('ENOSPC')
      keeps.push(`${path} ${kept}`)
      await io.write(path, kept)
    },
  }
  const bad = new BadDevices({ driver: 'd', io: counting, log })
  await bad.read()
  bad.found([device('a'), device('b')])
  return { bad, io, log, keeps, fills: (now: boolean) => (full = now) }
}
const kept = (devices: object): string => JSON.stringify(devices)

describe('what is kept', () => {
  test('is by device the reason of each quantity and what the device is, written when it has changed', async () => {
    const { bad, keeps } = await open()
    await bad.keep()
    bad.judged('a', { vendor_alarm: 2, pci_fatal_errors: 1, temperature_celsius: 40 })
    bad.judged('b', { vendor_alarm: 0 })
    bad.judged('unknown', { pci_fatal_errors: 1 })
    await bad.keep()
    await bad.keep()
    const a = { because: { pci_fatal_errors: FATAL, vendor_alarm: ALARM }, kind: KIND }
    const unknown = { because: { pci_fatal_errors: FATAL } }
    expect(keeps).toEqual([`${FILE} ${kept({ a, unknown })}`])
  })
  test('is written with the next reading when the disk has refused it', async () => {
    const { bad, keeps, fills, log } = await open()
    bad.judged('a', { vendor_alarm: 2 })
    fills(true)
    await bad.keep()
    expect([keeps, log.said]).toEqual([
      [],
      [
        {
          level: 'warn',
          detail: { driver: 'd', path: FILE, error: 'ENOSPC' },
          message: 'measuring.failingNotKept',
        },
      ],
    ])
    fills(false)
    await bad.keep()
    expect(keeps).toHaveLength(1)
  })
  test('is of the last two thousand devices', async () => {
    const { bad, io } = await open()
    for (let n = 0; n <= 2000; n++) bad.judged(`device ${n}`, { vendor_alarm: 2 })
    await bad.keep()
    const paths = Object.keys(JSON.parse(io.kept()[FILE]!) as object)
    expect([paths.length, paths[0], paths.at(-1)]).toEqual([2000, 'device 1', 'device 2000'])
  })
})

describe('what was kept', () => {
  const BAD = { health: 'bad', reasons: [ALARM] }
  const OK = { health: 'ok', reasons: [] }
  test('counts from the first reading on', async () => {
    const { bad } = await open(kept({ a: { because: { vendor_alarm: ALARM }, kind: KIND } }))
    expect([bad.judged('a', {}), bad.judged('b', {})]).toEqual([BAD, OK])
  })
  test('counts for a device of which nothing is known, and for one of which nothing was', async () => {
    const text = kept({ a: { because: { vendor_alarm: ALARM } }, c: { because: { vendor_alarm: ALARM }, kind: KIND } })
    const { bad } = await open(text)
    expect([bad.judged('a', {}), bad.judged('c', {})]).toEqual([BAD, BAD])
  })
  test.each<[string, Partial<Found>]>([
    ['another type', { type: 'FPGA' }],
    ['another vendor', { vendor: '1002' }],
    ['another board', { stdBoardInfo: null }],
  ])('does not count for a device of %s in the same place, for good (MEASURE-5)', async (_, more) => {
    const { bad } = await open(kept({ a: { because: { vendor_alarm: ALARM }, kind: KIND } }))
    bad.found([device('a', more)])
    expect(bad.judged('a', {})).toEqual(OK)
    bad.found([device('a')])
    expect(bad.judged('a', {})).toEqual(OK)
  })
  describe('of a card that says who it is', () => {
    const cardOf = (mark: string): Card => ({ kind: { pci: '10de:20b5' }, marks: { serial_number: mark } })
    const [ONE, OTHER] = [cardOf('m1'), cardOf('m2')]
    const remembering = async () => {
      const { bad, keeps } = await open()
      bad.found([device('a', { card: ONE }), device('b', { card: OTHER })])
      bad.judged('a', { vendor_alarm: 2 })
      await bad.keep()
      return keeps[0]!.slice(FILE.length + 1)
    }
    test('counts where the card is now, and for no other card that has its place', async () => {
      const { bad } = await open(await remembering())
      bad.found([device('a', { card: OTHER }), device('b', { card: ONE })])
      expect([bad.judged('a', {}), bad.judged('b', {})]).toEqual([OK, BAD])
      bad.found([device('b', { card: OTHER }), device('c', { card: ONE })])
      expect([bad.judged('b', {}), bad.judged('c', {})]).toEqual([OK, BAD])
    })
    test('does not count for another card in its place, also when the card is nowhere', async () => {
      const { bad } = await open(await remembering())
      bad.found([device('a', { card: OTHER })])
      expect(bad.judged('a', {})).toEqual(OK)
    })
    test('stays while the card is silent, is gone or shows its number by another source', async () => {
      const { bad } = await open(await remembering())
      bad.found([device('a', { card: { kind: ONE.kind, marks: {} } })])
      expect(bad.judged('a', {})).toEqual(BAD)
      bad.found([])
      expect(bad.judged('a', {})).toEqual(BAD)
      bad.found([device('a', { card: { kind: ONE.kind, marks: { gpu: 'g' } } })])
      expect(bad.judged('a', {})).toEqual(BAD)
      bad.found([device('c', { card: { kind: ONE.kind, marks: { gpu: 'g' } } })])
      expect(bad.judged('c', {})).toEqual(BAD)
    })
    test('of two cards that changed places and were both bad, each keeps its own reason', async () => {
      const { bad } = await open()
      bad.found([device('a', { card: ONE }), device('b', { card: OTHER })])
      bad.judged('a', { vendor_alarm: 2 })
      bad.judged('b', { pci_fatal_errors: 1 })
      bad.found([device('a', { card: OTHER }), device('b', { card: ONE })])
      expect([bad.judged('a', {}).reasons, bad.judged('b', {}).reasons]).toEqual([[FATAL], [ALARM]])
    })
  })
  test('is not written again as it is', async () => {
    const { bad, keeps } = await open(kept({ a: { because: { vendor_alarm: ALARM }, kind: KIND } }))
    await bad.keep()
    expect(keeps).toEqual([])
  })
  test('says what a device is that turns bad again while it is not found', async () => {
    const { bad } = await open(kept({ c: { because: { vendor_alarm: ALARM }, kind: KIND } }))
    bad.judged('c', { vendor_alarm: 2 })
    bad.found([device('c', { type: 'FPGA' })])
    expect(bad.judged('c', {})).toEqual(OK)
  })
  test('does not count for quantities of another release', async () => {
    const text = kept({ a: { because: { other: 'x' } }, b: { because: { other: 'x', vendor_alarm: ALARM } } })
    const { bad, keeps, log } = await open(text)
    expect([bad.judged('a', {}), bad.judged('b', {}), log.said]).toEqual([OK, BAD, []])
    bad.judged('a', { vendor_alarm: 2 })
    await bad.keep()
    expect(keeps).toEqual([
      `${FILE} ${kept({ b: { because: { vendor_alarm: ALARM } }, a: { because: { vendor_alarm: ALARM }, kind: KIND } })}`,
    ])
  })
  test.each(['', '{', '1', '{"a":1}', '{"a":{}}', '{"a":{"because":{"vendor_alarm":1}}}'])(
    'is nothing where the file is damaged, which is logged: %j',
    async (text) => {
      const { bad, log } = await open(text)
      expect([bad.judged('a', {}), log.said]).toEqual([
        OK,
        [{ level: 'warn', detail: { driver: 'd', path: FILE }, message: 'measuring.failingUnknown' }],
      ])
    },
  )
  test('is read once, and again only when it could not be read', async () => {
    const io = recordedHostIo({}, 'h1')
    await io.write(FILE, kept({ a: { because: { vendor_alarm: ALARM }, kind: KIND } }))
    let [reads, broken] = [0, true]
    const read: HostIo['read'] = (path) => {
      reads++
      return broken ? Promise.reject(new Error('EIO')) : io.read(path)
    }
    const bad = new BadDevices({ driver: 'd', io: { ...io, read }, log: memoryLog() })
    await expect(bad.read()).rejects.toThrow('EIO')
    broken = false
    await bad.read()
    await bad.read()
    expect([reads, bad.judged('a', {})]).toEqual([2, BAD])
  })
})

describe('a device that was bad', () => {
  test('needs three good readings in a row, of each quantity that made it bad (MEASURE-3, MEASURE-4)', async () => {
    const { bad, keeps } = await open()
    const healths = (...readings: Parameters<typeof bad.judged>[1][]) =>
      readings.map((numbers) => bad.judged('a', numbers))
    const WELL = { vendor_alarm: 0, pci_fatal_errors: 0 }
    const [BOTH, OK] = [
      { health: 'bad', reasons: [FATAL, ALARM] },
      { health: 'ok', reasons: [] },
    ]
    expect(healths({ vendor_alarm: 2, pci_fatal_errors: 1 }, WELL, WELL, { vendor_alarm: 0 })).toEqual([
      { health: 'bad', reasons: [FATAL, ALARM, 'the tool of its vendor reports a warning'] },
      BOTH,
      BOTH,
      BOTH,
    ])
    // the count begins anew
    expect(healths(WELL, WELL, WELL, {})).toEqual([BOTH, BOTH, OK, OK])
    await bad.keep()
    expect(keeps).toEqual([])
  })
  test('keeps a reason that is not told any more beside a new one, and forgets one that is', async () => {
    const { bad } = await open()
    bad.judged('a', { vendor_alarm: 2, memory_repair_failed: 1 })
    expect(bad.judged('a', { pci_fatal_errors: 1, memory_repair_failed: 0 })).toEqual({
      health: 'bad',
      reasons: [FATAL, ALARM],
    })
    expect(bad.judged('a', { pci_fatal_errors: 0 })).toEqual({ health: 'bad', reasons: [ALARM, FATAL] })
  })
  test('does not need its passing quantity told (HEALTH-3)', async () => {
    const { bad } = await open()
    const reading = (numbers: Parameters<typeof bad.judged>[1]) => bad.judged('a', numbers)
    expect(reading({ temperature_margin_celsius: 0 })).toEqual({ health: 'bad', reasons: [HOT] })
    expect([reading({}), reading({}), reading({})].map(({ health }) => health)).toEqual(['bad', 'bad', 'ok'])
  })
  test('shows warnings again once it is good', async () => {
    const { bad } = await open()
    bad.judged('a', { pci_fatal_errors: 1 })
    const warned = { pci_fatal_errors: 0, link_reduced: 1 }
    const told = [1, 2, 3].map(() => bad.judged('a', warned))
    const WARNING = { health: 'warning', reasons: ['its PCI link is slower or narrower than it could be'] }
    expect(told).toEqual([{ health: 'bad', reasons: [FATAL] }, { health: 'bad', reasons: [FATAL] }, WARNING])
  })
})
