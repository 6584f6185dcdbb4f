/**
 * Makes records of the bus from orders, reports and facts, and reads them back. Pure: ids and times are handed in.
 *
 * MESSAGE-1 everything that crosses the bus is a CloudEvent in structured JSON, made and read here only;
 * MESSAGE-2 a bad message is a value that names the field, never a throw;
 * MESSAGE-3 the digest of an inventory report depends on the inventory only, not on boot, number, time or order of
 *    keys.
 */
import type { BootId, EntityKey, HostName } from '../vocabulary/identifiers.ts'
import * as v from 'valibot'
import type { Outcome } from '../vocabulary/fault.ts'
import { done, refuse } from '../vocabulary/fault.ts'
import { traceField } from '../vocabulary/trace.ts'
import { canonicalJson, sha256 } from './canonical.ts'
import type { Channel } from './catalogue.ts'
import { CATALOGUE, DeadLetter } from './catalogue.ts'
import type { BusRecord } from './envelope.ts'
import { Envelope } from './envelope.ts'
import { type LedgerAnswer, Order, type SlotsQuestion, type StopOrder, ToHost } from './orders.ts'
import type { InventoryReport } from './reports.ts'
import { ASKS_HEADER, Report, REPORT_HEADERS, SLOTS_HEADER } from './reports.ts'
import { slotsDigest } from './slots.ts'

/** Longer values are refused by every bus: Kafka's own default is a little more. */
export const MESSAGE_MAX_BYTES = 900 * 1024
const DEAD_LETTER_MAX_BYTES = 64 * 1024
const HEADERS_MAX = 32
const SUBJECT_MAX_BYTES = 300

export type MessageMeta = {
  readonly id: string
  /** ms since the epoch. */
  readonly time: number
  /** Journal position of the row that caused it. */
  readonly position?: string
  /** `traceparent` of what caused it. */
  readonly trace?: string
}
/** A record that was read: its content, and the id consumers are idempotent by. */
export type Message<Body> = { readonly id: string; readonly body: Body }
/** `sentAt`: ms since the epoch, by the clock of its sender. */
export type Timed<Body> = Message<Body> & { readonly sentAt: number }
export type FactBody = {
  readonly entity: EntityKey
  readonly version: number
  readonly event: { readonly type: string }
}
export type FactChannel = Extract<Channel, `${string}Events`>
export type StateChannel = Extract<Channel, `${string}State`>

const CLOUD_EVENT = { 'content-type': 'application/cloudevents+json' }

/** What a record is made of. */
export type Letter = MessageMeta & {
  readonly channel: Channel
  readonly key: string
  readonly source: string
  readonly type: string
  readonly data: unknown
}
export const record = (letter: Letter, headers: Readonly<Record<string, string>> = {}): BusRecord => {
  const traceparent = letter.trace === undefined ? {} : { traceparent: letter.trace }
  const envelope: Envelope = {
    specversion: '1.0',
    id: letter.id,
    source: letter.source,
    type: `accelerando.${letter.type}`,
    // keys of foreign messages may be longer than a subject
    subject: cut(letter.key, SUBJECT_MAX_BYTES),
    time: new Date(letter.time).toISOString(),
    datacontenttype: 'application/json',
    ...(letter.position === undefined ? {} : { position: letter.position }),
    ...traceparent,
    data: letter.data,
  }
  const { topic } = CATALOGUE[letter.channel]
  return {
    topic,
    key: letter.key,
    value: JSON.stringify(envelope),
    headers: { ...CLOUD_EVENT, ...traceparent, ...headers },
  }
}

/** `id` should follow from the order (its slot and number), so that a repeat is recognised. */
export const orderLetter = (order: Order, id: string, time: number, position?: string): Letter => ({
  channel: 'hostOrders',
  key: order.host,
  source: '/control',
  type: `order.${order.type}`,
  data: order,
  id,
  time,
  ...traceField(order.trace),
  ...(position === undefined ? {} : { position }),
})
export const orderRecord = (...given: Parameters<typeof orderLetter>): BusRecord => record(orderLetter(...given))

