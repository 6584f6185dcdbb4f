/**
 * Reports with odd names and numbers: what can be recorded is, and the rest is refused with its reason, device by
 * device or as a whole.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { inventoryDigest, readReport, reportRecord } from '../../src/wire/message.ts'
import type { Report } from '../../src/wire/reports.ts'
import { memoryLog } from '../support/lab.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { heartbeatOf, inventoryOf as inventoryReport, resultOf } from '../support/reports.ts'
import { card, inventoryOf, named, part, shown, slot } from './cards.ts'

let world: Awaited<ReturnType<typeof openPlane>>
let log: ReturnType<typeof memoryLog>
beforeEach(async () => {
  log = memoryLog()
  world = await openPlane({ log })
})
afterEach(() => world.plane.stop().then(world.store.close))

/** Names that every object inherits. */
const INHERITED = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'] as const
const at = (info: string, more: Partial<ReportedDevice> = {}): ReportedDevice =>
  card(1, { controlPath: { type: 'PCI', info }, ...more })

describe('a name that every object inherits is a name like any other', () => {
  test.each(INHERITED)('%s as a control path', async (info) => {
    const { devices, rows, shows } = inventoryOf(world)
    await shows(at(info))
    expect(await devices()).toHaveLength(1)
    const recorded = await rows()
    await shows(at(info))
    expect(await rows()).toBe(recorded)
    await shows()
    await shows()
    expect(await devices()).toEqual([])
    const before = await rows()
    await shows(at(info))
    expect(await devices()).toHaveLength(1)
    expect(await rows()).toBeGreaterThan(before)
  })
  test.each(INHERITED)('%s as the name of a deployable is refused, because it is not one of the host', async (name) => {
    const { deployables, shows } = inventoryOf(world)
    await shows(named(1, name), card(2))
    expect((await deployables()).map((row) => row.name)).toEqual(['h1_2'])
  })
  test.each(INHERITED)('%s as the key of an attribute, of a driver and of an operator', async (key) => {
    const { deployables, shows } = inventoryOf(world)
    await shows(
      card(1),
      card(2, {
        deployables: [
          part('h1_x', {
            attributes: [
              { key: 'rc', value: 'FPGA' },
              { key, value: 'driver' },
            ],
            handles: [{ type: 'PCI', info: slot(2) }],
          }),
        ],
      }),
    )
    const [one] = await deployables()
    const made = value(await world.control.attributes.create(NOVA, one!.uuid, key, 'operator'))
    const listed = value(await world.control.attributes.list({ key }, {})).items
    expect(listed.map((row) => row.value).toSorted()).toEqual(['driver', 'operator'])
    expect(JSON.stringify((await deployables())[0]!.attributes)).toContain(`{"${key}":"operator"}`)
    value(await world.control.attributes.remove(NOVA, made.uuid))
  })
})

test('board information and control paths that are nested without end are plain text', async () => {
  const deep = `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`
  const { devices, rows, shows } = inventoryOf(world)
  const odd = at(deep, { stdBoardInfo: deep, vendorBoardInfo: '['.repeat(60_000) })
  await shows(odd, card(2))
  expect(await devices()).toHaveLength(2)
  const recorded = await rows()
  await shows(odd, card(2))
  expect(await rows()).toBe(recorded)
})

