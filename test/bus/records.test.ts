/** MESSAGE: each kind of record as it stands on the bus, whole, and how it is read back. */
import { describe, expect, test } from 'vitest'
import { canonicalJson, sha256 } from '../../src/wire/canonical.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { handledRecord } from '../../src/wire/handledLetter.ts'
import * as message from '../../src/wire/message.ts'
import type { Order } from '../../src/wire/orders.ts'
import { slotsDigest } from '../../src/wire/slots.ts'
import { BOOT, DEPLOYABLE, SLOT, heartbeatOf, inventoryOf, resultOf } from '../support/reports.ts'

const order: Order = {
  type: 'ReleaseSlot',
  host: 'h1',
  slot: SLOT,
  number: 3,
  driver: 'fake_driver',
  deployable: 'h1_d0',
  deployableUuid: DEPLOYABLE,
  deadline: 5000,
  handle: { type: 'PCI', info: {} },
}
const TIME = '1970-01-01T00:00:00.007Z'
const said = (subject: string, type: string, source: string, data: unknown, more: object = {}) => ({
  specversion: '1.0',
  id: 'i',
  source,
  type: `accelerando.${type}`,
  subject,
  time: TIME,
  datacontenttype: 'application/json',
  ...more,
  data,
})
const CLOUD_EVENT = { 'content-type': 'application/cloudevents+json' }
const open = ({ value, ...rest }: BusRecord) => ({ ...rest, value: value === '' ? '' : JSON.parse(value) })

