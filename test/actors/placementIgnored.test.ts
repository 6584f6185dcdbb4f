/** How many differences of a host are ignored at once, and how many decisions are recorded. */
import { expect, test } from 'vitest'
import { type PlacementEvent, placement } from '../../src/actors/placement/decider.ts'
import { IGNORED_MAX } from '../../src/actors/placement/ignored.ts'
import { specOf } from '../spec.ts'

const AT = 50
const { given } = specOf(placement, AT)
const note = { by: 'operator', reason: 'Nova has it' }
const difference = {
  kind: 'provider',
  provider: 'rp',
  name: 'h1_card',
  consumer: null,
  state: null,
  reason: null,
} as const
const ignored = (uuid: string, until = 900): PlacementEvent => ({
  type: 'DriftIgnored',
  host: 'h1',
  uuid,
  difference,
  until,
  ...note,
})
const ended = (uuid: string): PlacementEvent => ({ type: 'DriftUnignored', uuid, ...note })
const ignore = (uuid: string) =>
  ({ type: 'Ignore', host: 'h1', at: AT, uuid, difference, until: 900, ...note }) as const
/** `u0` and so on: as many as there may be. */
const full = Array.from({ length: IGNORED_MAX }, (_, at) => ignored(`u${at}`))

test('no more than the limit are ignored at once, but each of them can be ignored anew', () => {
  const { when } = given(...full)
  when(ignore('another')).isRefused({ kind: 'conflict' })
  when(ignore('u7')).follows(ignored('u7'))
})
test('one that an operator has ended does not count, and is forgotten for the next one', () => {
  const { state, when } = given(...full, ended('u7'))
  const over: PlacementEvent = { type: 'DriftIgnoringOver', uuid: 'u7' }
  when(ignore('another')).follows(over, ignored('another'))
  const after = [over, ignored('another')].reduce((held, event) => placement.evolve(held, event, AT), state)
  expect(Object.keys(after.ignored ?? {})).toHaveLength(IGNORED_MAX)
  expect(placement.decide(after, ignore('one more'))).toMatchObject({ ok: false })
})
test('of several that are over, the one that has been so for longest is forgotten', () =>
  given(...full, ended('u7'), ignored('u9', AT - 1))
    .when(ignore('another'))
    .follows({ type: 'DriftIgnoringOver', uuid: 'u9' }, ignored('another')))
test('as long as there is room, none is forgotten', () =>
  given(ignored('u1'), ended('u1')).when(ignore('another')).follows(ignored('another')))

test('a difference that is not ignored is not found, and one is ended once', () => {
  const end = (uuid: string) => ({ type: 'Unignore', uuid, ...note }) as const
  given(ignored('u1')).when(end('u2')).isRefused({ kind: 'not_found', resource: 'ignored difference', id: 'u2' })
  given(ignored('u1')).when(end('u1')).follows(ended('u1'))
  given(ignored('u1'), ended('u1')).when(end('u1')).follows()
})
test('each decision is one row, written when it changes and removed when it is forgotten', () => {
  const row = (uuid: string, more: object = {}) => ({
    uuid,
    hostname: 'h1',
    kind: 'provider',
    provider_uuid: 'rp',
    name: 'h1_card',
    consumer_uuid: null,
    state: null,
    difference_reason: null,
    ignored_by: 'operator',
    reason: 'Nova has it',
    until_at: 900,
    ended: null,
    created_at: AT,
    ...more,
  })
  const rows = (...facts: readonly PlacementEvent[]) => {
    const before = given(...facts.slice(0, -1)).state
    return placement.rows(before, placement.evolve(before, facts.at(-1)!, AT)).filter(({ view }) => view !== 'due')
  }
  const put = (uuid: string, more: object = {}) => ({ view: 'ignored_drift', key: uuid, row: row(uuid, more) })
  expect(rows(ignored('u1'), ignored('u2', 800))).toEqual([put('u2', { until_at: 800 })])
  expect(rows(ignored('u1'), ignored('u2'), ended('u1'))).toEqual([put('u1', { ended: { ...note, at: AT } })])
  expect(rows(ignored('u1'), ignored('u2'), { type: 'DriftIgnoringOver', uuid: 'u1' })).toEqual([
    { view: 'ignored_drift', key: 'u1', row: null },
  ])
  expect(rows(ignored('u1'), { type: 'DriftIgnoringOver', uuid: 'u1' })).toEqual([
    { view: 'ignored_drift', key: 'u1', row: null },
  ])
  expect(rows(ignored('u1'), { type: 'TroubleOver' })).toEqual([])
})
