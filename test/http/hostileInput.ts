/**
 * What a hostile client or host sends: any text and any number at every place that takes one. Seeded, so that it can be
 * repeated.
 */
import fc from 'fast-check'
import { ROUTES } from '../../src/http/routes/all.ts'
import { reportRecord } from '../../src/wire/message.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { card, part, shown } from '../actors/cards.ts'
import { heartbeatOf, inventoryOf, resultOf } from '../support/reports.ts'
import { signerOf } from '../support/keys.ts'

export type Attack = {
  readonly line: string
  readonly init: { readonly method: string; readonly headers: Record<string, string>; readonly body?: string }
}

/** What has broken something before, here or elsewhere. */
const HARD = ['\0', 'a\0b', '\ud800', '\u202e', '\u200b', '__proto__', 'constructor', 'x'.repeat(6000)] as const
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(...HARD),
  fc.constantFrom(
    ...['\r\nx: y', '../..', "' or 1=1 --", '%00', '{}', '🂡'.repeat(300), '1e999', '99999999999999999999', '-1'],
  ),
)
const value = fc.oneof(
  text,
  fc.double(),
  fc.constantFrom(null, true, [], {}, -0, 1.5, -1, 2 ** 31, 2 ** 53, 1e308, Infinity, [[[[]]]], { __proto__: 1 }),
  fc.jsonValue({ maxDepth: 3 }),
)
export { text as hostileText, value as hostileValue }
const uuid = fc.uuid()
const encode = (given: string): string => (given.isWellFormed() ? encodeURIComponent(given) : '%ED%A0%80')

/** JSON text; a number beyond all numbers is written out, as JSON allows. */
export const jsonOf = (given: unknown): string =>
  (
    JSON.stringify(given, (_, each: unknown) =>
      typeof each === 'number' && !Number.isFinite(each) ? '(beyond)' : each,
    ) ?? 'null'
  ).replaceAll('"(beyond)"', '1e999')

/** The members that some body has, each with anything. */
const NAMES = [
  ...['name', 'groups', 'description', 'uuid', 'device_profile_name', 'deployable_id', 'key', 'value', 'attribute'],
  ...['reason', 'traits', 'classes', 'apply', 'op', 'path'],
]
const members = fc.dictionary(fc.oneof(fc.constantFrom(...NAMES), text), value, { maxKeys: 5, noNullPrototype: true })
const operation = fc.record({
  op: fc.oneof(fc.constantFrom('add', 'remove', 'replace'), value),
  path: fc.oneof(fc.constantFrom('/hostname', '/device_rp_uuid', '/instance_uuid', '/project_id', '/program'), value),
  value,
})
const group = fc.dictionary(fc.oneof(fc.constantFrom('resources:FPGA', 'trait:CUSTOM_A', 'accel:x'), text), value, {
  maxKeys: 3,
  noNullPrototype: true,
})
const body = fc.oneof(
  value,
  members,
  fc.record({ name: text, groups: fc.array(group, { maxLength: 2 }), description: value }).map((one) => [one]),
  fc.record({ deployable_id: value, key: text, value }),
  fc.dictionary(fc.oneof(uuid, text), fc.array(operation, { maxLength: 4 }), { maxKeys: 2, noNullPrototype: true }),
  fc.array(operation, { maxLength: 2 }),
  text.map((reason) => ({ reason })),
)

/** A header carries bytes; the interface of requests takes any but these three. */
const headerText = text.map((given) =>
  Array.from(given.slice(0, 7000), (each) => ('\0\r\n'.includes(each) || each > '\u00ff' ? '\u0085' : each))
    .join('')
    .trim(),
)
const headers = fc.dictionary(
  fc.constantFrom(
    ...['X-Project-Id', 'X-User-Id', 'X-Roles', 'X-Service-Roles', 'X-Domain-Id', 'OpenStack-System-Scope', 'Host'],
    ...[
      'OpenStack-API-Version',
      'X-OpenStack-Request-ID',
      'traceparent',
      'Content-Type',
      'Origin',
      'Accept',
      'Forwarded',
    ],
  ),
  fc.oneof(headerText, fc.constantFrom('admin', 'member,reader', 'application/json', 'accelerator latest')),
  { maxKeys: 3, noNullPrototype: true },
)