describe('a record', () => {
  const topic = 'host.orders.v1'
  test('of an order, with and without position and trace', () => {
    expect(open(message.orderRecord(order, 'i', 7))).toEqual({
      topic,
      key: 'h1',
      headers: CLOUD_EVENT,
      value: said('h1', 'order.ReleaseSlot', '/control', order),
    })
    const traced = { ...order, trace: 't' }
    expect(open(message.orderRecord(traced, 'i', 7, '9'))).toEqual({
      topic,
      key: 'h1',
      headers: { ...CLOUD_EVENT, traceparent: 't' },
      value: said('h1', 'order.ReleaseSlot', '/control', traced, { position: '9', traceparent: 't' }),
    })
  })
  const answer = { type: 'LedgerAnswer', host: 'h1', bootId: BOOT, slots: [], last: true } as const
  const stop = { type: 'Stop', host: 'h1', bootId: BOOT, by: SLOT } as const
  const question = { type: 'TellSlots', host: 'h1', bootId: BOOT, id: 'i' } as const
  test.each([
    ['ledger.answer', message.ledgerAnswerRecord(answer, 'i', 7), answer],
    ['host.stop', message.stopRecord(stop, 'i', 7), stop],
    ['slots.question', message.slotsQuestionRecord(question, 7), question],
  ])('of what else a host is sent: %s', (type, record, data) => {
    expect(open(record)).toEqual({ topic, key: 'h1', headers: CLOUD_EVENT, value: said('h1', type, '/control', data) })
    expect(message.readToHost(record)).toEqual({ ok: true, value: { id: 'i', body: data, sentAt: 7 } })
    expect(message.readOrder(record)).toMatchObject({ ok: false, fault: { kind: 'invalid', field: 'data.type' } })
  })
  const slots = { prepared: [{ slot: SLOT, number: 3, state: 'prepared', function: 'f' }], answers: 'q' } as const
  const known = { 'report-kind': 'Inventory', 'report-host': 'h1', 'report-boot': BOOT, 'report-number': '7' }
  const plain = inventoryOf('h1', 7)
  const seen = { ...known, 'report-observed-at': '1007', 'report-digest': message.inventoryDigest(plain) }
  test.each([
    [plain, seen],
    [inventoryOf('h1', 7, { slots: { prepared: [] } }), { ...seen, 'report-slots': slotsDigest({ prepared: [] }) }],
    [inventoryOf('h1', 7, { slots }), { ...seen, 'report-slots': slotsDigest(slots), 'report-asks': 'slots' }],
    [inventoryOf('h1', 7, { ledger: 'new' }), { ...seen, 'report-asks': 'ledger' }],
    [
      inventoryOf('h1', 7, { ledger: 'new', slots }),
      { ...seen, 'report-slots': slotsDigest(slots), 'report-asks': 'ledger' },
    ],
    [heartbeatOf('h1'), { 'report-kind': 'Heartbeat', 'report-host': 'h1', 'report-boot': BOOT }],
    [resultOf('h1', 3), { 'report-kind': 'OrderResult', 'report-host': 'h1', 'report-boot': BOOT }],
  ])('of a report has the headers by which it is known: case %#', (report, headers) => {
    expect(open(message.reportRecord(report, 'i', 7))).toEqual({
      topic: 'host.reports.v1',
      key: 'h1',
      headers: { ...CLOUD_EVENT, ...headers },
      value: said('h1', `report.${report.type}`, '/hosts/h1', report),
    })
  })
  test('of a result carries its trace, and of no other report', () => {
    const traced = message.reportRecord(resultOf('h1', 3, { trace: 't' }), 'i', 7)
    expect([traced.headers['traceparent'], JSON.parse(traced.value).traceparent]).toEqual(['t', 't'])
    const other = message.reportRecord({ ...heartbeatOf('h1'), trace: 't' } as never, 'i', 7)
    expect([other.headers['traceparent'], JSON.parse(other.value).traceparent]).toEqual([undefined, undefined])
  })
  const meta = { id: 'i', time: 7, position: '9', trace: 't' }
  const marked = { position: '9', traceparent: 't' }
  const headers = { ...CLOUD_EVENT, traceparent: 't' }
  test('of a fact', () => {
    const fact = { entity: 'arq/a', version: 4, event: { type: 'Bound' } }
    expect(open(message.factRecord('arqEvents', 'a', fact, meta))).toEqual({
      topic: 'arq.events.v1',
      key: 'a',
      headers,
      value: said('a', 'fact.Bound', '/control/arq/a', fact, marked),
    })
  })
  test('of a state, and the tombstone of what is gone', () => {
    const body = { entity: 'device/d', version: 4 }
    expect(open(message.stateRecord('deviceState', 'd', body, { a: 1 }, meta))).toEqual({
      topic: 'device.state.v1',
      key: 'd',
      headers,
      value: said('d', 'state.device', '/control/device/d', { ...body, state: { a: 1 } }, marked),
    })
    const gone = { topic: 'device.state.v1', key: 'd', headers, value: '', tombstone: true }
    expect(message.stateRecord('deviceState', 'd', body, null, meta)).toEqual(gone)
  })
  test('of the mark on a dead letter, with and without who has handled it', () => {
    const letter = { topic: 't', key: 'k', reason: 'r' }
    const mark = { ...letter, value: '', headers: {}, retriedAt: TIME }
    const handled = { how: 'dropped', by: 'op', reason: 'x' } as const
    const record = (data: object) => ({
      topic: 'dead-letters.v1',
      key: 'k',
      headers: CLOUD_EVENT,
      value: said('k', 'deadletter', '/control', data),
    })
    const at = { id: 'i', time: 7 }
    expect(open(handledRecord(letter, at))).toEqual(record(mark))
    expect(open(handledRecord(letter, at, handled))).toEqual(record({ ...mark, handled }))
    expect(message.readTimedLetter(handledRecord(letter, at, handled))).toEqual({
      ok: true,
      value: { id: 'i', sentAt: 7, body: { ...mark, handled } },
    })
  })
  test('has at most 300 bytes of its key as the subject, and no half of a character', () => {
    const subjectOf = (key: string) =>
      JSON.parse(
        message.letterRecord({ topic: 't', key, reason: '', value: '', headers: {} }, { id: 'i', time: 7 }).value,
      ).subject
    expect(['a'.repeat(300), 'a'.repeat(301), `${'a'.repeat(299)}é`].map(subjectOf)).toEqual([
      'a'.repeat(300),
      'a'.repeat(300),
      'a'.repeat(299),
    ])
  })
})

describe('a dead letter', () => {
  const of = { topic: 't', key: 'k', value: 'v', headers: { a: '1' } }
  const letterOf = (more: Partial<BusRecord>, reason = 'r') => {
    const read = message.readDeadLetter(message.deadLetterRecord({ ...of, ...more }, reason, { id: 'i', time: 7 }))
    if (!read.ok) throw new Error(JSON.stringify(read.fault))
    return read.value
  }
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`h${n + 10}`, 'v']))
  test('holds its message whole, and says what was cut of it', () => {
    expect(letterOf({})).toEqual({ id: 'i', body: { ...of, reason: 'r' } })
    const whole = { key: 'k'.repeat(1000), value: 'v'.repeat(65_536), headers: many(32) }
    expect(letterOf(whole).body).toEqual({ topic: 't', ...whole, reason: 'r' })
    expect(letterOf({}, 'r'.repeat(2001)).body).toEqual({ ...of, reason: 'r'.repeat(2000) })
  })
  test.each<[string, Partial<BusRecord>, Partial<BusRecord>]>([
    ['a key', { key: 'k'.repeat(1001) }, { key: 'k'.repeat(1000) }],
    ['a value', { value: 'v'.repeat(65_537) }, { value: 'v'.repeat(65_536) }],
    ['a value that is no text', { value: '\uFFFD'.repeat(30_000) }, { value: '\uFFFD'.repeat(21_845) }],
    ['many headers', { headers: many(33) }, { headers: many(32) }],
    ['a name', { headers: { ['n'.repeat(201)]: '1' } }, { headers: { ['n'.repeat(200)]: '1' } }],
    ['a header', { headers: { n: 'v'.repeat(1001) } }, { headers: { n: 'v'.repeat(1000) } }],
  ])('of which %s is too long is cut', (_, given, kept) => {
    expect(letterOf(given).body).toEqual({ ...of, ...kept, reason: 'r', cut: true })
    expect(letterOf(kept).body).toEqual({ ...of, ...kept, reason: 'r' })
  })
})

