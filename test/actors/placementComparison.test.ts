/** How one deployable stands in Placement, by what is recorded of its host (placement 9.3). */
import { expect, test } from 'vitest'
import { type HeldProvider, type PlacementRecord, placement } from '../../src/actors/placement/decider.ts'
import { comparisonOf } from '../../src/actors/placement/comparison.ts'

const held: HeldProvider = {
  uuid: 'rp1',
  name: 'h1_card',
  deployable: 'd1',
  traits: [],
  state: 'in_sync',
  reason: null,
  reserving: ['device disabled'],
  ours: true,
  since: 7,
}
const of = (more: Partial<PlacementRecord>): PlacementRecord => ({ ...placement.initial, ...more })
const card = { rp_uuid: 'rp1', attributes: [{ rc: 'FPGA' }] }

test.each([
  ['in_sync', null],
  ['pending', 'units of VGPU are still allocated'],
  ['placement_conflict', 'not ours'],
] as const)('%s is shown as it was found', (state, reason) =>
  expect(comparisonOf(of({ providers: { rp1: { ...held, state, reason } }, comparedAt: 9 }), card)).toEqual({
    state,
    reason,
    since: 7,
    reserving: ['device disabled'],
    comparedAt: 9,
  }),
)
test.each(['waiting_for_compute_node', 'unreachable'] as const)('%s of the host counts for all on it', (state) =>
  expect(
    comparisonOf(of({ providers: { rp1: held }, trouble: { state, reason: 'why', since: 8 }, comparedAt: 9 }), card),
  ).toEqual({ state, reason: 'why', since: 8, reserving: ['device disabled'], comparedAt: 9 }),
)
test('what was not compared yet is pending', () =>
  expect(comparisonOf(of({}), card)).toEqual({
    state: 'pending',
    reason: 'not compared with Placement yet',
    since: null,
    reserving: [],
    comparedAt: null,
  }))
test('what has no provider of its own yet is pending if it has a resource class', () => {
  const all = of({ providers: { rp1: held, null: held } })
  expect(comparisonOf(all, { rp_uuid: null, attributes: [{ trait0: 'A' }, null, 'rc', { rc: 'FPGA' }] })).toEqual({
    state: 'pending',
    reason: 'not compared with Placement yet',
    since: null,
    reserving: [],
    comparedAt: null,
  })
  for (const attributes of [null, [null, 'rc'], { rc: 'FPGA' }])
    expect(comparisonOf(all, { rp_uuid: null, attributes })).toBeNull()
  expect(comparisonOf(all, { rp_uuid: 'rp1', attributes: [] })).toMatchObject({ state: 'in_sync', since: 7 })
})
test('what has no resource class is not shown there', () =>
  expect(comparisonOf(of({}), { rp_uuid: 'rp1', attributes: [{ trait0: 'CUSTOM_A' }] })).toBeNull())
test('the moment of the last whole comparison stays while there is trouble', () => {
  const ended = { type: 'PassEnded', nextAt: null, failed: false } as const
  const whole = placement.evolve(of({}), ended, 5)
  expect(whole).toMatchObject({ endedAt: 5, comparedAt: 5 })
  const pageError = placement.evolve(
    whole,
    { type: 'TroubleFound', trouble: { state: 'unreachable', reason: 'why' } },
    6,
  )
  expect(placement.evolve(pageError, ended, 6)).toMatchObject({ endedAt: 6, comparedAt: 5 })
})