describe('a device that no column takes is refused alone', () => {
  const [deployable] = card(1).deployables as [ReportedDevice['deployables'][number]]
  const withPart = (more: Partial<typeof deployable>): Partial<ReportedDevice> => ({
    deployables: [{ ...deployable, ...more }],
  })
  const rc = { key: 'rc', value: 'FPGA' }
  test.each<readonly [string, Partial<ReportedDevice>, string]>([
    ['a vendor', { vendor: 'a\nb' }, 'vendor: it holds a control character (U+000A)'],
    ['a model', { model: 'a\u202eb' }, 'model: it holds an invisible format character (U+202E)'],
    ['a deployable name', withPart({ name: 'a\u0007' }), 'deployable name: it holds a control character (U+0007)'],
    ['a driver name', withPart({ driverName: 'a\u2028b' }), 'driver name: it holds a line or paragraph separator'],
    ['a bitstream', withPart({ bitstreamId: 'a\u0001' }), 'bitstream id: it holds a control character'],
    ['an attribute key', withPart({ attributes: [rc, { key: 'k\t', value: 'v' }] }), 'attribute key: it holds'],
    ['a trait', withPart({ attributes: [rc, { key: 'trait0', value: 'CUSTOM_A\n' }] }), 'attribute trait0: it holds'],
    [
      'attach handle info',
      withPart({ handles: [{ type: 'PCI', info: { ...slot(1), x: '\u200b' } }] }),
      'attach handle info: it holds',
    ],
    ['a NUL', { stdBoardInfo: 'a\0' }, 'text with a NUL or with half a character'],
  ])('%s', async (_, more, reason) => {
    const { devices, shows } = inventoryOf(world)
    await shows(card(1, more), card(2))
    expect(await devices()).toHaveLength(1)
    const refused = log.said.filter(({ message }) => message === 'inventory.refused')
    expect(refused).toEqual([
      expect.objectContaining({
        detail: expect.objectContaining({ host: 'h1', reason: expect.stringContaining(reason) }),
      }),
    ])
    await shows(card(1), card(2))
    expect(await devices()).toHaveLength(2)
  })
  test.each(['a\0', '\uD800'])('a card that is known, at another place with such a name', async (info) => {
    const { devices, shows } = inventoryOf(world)
    const known = { card: { kind: { pci: '1' }, marks: { serial: 'x' } } }
    await shows(card(1, known))
    await shows(at(info, known), card(2))
    expect(await devices()).toHaveLength(2)
  })
  test('text that is kept for people may be of several lines', async () => {
    const { devices, shows } = inventoryOf(world)
    await shows(
      card(1, { stdBoardInfo: 'line\nline\t\u200b', ...withPart({ attributes: [rc, { key: 'k', value: 'a\nb' }] }) }),
    )
    expect(await devices()).toHaveLength(1)
  })
})

describe('a message that breaks a rule as a whole names the field', () => {
  const inventory = inventoryReport('h1', 7)
  const beat = heartbeatOf('h1')
  const result = resultOf('h1', 3)
  const read = (report: object, key = 'h1') => {
    // JSON can say a number beyond all numbers
    const record = reportRecord(inventory, 'id', 0)
    const envelope = { ...JSON.parse(record.value), data: report }
    const text = JSON.stringify(envelope, (_, each: unknown) => (each === Infinity ? '(beyond)' : each))
    return readReport({ ...record, key, value: text.replaceAll('"(beyond)"', '1e999') })
  }
  test('none does as it is', () => {
    for (const report of [inventory, beat, result] satisfies Report[]) expect(read(report)).toMatchObject({ ok: true })
    expect(inventoryDigest(inventory)).toMatch(/^[0-9a-f]{64}$/)
  })
  test.each([
    ['host', { ...inventory, host: 'a\u200bb' }],
    [
      'drivers.0.devices.0.deployables.0.numAccelerators',
      { ...inventory, drivers: [shown(card(1, { deployables: [part('p', { numAccelerators: 3e9 })] }))] },
    ],
    ['host', { ...beat, host: 'a\u0000' }],
    ['host', { ...beat, host: 'h'.repeat(256) }],
    ['number', { ...inventory, number: 1e300 }],
    ['number', { ...inventory, number: 1.5 }],
    ['observedAt', { ...inventory, observedAt: Infinity }],
    ['observedAt', { ...beat, observedAt: -1 }],
    ['version', { ...inventory, version: '1\n2' }],
    ['aliases.0', { ...inventory, aliases: ['a\u2028b'] }],
    ['drivers.0.driver', { ...inventory, drivers: [{ driver: 'a\u001bb', status: 'ok', devices: [] }] }],
    ['number', { ...result, number: 2 ** 31 }],
    ['startedAt', { ...result, startedAt: Infinity }],
    ['finishedAt', { ...result, finishedAt: 1e16 }],
    ['status.ordersInHand', { ...beat, status: { ...beat.status, ordersInHand: -1 } }],
  ])('%s', (field, report) =>
    expect(read(report, (report as { host: string }).host)).toMatchObject({
      ok: false,
      fault: { kind: 'invalid', field: `data.${field}` },
    }),
  )
})
