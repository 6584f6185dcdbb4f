import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '../../src/wire/canonical.ts'
import * as message from '../../src/wire/message.ts'
import type { Order } from '../../src/wire/orders.ts'
import { REPORT_HEADERS } from '../../src/wire/reports.ts'
import { type Slots, slotsDigest } from '../../src/wire/slots.ts'
import { DEPLOYABLE, heartbeatOf, inventoryOf, resultOf, SLOT } from '../support/reports.ts'

const order: Order = {
  type: 'PrepareSlot',
  host: 'h1',
  slot: SLOT,
  number: 3,
  driver: 'fake_driver',
  deployable: 'h1_d0',
  deployableUuid: DEPLOYABLE,
  deadline: 5000,
  arq: SLOT,
  handle: { type: 'PCI', info: { domain: '0000', bus: '0c', device: '0', function: '0' } },
}
const reports = [inventoryOf('h1', 7), heartbeatOf('h1'), resultOf('h1', 3)]

test('MESSAGE-1 an order and every kind of report are CloudEvents, and come back as they were', () => {
  const sent = message.orderRecord(order, 'id-1', 0, '17')
  expect(message.readOrder(sent)).toEqual({ ok: true, value: { id: 'id-1', body: order } })
  expect(sent.key).toBe('h1')
  expect(JSON.parse(sent.value)).toMatchObject({
    specversion: '1.0',
    type: 'accelerando.order.PrepareSlot',
    time: '1970-01-01T00:00:00.000Z',
    position: '17',
  })
  for (const report of reports) {
    const record = message.reportRecord(report, 'id-2', 0)
    expect(message.readReport(record)).toEqual({ ok: true, value: { id: 'id-2', body: report } })
  }
})

describe('MESSAGE-2 a bad message names the field', () => {
  const record = message.orderRecord(order, 'id-1', 0)
  const envelope = JSON.parse(record.value)
  const { deadline: _, ...undated } = order
  test.each([
    ['{', 'message'],
    ['[]', 'specversion'],
    ['"text"', 'message'],
    [JSON.stringify({ ...envelope, specversion: '2.0' }), 'specversion'],
    [JSON.stringify({ ...envelope, id: '' }), 'id'],
    [JSON.stringify({ ...envelope, data: undefined }), 'data'],
    [JSON.stringify({ ...envelope, data: { ...order, type: 'Explode' } }), 'data.type'],
    [JSON.stringify({ ...envelope, data: undated }), 'data.deadline'],
    [JSON.stringify({ ...envelope, data: { ...order, number: 0 } }), 'data.number'],
    [JSON.stringify({ ...envelope, data: { ...order, handle: { type: 'USB', info: {} } } }), 'data.handle.type'],
    [JSON.stringify({ ...envelope, data: { ...order, host: 'h2' } }), 'data.host'],
    ['x'.repeat(1_000_000), 'message'],
  ])('case %#', (value, field) => {
    expect(message.readOrder({ ...record, value })).toMatchObject({ ok: false, fault: { kind: 'invalid', field } })
  })

  test('no text makes it throw', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (value) => void message.readReport({ ...record, value })))
  })
})

describe('headers of an inventory report', () => {
  const record = message.reportRecord(inventoryOf('h1', 7), 'id', 0)
  test('say enough to know it again', () => {
    expect(message.sighting(record)).toEqual({
      host: 'h1',
      boot: inventoryOf('h1', 7).bootId,
      number: 7,
      observedAt: 1007,
      digest: message.inventoryDigest(inventoryOf('h1', 1)),
      slots: null,
    })
  })
  test('SLOTS-1 what is prepared has a digest of its own, and leaves that of the inventory alone', () => {
    const said = { prepared: [{ slot: SLOT, number: 3, state: 'prepared', function: '0000:01:00.0' }] } as const
    const seen = (slots: Slots) => message.sighting(message.reportRecord(inventoryOf('h1', 7, { slots }), 'id', 0))
    expect(seen(said)?.digest).toBe(message.sighting(record)?.digest)
    expect(seen(said)?.slots).toBe(slotsDigest(said))
    expect(seen({ prepared: [] })?.slots).not.toBe(slotsDigest(said))
    // the answer to a question has to be read
    expect(seen({ ...said, answers: 'q1' })).toBe(null)
  })
  test.each(Object.values(REPORT_HEADERS))('without %s they say nothing', (name) => {
    expect(message.sighting({ ...record, headers: { ...record.headers, [name]: '' } })).toBe(null)
  })
  test('other reports have none', () => {
    for (const report of reports.slice(1)) expect(message.sighting(message.reportRecord(report, 'id', 0))).toBe(null)
  })
})

describe('MESSAGE-3 digest', () => {
  const shuffled = (value: unknown): unknown =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .toReversed()
            .map(([key, inner]) => [key, shuffled(inner)]),
        )
      : Array.isArray(value)
        ? value.map(shuffled)
        : value
  const base = inventoryOf('h1', 1)
  test('does not change with number, boot, moment or order of keys', () => {
    const other = shuffled({ ...base, number: 9, observedAt: 5, bootId: SLOT }) as typeof base
    expect(message.inventoryDigest(other)).toBe(message.inventoryDigest(base))
  })
  test('changes with a section, an alias or the version', () => {
    const others = [
      { ...base, version: '0.1.1' },
      { ...base, aliases: ['h1', 'h1.example.org'] },
      { ...base, drivers: [{ driver: 'fake_driver', status: 'failed', error: 'gone' } as const] },
    ]
    expect(new Set([base, ...others].map(message.inventoryDigest)).size).toBe(4)
  })
  test('equal JSON gives equal text, whatever the order of keys', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => canonicalJson(shuffled(value)) === canonicalJson(value)))
    expect(canonicalJson({ b: [{ d: 1, c: undefined }], a: null })).toBe('{"a":null,"b":[{"d":1}]}')
    const awkward = '{"z":{"b":1,"__proto__":{"d":[],"c":1}},"10":1,"9":2,"é":3,"Z":4}'
    expect(canonicalJson(JSON.parse(awkward))).toBe('{"9":2,"10":1,"Z":4,"z":{"__proto__":{"c":1,"d":[]},"b":1},"é":3}')
  })
})

test('a dead letter carries the message, cut to its limit at a whole character', () => {
  const of = { topic: 'host.reports.v1', key: 'h1', value: '✓'.repeat(50_000), headers: { one: '1' } }
  const letter = message.readDeadLetter(message.deadLetterRecord(of, 'it is bad', { id: 'x', time: 0 }))
  expect(letter).toMatchObject({
    ok: true,
    value: { body: { topic: 'host.reports.v1', key: 'h1', reason: 'it is bad', headers: { one: '1' } } },
  })
  if (!letter.ok) return
  expect(letter.value.body.value).toBe('✓'.repeat(Math.floor((64 * 1024) / 3)))
})