describe('what is read', () => {
  const record = message.reportRecord(inventoryOf('h1', 7), 'i', 7)
  const fault = (value: string, key = 'h1') => {
    const read = message.readReport({ ...record, key, value })
    return read.ok ? null : read.fault
  }
  test('may be as long as any bus takes, in bytes', () => {
    expect(message.MESSAGE_MAX_BYTES).toBe(921_600)
    const padded = `${record.value}${' '.repeat(921_600 - record.value.length)}`
    expect(fault(padded)).toBe(null)
    const rule = 'must not be longer than 921600 bytes'
    for (const long of [`${padded} `, `"${'é'.repeat(500_000)}"`])
      expect(fault(long)).toEqual({ kind: 'invalid', field: 'message', rule })
  })
  test('is refused with the field and the rule', () => {
    expect(fault('{')).toEqual({ kind: 'invalid', field: 'message', rule: 'must be JSON' })
    expect(fault(record.value, 'h2')).toEqual({
      kind: 'invalid',
      field: 'data.host',
      rule: 'must be the message key h2',
    })
    expect(fault('5')).toMatchObject({ kind: 'invalid', field: 'message' })
    const parts = JSON.parse(record.value)
    expect(fault(JSON.stringify({ ...parts, data: 5 }))).toMatchObject({ field: 'data' })
    const odd = { ...parts, data: { ...parts.data, drivers: [{ driver: 'd', status: 'odd' }] } }
    expect(fault(JSON.stringify(odd))).toMatchObject({ field: 'data.drivers.0.status' })
  })
  const seen = message.sighting(record)!
  test('of the headers alone is what they say', () => {
    const withHeaders = (more: Readonly<Record<string, string>>, key = 'h1') =>
      message.sighting({ ...record, key, headers: { ...record.headers, ...more } })
    expect(withHeaders({ 'report-slots': 's', 'report-number': '1', 'report-observed-at': '0' })).toEqual({
      ...seen,
      slots: 's',
      number: 1,
      observedAt: 0,
    })
    const max = String(Number.MAX_SAFE_INTEGER)
    expect(withHeaders({ 'report-number': max })).toMatchObject({ number: Number.MAX_SAFE_INTEGER })
    for (const more of [
      { 'report-number': '0' },
      { 'report-number': '-1' },
      { 'report-number': '1.5' },
      { 'report-number': 'x' },
      { 'report-number': '9007199254740992' },
      { 'report-observed-at': 'x' },
      { 'report-observed-at': 'Infinity' },
      { 'report-kind': 'Heartbeat' },
      { 'report-host': 'h2' },
      { 'report-asks': 'slots' },
      { 'report-asks': 'ledger' },
    ])
      expect(withHeaders(more), JSON.stringify(more)).toBe(null)
    expect(withHeaders({}, 'h2')).toBe(null)
    expect(withHeaders({ 'report-asks': '' })).toEqual(seen)
  })
})

describe('a digest', () => {
  test('of an inventory is of its version, its other names, its drivers and its playbooks', () => {
    const { version, aliases, drivers } = inventoryOf('h1', 1)
    expect(message.inventoryDigest({ version, aliases, drivers })).toBe(
      sha256(`{"aliases":["h1"],"drivers":${canonicalJson(drivers)},"version":"0.1.0"}`),
    )
    expect(message.inventoryDigest({ version, aliases, drivers, playbooks: [] })).toBe(
      sha256(`{"aliases":["h1"],"drivers":${canonicalJson(drivers)},"playbooks":[],"version":"0.1.0"}`),
    )
  })
  test('of slots does not change with the question that is answered', () => {
    const prepared = { from: SLOT, prepared: [] }
    expect(slotsDigest({ ...prepared, answers: 'q' })).toBe(slotsDigest(prepared))
    expect(slotsDigest(prepared)).toBe(sha256(`{"from":"${SLOT}","prepared":[]}`))
  })
})