type Route = (typeof ROUTES)[number]
const query = (row: Route) =>
  fc.array(
    fc.tuple(
      fc.oneof(fc.constantFrom(...Object.keys(row.query ?? {}), 'filters', 'filters.field', 'filters.value'), text),
      fc.oneof(text, uuid, fc.constantFrom('created_at', 'desc', '5')),
    ),
    { maxLength: 3 },
  )
const attackOn = (row: Route): fc.Arbitrary<Attack> =>
  fc
    .record({
      places: fc.array(fc.oneof(text, uuid), { minLength: 2, maxLength: 2 }),
      query: query(row),
      headers,
      body,
    })
    .map((drawn) => {
      let place = 0
      // an empty part would be another path
      const path = row.path.replace(/:\w+/g, () => encode(drawn.places[place++ % 2]!.replaceAll('/', '') || 'x'))
      const asked = drawn.query.map(([name, each]) => `${encode(name)}=${encode(each)}`).join('&')
      const sent = row.method === 'GET' ? {} : { body: jsonOf(drawn.body) }
      return {
        line: `${path}?${asked}`,
        init: { method: row.method, headers: { 'content-type': 'application/json', ...drawn.headers }, ...sent },
      }
    })
/** Each place of each route with each of the hard texts. */
const systematic = (): readonly Attack[] =>
  ROUTES.flatMap((row) => {
    const init = { method: row.method, headers: { 'content-type': 'application/json' } }
    const sent = row.method === 'GET' ? init : { ...init, body: '{"reason":"x"}' }
    const named = row.path.replace(/:\w+/g, 'x')
    return HARD.flatMap((hard) => [
      ...(row.path === named ? [] : [{ line: row.path.replace(/:\w+/g, encode(hard)), init: sent }]),
      ...Object.keys(row.query ?? {}).map((name) => ({ line: `${named}?${name}=${encode(hard)}`, init: sent })),
    ])
  })
export const attacks = (count: number, seed: number): readonly Attack[] => [
  ...systematic(),
  ...fc.sample(fc.constantFrom(...ROUTES).chain(attackOn), { numRuns: count, seed }),
]

/** One place of the document is replaced, counted through. */
export const spoilt = (document: object, place: number, by: unknown): unknown => {
  const copy = structuredClone(document)
  const places: (readonly [Record<string, unknown>, string])[] = []
  const gather = (each: unknown): void => {
    if (typeof each !== 'object' || each === null) return
    for (const key of Object.keys(each)) {
      places.push([each as Record<string, unknown>, key])
      gather((each as Record<string, unknown>)[key])
    }
  }
  gather(copy)
  const [owner, key] = places[place % places.length]!
  owner[key] = by
  return copy
}
const REPORTS = [
  inventoryOf('liar', 1, { drivers: [shown(card(7, { deployables: [part('liar_7')] }))] }),
  heartbeatOf('liar'),
  resultOf('liar', 3),
]
const hostileRecord = fc.record({
  report: fc.constantFrom(...REPORTS),
  place: fc.nat(),
  by: value,
  id: text,
  raw: text,
  way: fc.nat(9),
})
/** Records on the topic of reports: spoilt in one place, with any headers, or no message at all. */
export const badReports = (count: number, seed: number): readonly BusRecord[] =>
  fc.sample(hostileRecord, { numRuns: count, seed }).map(({ report, place, by, id, raw, way }, at): BusRecord => {
    const record = reportRecord(report, `liar/${at}`, 0)
    const key = way === 0 ? raw.toWellFormed().replaceAll('\0', '') || 'x' : record.key
    if (way === 1) return { ...record, value: raw.toWellFormed() }
    const whole = JSON.parse(record.value) as object
    const value = jsonOf(spoilt(way === 2 ? { ...whole, id } : whole, place, by)).toWellFormed()
    const headers =
      way < 5 ? Object.fromEntries(Object.keys(record.headers).map((name) => [name, raw])) : record.headers
    const sent = { ...record, key, value, headers }
    // most are signed, so that they are read
    return at % 4 === 0 ? sent : signerOf('liar').signed(sent)
  })
