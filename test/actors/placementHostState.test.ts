/** The state of a host in Placement is the worst of what is recorded of it; its rows of due work are counted by it. */
import { expect, test } from 'vitest'
import { type PlacementRecord, placement, placementKey } from '../../src/actors/placement/decider.ts'
import { HOST_STATES, dueKindOf, hostStateOf } from '../../src/actors/placement/hostState.ts'
import { PLACEMENT_DUE } from '../../src/actors/placement/marks.ts'

type Provider = Parameters<typeof hostStateOf>[0]['providers'][string]
const of = (...providers: readonly Partial<Provider>[]) => ({
  trouble: null,
  providers: Object.fromEntries(
    providers.map((one, at) => [at, { state: 'in_sync' as const, reserving: [], ...one }] as const),
  ),
})
const withheld: Partial<Provider> = { reserving: ['device disabled', 'bound without allocation'] }

test.each([
  ['in_sync', of()],
  ['in_sync', of({}, { reserving: ['device disabled'] })],
  ['withheld', of({}, withheld)],
  ['pending', of(withheld, { state: 'pending' }, {})],
  ['placement_conflict', of({ state: 'pending' }, { state: 'placement_conflict' })],
  ['unreachable', { ...of({ state: 'placement_conflict' }), trouble: { state: 'unreachable' as const } }],
  ['waiting_for_compute_node', { ...of(), trouble: { state: 'waiting_for_compute_node' as const } }],
])('%s: %o', (state, record) => expect(hostStateOf(record)).toBe(state))

test('each state has rows of due work of its own, and all are worked on', () => {
  for (const state of HOST_STATES) expect(PLACEMENT_DUE).toContain(dueKindOf(state))
})

test('the row of a host is written anew when its moment or its state has changed, and only then', () => {
  const before: PlacementRecord = { ...placement.initial, host: 'h1', passes: 1, nextAt: 9 }
  const entity = placementKey('h1')
  const put = (kind: string, at: number) => [{ view: 'due', key: entity, row: { entity, kind, at } }]
  expect(placement.rows(before, before)).toEqual([])
  expect(placement.rows(before, { ...before, nextAt: 10 })).toEqual(put('placement in_sync', 10))
  const trouble = { state: 'unreachable', reason: 'why', since: 1 } as const
  expect(placement.rows(before, { ...before, trouble })).toEqual(put('placement unreachable', 9))
  expect(placement.rows(before, { ...before, nextAt: null })).toEqual([{ view: 'due', key: entity, row: null }])
  expect(placement.rows({ ...before, nextAt: null, trouble }, { ...before, nextAt: null })).toEqual([])
})