export const ledgerAnswerRecord = (answer: LedgerAnswer, id: string, time: number): BusRecord =>
  record({ channel: 'hostOrders', key: answer.host, source: '/control', type: 'ledger.answer', data: answer, id, time })

export const stopRecord = (stop: StopOrder, id: string, time: number): BusRecord =>
  record({ channel: 'hostOrders', key: stop.host, source: '/control', type: 'host.stop', data: stop, id, time })

export const slotsQuestionRecord = (question: SlotsQuestion, time: number): BusRecord =>
  record({
    channel: 'hostOrders',
    key: question.host,
    source: '/control',
    type: 'slots.question',
    data: question,
    id: question.id,
    time,
  })

export const inventoryDigest = ({
  version,
  aliases,
  drivers,
  playbooks,
}: Pick<InventoryReport, 'version' | 'aliases' | 'drivers' | 'playbooks'>): string =>
  sha256(canonicalJson({ version, aliases, drivers, ...(playbooks === undefined ? {} : { playbooks }) }))

const reportHeaders = (report: Report): Record<string, string> => {
  const known = {
    [REPORT_HEADERS.kind]: report.type,
    [REPORT_HEADERS.host]: report.host,
    [REPORT_HEADERS.boot]: report.bootId,
  }
  if (report.type !== 'Inventory') return known
  return {
    ...known,
    [REPORT_HEADERS.number]: String(report.number),
    [REPORT_HEADERS.observedAt]: String(report.observedAt),
    [REPORT_HEADERS.digest]: inventoryDigest(report),
    ...(report.slots === undefined ? {} : { [SLOTS_HEADER]: slotsDigest(report.slots) }),
    ...(report.slots?.answers === undefined ? {} : { [ASKS_HEADER]: 'slots' }),
    ...(report.ledger === undefined ? {} : { [ASKS_HEADER]: 'ledger' }),
  }
}

export const reportRecord = (report: Report, id: string, time: number): BusRecord => {
  const { host, type } = report
  const letter = {
    channel: 'hostReports',
    key: host,
    source: `/hosts/${host}`,
    type: `report.${type}`,
    data: report,
    ...(type === 'OrderResult' ? traceField(report.trace) : {}),
  } as const
  return record({ ...letter, id, time }, reportHeaders(report))
}

export const factLetter = (channel: FactChannel, key: string, fact: FactBody, meta: MessageMeta): Letter => ({
  channel,
  key,
  source: `/control/${fact.entity}`,
  type: `fact.${fact.event.type}`,
  data: fact,
  ...meta,
})
export const factRecord = (...given: Parameters<typeof factLetter>): BusRecord => record(factLetter(...given))

/** The latest state of an entity; null: it is gone, and a compacted topic forgets it. */
export const stateRecord = (
  channel: StateChannel,
  key: string,
  body: Readonly<{ entity: EntityKey; version: number }>,
  state: object | null,
  meta: MessageMeta,
): BusRecord => {
  const said = record({
    channel,
    key,
    source: `/control/${body.entity}`,
    type: `state.${channel.slice(0, -'State'.length)}`,
    data: { ...body, state },
    ...meta,
  })
  return state === null ? { ...said, value: '', tombstone: true } : said
}

/** The first `max` bytes of a text, never half a character. */
const cut = (text: string, max: number): string =>
  Buffer.byteLength(text) <= max
    ? text
    : Buffer.from(text)
        .subarray(0, max)
        .toString('utf8')
        .replace(/\uFFFD$/, '')

export const letterRecord = (letter: DeadLetter, meta: MessageMeta): BusRecord =>
  record({
    channel: 'deadLetters',
    key: letter.key,
    source: '/control',
    type: 'deadletter',
    data: letter,
    ...meta,
  })

