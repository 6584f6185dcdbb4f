/** Messages as operators see them: one line each. */
import { expect, test } from 'vitest'
import type { TopicMessage } from '../../src/audit/evidence.ts'
import { tailLine } from '../../src/cli/operators/tailLine.ts'

const TIME = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const AT = '2026-01-02T03:04:05.678Z'
const message = (body: unknown, more: Partial<TopicMessage> = {}): TopicMessage => ({
  topic: 'arq.events.v1',
  partition: 0,
  offset: 1,
  key: 'k',
  id: '1.0',
  type: 't',
  position: '12.3',
  time: TIME,
  body,
  ...more,
})
const LONG = 'x'.repeat(121)

test.each<readonly [string, TopicMessage, string]>([
  [
    'an event, with the fields that belong together, who caused it, and where it is in the journal',
    message({
      entity: 'arq/a',
      event: { type: 'BindStarted', bond: { hostname: 'h', handle: { uuid: 'u' } }, status: '', unknown: 1 },
      cause: { by: 'nova', requestId: 'req-1' },
    }),
    `${AT}  arq/a  BindStarted handle=u hostname=h  by nova req-1  @12.3`,
  ],
  [
    'a field of the event counts more than one of its bond',
    message({ entity: 'e', event: { type: 'T', bond: { host: 'of the bond' }, host: 'h' } }),
    `${AT}  e  T host=h  @12.3`,
  ],
  [
    'a list, a number, and what has a status',
    message({ entity: 'e', event: { type: 'T', number: 7, arqs: ['a', 'b'], outcome: { status: 'done', uuid: 'u' } } }),
    `${AT}  e  T number=7 arqs=a,b outcome=done  @12.3`,
  ],
  [
    'what has no short form is left out',
    message({ entity: 'e', event: { type: 'T', arqs: [1, 'b'], slot: null, reason: {}, by: true } }),
    `${AT}  e  T  @12.3`,
  ],
  [
    'a text of 120 characters is whole',
    message({ entity: 'e', event: { type: 'T', reason: LONG.slice(1) } }),
    `${AT}  e  T reason=${LONG.slice(1)}  @12.3`,
  ],
  [
    'a longer one is cut',
    message({ entity: 'e', event: { type: 'T', reason: LONG } }),
    `${AT}  e  T reason=${LONG.slice(1)}...  @12.3`,
  ],
  [
    'the state of an ARQ',
    message({ entity: 'e', state: { state: 'Bound', status: 'no', liveness: 'no' } }),
    `${AT}  e  is Bound  @12.3`,
  ],
  [
    'the status of a device',
    message({ entity: 'e', state: { status: 'enabled', liveness: 'no' } }),
    `${AT}  e  is enabled  @12.3`,
  ],
  ['the liveness of a host', message({ entity: 'e', state: { liveness: 'up' } }), `${AT}  e  is up  @12.3`],
  ['a tombstone', message(null, { position: null }), `${AT}  k  is gone`],
  [
    'a dead letter',
    message({ topic: 'host.reports.v1', reason: 'r' }, { topic: 'dead-letters.v1', position: null }),
    `${AT}  k  from host.reports.v1: r`,
  ],
  [
    'an order',
    message({ type: 'PrepareSlot', number: 3, slot: 's', host: 'h' }, { topic: 'host.orders.v1', position: null }),
    `${AT}  k  PrepareSlot number=3 slot=s host=h`,
  ],
  ['a message without a time', message({ type: 'T' }, { time: null, position: null }), 'without a time  k  T'],
  [
    'a cause without a name',
    message({ type: 'T', cause: { requestId: 'req-2' } }, { position: null }),
    `${AT}  k  T  req-2`,
  ],
  [
    'line breaks move nothing',
    message({ type: 'T', reason: 'a\nb' }, { key: 'k\r\nz', position: null }),
    `${AT}  k z  T reason=a b`,
  ],
])('%s', (_, given, line) => {
  expect(tailLine(given, TIME).replaceAll(/\s{2,}/g, '  ')).toBe(line)
})

test('what came to the broker a second after its decision is marked as late', () => {
  const given = message({ type: 'T' }, { position: null })
  expect(tailLine(given, TIME + 999)).toBe(`${AT}  k  T`)
  expect(tailLine(given, TIME + 1000)).toBe(`${AT}  k  T  (1.0 s late)`)
  expect(tailLine(given, null)).toBe(`${AT}  k  T`)
  expect(tailLine({ ...given, time: null }, TIME)).toBe('without a time  k  T')
})

/** Whoever may write to a topic may write anything: `tail` shows it, goes on, and leaves the terminal alone. */
const ODD = { toString: 1, valueOf: 2 }
test.each<readonly [string, TopicMessage, string]>([
  ['a time that is none', message({ type: 'T' }, { time: Number.NaN }), 'without a time  k  T  @12.3'],
  ['a time beyond all dates', message({ type: 'T' }, { time: 1e17 }), 'without a time  k  T  @12.3'],
  ['objects in the place of names', message({ type: ODD }), `${AT}  k  {"toString":1,"valueOf":2}  @12.3`],
  [
    'objects in the place of an event and of its cause',
    message({ entity: ODD, event: { type: ODD }, cause: { by: ODD, requestId: [ODD] } }),
    `${AT}  {"toString":1,"valueOf":2}  {"toString":1,"valueOf":2}  by {"toString":1,"valueOf":2} [{"toString":1,"valueOf":2}]  @12.3`,
  ],
  ['a number in the place of a body', message(5), `${AT}  k  undefined  @12.3`],
  [
    'a dead letter of nothing',
    message({ topic: ODD, reason: '\u001B[31m' }, { topic: 'dead-letters.v1' }),
    `${AT}  k  from {"toString":1,"valueOf":2}:  [31m  @12.3`,
  ],
  [
    'sequences that move the cursor, clear the screen, or turn the text around',
    message({ type: '\u001B[2J\u202Eabc', reason: 'a\r\nb\u2028c\u009Bd' }, { key: '\u0007k' }),
    `${AT}   k   [2J abc reason=a b c d  @12.3`,
  ],
])('shows %s', (_what, given, line) => expect(tailLine(given, null)).toBe(line))
