/**
 * Messages that earlier releases have left on the topics are read for ever; and what a later one adds to a message
 * stops nobody.
 */
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { journalOf, messageOf } from '../../src/cli/audit/topics.ts'
import { CATALOGUE, Fact, State } from '../../src/wire/catalogue.ts'
import { type BusRecord, Envelope } from '../../src/wire/envelope.ts'
import {
  type Message,
  inventoryDigest,
  readDeadLetter,
  readOrder,
  readReport,
  sighting,
} from '../../src/wire/message.ts'
import { journalIn } from './fold.ts'
import { golden, inOrder } from './releases.ts'
import { playScenario } from './scenario.ts'
import { missingKinds, playTopics, topicsIn } from './topics.ts'

type Json = Readonly<Record<string, unknown>>
const enveloped = (body: v.GenericSchema) => (record: BusRecord) => {
  const read = v.safeParse(v.object({ ...Envelope.entries, data: body }), JSON.parse(record.value))
  return read.success
    ? { ok: true as const, value: { id: read.output.id, body: read.output.data } }
    : { ok: false as const, fault: v.flatten(read.issues) }
}
/** Who reads a topic reads it so. */
const READERS: Readonly<
  Record<string, (record: BusRecord) => { readonly ok: boolean; readonly value?: Message<unknown> }>
> = {
  [CATALOGUE.hostOrders.topic]: readOrder,
  [CATALOGUE.hostReports.topic]: readReport,
  [CATALOGUE.deadLetters.topic]: readDeadLetter,
}
const readerOf = (topic: string) => READERS[topic] ?? enveloped(topic.includes('.state.') ? State : Fact)
const read = (record: BusRecord) => readerOf(record.topic)(record)
const told = (records: readonly BusRecord[]) => records.filter(({ tombstone }) => !tombstone)
const content = ({ value }: BusRecord) => JSON.parse(value) as { readonly id: string; readonly data: Json }

/** Maps are content as a whole: what is in them has no names that a schema gives. */
const MAPS = new Set(['info', 'headers', 'state', 'event', 'cause', 'numbers', 'kind', 'marks'])
const FUTURE = { since: ['a later release'] }
/** An unknown field in every object; in the drivers of a heartbeat, a map too, there is none. */
const planted = (value: unknown, name = ''): unknown => {
  if (Array.isArray(value)) return value.map((one) => planted(one))
  if (value === null || typeof value !== 'object' || MAPS.has(name)) return value
  const map = name === 'drivers' ? {} : { future: FUTURE }
  return { ...Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, planted(inner, key)])), ...map }
}
const withFuture = (record: BusRecord): BusRecord => ({
  ...record,
  value: JSON.stringify(planted(JSON.parse(record.value))),
  headers: { ...record.headers, future: 'since a later release' },
})
/** What is kept of an unknown field is nobody's business: facts and states are handed on as they came. */
const withoutFuture = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutFuture)
  if (value === null || typeof value !== 'object') return value
  const known = Object.entries(value).filter(([key]) => key !== 'future')
  return Object.fromEntries(known.map(([key, inner]) => [key, withoutFuture(inner)]))
}

/** Inventories of 0.3.0 say that their host checks MACs, which no reader asks any longer. */
const withoutMacs = (data: Json): Json => Object.fromEntries(Object.entries(data).filter(([name]) => name !== 'macs'))
const readsAll = (records: readonly BusRecord[]): void => {
  for (const record of told(records)) {
    const { id, data } = content(record)
    expect(read(record)).toEqual({ ok: true, value: { id, body: withoutMacs(data) } })
  }
}
const readsFuture = (records: readonly BusRecord[]): void => {
  for (const record of told(records)) {
    const later = read(withFuture(record))
    expect([later.ok, withoutFuture(later.value)]).toEqual([true, read(record).value])
  }
}

const WITH_TOPICS = inOrder().flatMap(([release, { topics, journal }]) =>
  topics === undefined ? [] : [[release, { topics, journal }] as const],
)
describe.each(WITH_TOPICS)('the topics of %s', (_, { topics, journal }) => {
  const records = topicsIn(golden(topics))
  const rows = journalIn(golden(journal))

  test('are read whole', () => readsAll(records))
  test('are read with fields that nobody knows yet', () => readsFuture(records))
  test('show what a host saw as it was told, so that an unchanged picture is known as one', () => {
    const pictures = records.flatMap((record) => {
      const seen = sighting(record)
      return seen === null ? [] : [{ seen, report: readReport(record) }]
    })
    expect(pictures.length).toBeGreaterThan(1)
    for (const { seen, report } of pictures)
      expect(report.ok && report.value.body.type === 'Inventory' && inventoryDigest(report.value.body)).toBe(
        seen.digest,
      )
  })
  test('tell of each entity what the journal holds', () => {
    const found = journalOf(records.map((record, offset) => messageOf({ ...record, partition: 0, offset, time: 0 })))
    const of = ({ key, version, events, at }: (typeof rows)[number]) => JSON.stringify({ key, version, events, at })
    const kindOf = ({ key }: { readonly key: string }) => key.split('/')[0]!
    // no topic carries the progress of passes over Placement
    const whole = found.filter((row) => kindOf(row) !== 'placement')
    const kinds = new Set(whole.map(kindOf))
    expect(whole.map(of).toSorted()).toEqual(
      rows
        .filter((row) => kinds.has(kindOf(row)))
        .map(of)
        .toSorted(),
    )
  })
})

describe('what is recorded for a release', () => {
  const played = playScenario().then(playTopics)
  test('holds every kind of message there is, and can be read', async () => {
    expect(missingKinds(await played)).toEqual([])
    readsAll(await played)
    readsFuture(await played)
  })
  test('is missed when it is not there', async () => {
    const silent = (await played).filter(({ value }) => !value.includes('report.Heartbeat'))
    expect(missingKinds(silent)).toEqual(['host.reports.v1 report.Heartbeat'])
  })
  test('a reader that refuses what it does not know would be found', () => {
    const [order] = topicsIn(golden(WITH_TOPICS[0]![1].topics)).filter(({ topic }) => topic === 'host.orders.v1')
    const strict = v.strictObject({ ...Envelope.entries })
    expect(v.safeParse(strict, JSON.parse(order!.value)).success).toBe(true)
    expect(v.safeParse(strict, JSON.parse(withFuture(order!).value)).success).toBe(false)
  })
})
