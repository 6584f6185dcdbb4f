/** When a host is compared with Placement next, and which comparisons are recorded. */
import { describe, expect, test } from 'vitest'
import { type Finding, type PlacementRecord, isNothingNew, placement } from '../../src/actors/placement/decider.ts'
import { RECORDED_EVERY_MS, nextPassAt, nextUnrecordedAt } from '../../src/actors/placement/schedule.ts'

const NOW = 1_000_000_000
const AUDIT = 600_000
const PROVIDER = {
  uuid: 'p1',
  name: 'card',
  deployable: 'd1',
  traits: ['CUSTOM_A'],
  state: 'in_sync',
  reason: null,
  reserving: [],
  ours: true,
} as const
const held = (more: Partial<PlacementRecord['providers'][string]> = {}) => ({
  p1: { ...PROVIDER, since: NOW - 1, ...more },
})
const recordOf = (more: Partial<PlacementRecord> = {}): PlacementRecord => ({
  ...placement.initial,
  host: 'h1',
  root: 'r1',
  passes: 3,
  endedAt: NOW - 1000,
  providers: held(),
  ...more,
})
const next = (more: Partial<PlacementRecord>, auditEveryMs = AUDIT) =>
  nextUnrecordedAt(recordOf(more), { now: NOW, auditEveryMs })
const after = (ms: number | null) => (ms === null ? null : ms - NOW)

describe('the next comparison after one that found nothing new', () => {
  test('comes after about the period, for each host at another moment', () => {
    const found = ['h1', 'h2', 'h3'].map((host) => after(next({ host }))!)
    expect(new Set(found).size).toBe(3)
    for (const ms of found) {
      expect(ms).toBeGreaterThanOrEqual(0.9 * AUDIT)
      expect(ms).toBeLessThanOrEqual(1.1 * AUDIT)
    }
  })
  test.each([
    ['a pass is under way', { pass: { number: 4, until: NOW + 1 } }],
    ['a pass has to begin', { asked: true }],
    ['none has ended yet', { endedAt: null }],
    ['the last record is a day old', { endedAt: NOW - RECORDED_EVERY_MS }],
    ['the last record lies ahead: the clock was set back', { endedAt: NOW + 1 }],
  ])('has to be recorded when %s', (_, more) => expect(next(more)).toBe(null))
  test('need not be recorded until the last record is a day old', () =>
    expect(next({ endedAt: NOW - RECORDED_EVERY_MS + 1 })).not.toBe(null))
  test.each([
    [0, 1000],
    [999, 1000],
    [5000, 5000],
    [29_999, 29_999],
    [80_000, 30_000],
    [-70_000, 1000],
  ])('comes after trouble of %d ms in %d ms', (ms, expected) => {
    const trouble = { state: 'unreachable', reason: 'why', since: NOW - ms } as const
    expect(after(next({ trouble }))).toBe(expected)
  })
  test('comes less often while there is no compute node, since Placement is asked each time', () => {
    const trouble = { state: 'waiting_for_compute_node', reason: 'why', since: NOW - 90_000 } as const
    expect(after(next({ trouble }))).toBe(60_000)
  })
  test.each([
    [0, 10_000],
    [20_000, 20_000],
    [900_000, 300_000],
  ])('comes in %d ms of something to be done in %d ms, by what has waited least', (ms, expected) => {
    const providers = {
      ...held({ state: 'pending', since: NOW - ms }),
      p2: { ...held().p1, state: 'pending', since: NOW - 950_000 } as const,
    }
    expect(after(next({ providers }))).toBe(expected)
  })
  test('comes soon while units are withheld, and never later than the period', () => {
    const providers = held({ reserving: ['bound without allocation'] })
    expect(after(next({ providers }))).toBe(30_000)
    expect(after(next({ providers }, 10_000))).toBeLessThanOrEqual(11_000)
    const trouble = { state: 'unreachable', reason: 'why', since: NOW - 50_000 } as const
    expect(after(next({ trouble }, 10_000))).toBeLessThanOrEqual(11_000)
    expect(after(next({ providers: held({ state: 'pending', since: NOW - 50_000 }) }, 10_000))).toBeLessThanOrEqual(
      11_000,
    )
  })
})