export const deadLetterRecord = (of: BusRecord, reason: string, meta: MessageMeta): BusRecord => {
  const headers = Object.entries(of.headers).slice(0, HEADERS_MAX)
  const kept = {
    topic: of.topic,
    key: cut(of.key, 1000),
    value: cut(of.value, DEAD_LETTER_MAX_BYTES),
    headers: Object.fromEntries(headers.map(([name, value]) => [cut(name, 200), cut(value, 1000)])),
  }
  const { topic, key, value } = of
  const whole = canonicalJson(kept) === canonicalJson({ topic, key, value, headers: of.headers })
  return letterRecord({ ...kept, reason: cut(reason, 2000), ...(whole ? {} : { cut: true as const }) }, meta)
}

/** The headers of an inventory report; null when the record is something else or a header is missing. */
export type Sighting = {
  readonly host: HostName
  readonly boot: BootId
  readonly number: number
  readonly digest: string
  /** Null: the host does not say what is prepared on it. */
  readonly slots: string | null
  readonly observedAt: number
}
export const sighting = ({ key, headers }: BusRecord): Sighting | null => {
  const [host, boot, digest] = [
    headers[REPORT_HEADERS.host],
    headers[REPORT_HEADERS.boot],
    headers[REPORT_HEADERS.digest],
  ]
  const [number, observedAt] = [
    Number(headers[REPORT_HEADERS.number]),
    Number(headers[REPORT_HEADERS.observedAt] || 'none'),
  ]
  const whole =
    headers[REPORT_HEADERS.kind] === 'Inventory' &&
    host === key &&
    Boolean(boot) &&
    Boolean(digest) &&
    !headers[ASKS_HEADER]
  if (!whole || !Number.isSafeInteger(number) || number < 1 || !Number.isFinite(observedAt)) return null
  return { host, boot: boot!, number, digest: digest!, slots: headers[SLOTS_HEADER] || null, observedAt }
}

const bad = (field: string, rule: string): Outcome<never> => refuse({ kind: 'invalid', field, rule })
const parsed = <Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  where: string,
): Outcome<v.InferOutput<Schema>> => {
  const result = v.safeParse(schema, value, { abortEarly: true })
  if (result.success) return done(result.output)
  const [issue] = result.issues
  return bad([where, v.getDotPath(issue)].filter(Boolean).join('.') || 'message', issue.message)
}
const json = (text: string): Outcome<unknown> => {
  try {
    return done(JSON.parse(text))
  } catch {
    return bad('message', 'must be JSON')
  }
}

const read = <Schema extends v.GenericSchema>(
  schema: Schema,
  { value }: BusRecord,
): Outcome<Timed<v.InferOutput<Schema>>> => {
  if (Buffer.byteLength(value) > MESSAGE_MAX_BYTES)
    return bad('message', `must not be longer than ${MESSAGE_MAX_BYTES} bytes`)
  const text = json(value)
  if (!text.ok) return text
  const envelope = parsed(Envelope, text.value, '')
  if (!envelope.ok) return envelope
  const body = parsed(schema, envelope.value.data, 'data')
  const { id, time } = envelope.value
  return body.ok ? done({ id, body: body.value, sentAt: Date.parse(time) }) : body
}

const untimed = <Body>(message: Outcome<Timed<Body>>): Outcome<Message<Body>> =>
  message.ok ? done({ id: message.value.id, body: message.value.body }) : message

/** The key must be the host that the content names: only messages of one key are delivered in order. */
const ofKey = <Body extends { readonly host: string }, Read extends Message<Body>>(
  record: BusRecord,
  message: Outcome<Read>,
): Outcome<Read> =>
  message.ok && message.value.body.host !== record.key
    ? bad('data.host', `must be the message key ${record.key}`)
    : message

export const readOrder = (record: BusRecord): Outcome<Message<Order>> => ofKey(record, untimed(read(Order, record)))
/** An order, or an answer. */
export const readToHost = (record: BusRecord): Outcome<Timed<ToHost>> => ofKey(record, read(ToHost, record))
export const readReport = (record: BusRecord): Outcome<Message<Report>> => ofKey(record, untimed(read(Report, record)))
export const readTimedLetter = (record: BusRecord): Outcome<Timed<DeadLetter>> => read(DeadLetter, record)
export const readDeadLetter = (record: BusRecord): Outcome<Message<DeadLetter>> => untimed(readTimedLetter(record))