describe('the next comparison of a host of which an operator ignores differences', () => {
  const ending = (at: number): Partial<PlacementRecord> => {
    const { uuid: provider, name, state, reason } = PROVIDER
    const difference = { kind: 'provider', provider, name, consumer: null, state, reason } as const
    return { ignored: { u1: { difference, until: at, at: 1, by: 'op', reason: 'known' } } }
  }
  const period = next({})! - NOW
  test.each([
    ['has to be recorded when a term is over', 0, null],
    ['comes when the term ends', 1, 1],
    ['comes after the period when the term ends later', 10 * AUDIT, period],
  ])('%s', (_, endsInMs, expected) => expect(after(next(ending(NOW + endsInMs)))).toBe(expected))
  test('comes after another time for each pass', () => expect(after(next({ passes: 4 }))).not.toBe(period))
})

describe('the next pass over a host', () => {
  type Found = Parameters<typeof nextPassAt>[1]
  const passIn = (more: Partial<PlacementRecord>, found: Partial<Found> = {}, auditEveryMs = AUDIT) =>
    after(nextPassAt(recordOf(more), { trouble: null, wanted: 1, ...found }, { now: NOW, auditEveryMs }))
  const unreachable = { state: 'unreachable', reason: 'r' } as const
  const waiting = { state: 'waiting_for_compute_node', reason: 'r' } as const
  const pending = { providers: held({ state: 'pending' }) }
  const units = { providers: held({ reserving: ['bound without allocation'] }) }
  const period = next({})! - NOW
  test.each<[string, number | null, Partial<PlacementRecord>, Partial<Found>?]>([
    ['comes after the period where nothing is wrong', period, {}],
    ['comes then also where nothing is wanted any more', period, {}, { wanted: 0 }],
    ['comes then also where nothing was made yet', period, { providers: {} }],
    ['is not needed where there is nothing', null, { providers: {} }, { wanted: 0 }],
    ['comes soon after the first failure', 1000, {}, { trouble: unreachable }],
    ['comes later after the fourth', 8000, { failures: 3 }, { trouble: unreachable }],
    ['comes every 30 s at least', 30_000, { failures: 30 }, { trouble: unreachable }],
    ['comes soon where there is no compute node', 1000, {}, { trouble: waiting }],
    ['comes every minute at least there', 60_000, { failures: 30 }, { trouble: waiting }],
    ['comes after 10 s where something is left to do', 10_000, pending],
    ['comes later where it is still left', 20_000, { ...pending, failures: 1 }],
    ['comes every five minutes at least then', 300_000, { ...pending, failures: 30 }],
    ['comes after 30 s where units are withheld', 30_000, units],
  ])('%s', (_, ms, more, found) => expect(passIn(more, found)).toBe(ms))
  test.each<[string, Partial<PlacementRecord>, Partial<Found>?]>([
    ['Placement does not answer', { failures: 9 }, { trouble: unreachable }],
    ['something is left to do', pending],
    ['units are withheld', units],
  ])('comes never later than the period when %s', (_, more, found) => {
    const auditEveryMs = 900
    const shortPeriod = next({}, auditEveryMs)! - NOW
    expect(passIn(more, found, auditEveryMs)).toBe(shortPeriod)
  })
})

describe('what a comparison found is nothing new', () => {
  const same: Finding = { ...PROVIDER, did: [] }
  const record = recordOf({ trouble: { state: 'unreachable', reason: 'why', since: 1 } })
  const trouble = { state: 'unreachable', reason: 'why' } as const
  const isNew = (more: Partial<Parameters<typeof isNothingNew>[1]>, of = record) =>
    !isNothingNew(of, { root: 'r1', findings: [same], trouble, ...more })
  test('when all of it is recorded, or it was not found out', () => {
    expect(isNew({})).toBe(false)
    expect(isNew({ findings: [] })).toBe(false)
    expect(isNew({ root: null })).toBe(false)
    expect(isNew({ trouble: null }, recordOf())).toBe(false)
  })
  test.each<readonly [string, Partial<Parameters<typeof isNothingNew>[1]>]>([
    ['something would be done', { findings: [{ ...same, did: ['traits'] }] }],
    ['a provider is gone', { findings: [{ ...same, gone: true }] }],
    ['a provider is in another state', { findings: [same, { ...same, state: 'pending', reason: 'r' }] }],
    ['a provider has units reserved for another reason', { findings: [{ ...same, reserving: ['host silent'] }] }],
    ['a provider has other traits of ours', { findings: [{ ...same, traits: [] }] }],
    ['a provider was not known', { findings: [{ ...same, uuid: 'p2' }] }],
    ['the compute node is another one', { root: 'r2' }],
    ['the trouble is over', { trouble: null }],
    ['the trouble is another one', { trouble: { state: 'waiting_for_compute_node', reason: 'why' } }],
    ['the trouble has another reason', { trouble: { ...trouble, reason: 'because' } }],
  ])('but not when %s', (_, more) => expect(isNew(more)).toBe(true))
})
