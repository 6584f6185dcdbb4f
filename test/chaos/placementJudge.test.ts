/**
 * The checks of Placement after a chaos run find each planted error in their input; only a run with an OpenStack has
 * its faults.
 */
import { describe, expect, test } from 'vitest'
import { writesSeen } from '../support/placementSeen.ts'
import { driftIn, foreignDiffer } from './placementJudge.ts'
import { CLOUD_KINDS, KINDS, isOfCloud, kindsOf, planLine, planOf } from './plan.ts'

const kindsIn = (seed: number, withCloud: boolean) =>
  new Set(planOf(seed, 3, withCloud).flatMap(({ faults }) => faults.map(({ kind }) => kind)))

describe('the plan of a run', () => {
  test('is the same as ever without an OpenStack', () => {
    expect(planOf(7, 3, false).map(planLine)).toEqual(planOf(7, 3).map(planLine))
    expect([...kindsIn(7, false)].filter(isOfCloud)).toEqual([])
    expect(kindsOf(false)).toEqual(KINDS)
  })
  test.each([1, 2, 3])('holds every fault of Keystone and Placement with one (seed %i)', (seed) => {
    expect(kindsIn(seed, true)).toEqual(new Set([...KINDS, ...CLOUD_KINDS]))
    for (const { faults } of planOf(seed, 3, true)) {
      expect(new Set(faults.map(({ target }) => target)).size).toBe(faults.length)
      for (const { kind, target } of faults.filter((one) => isOfCloud(one.kind))) expect(kind).toContain(target)
    }
  })
})

describe('providers of others', () => {
  const before = new Map([['root', '{"generation":2}']])
  test('are as they were', () => expect(foreignDiffer(before, new Map(before))).toEqual([]))
  test.each([
    ['one that was written', new Map([['root', '{"generation":3}']])],
    ['one that is gone', new Map<string, string>()],
  ])('show %s', (_, after) => expect(foreignDiffer(before, after)).toHaveLength(1))
  test('are known among the requests that changed a provider', () => {
    const asked = [
      'GET /resource_providers/root/inventories',
      'POST /resource_providers',
      'PUT /resource_providers/ours/traits',
      'DELETE /resource_providers/root',
      'PUT /traits/CUSTOM_X',
    ]
    expect(writesSeen(asked, new Set(['root']))).toEqual([
      { uuid: 'ours', what: 'PUT', foreign: false, allocated: false },
      { uuid: 'root', what: 'DELETE', foreign: true, allocated: false },
    ])
  })
})

describe('what differs', () => {
  const hostOf = (host: string, entries: readonly { readonly kind: string }[] = [], trouble: object | null = null) => ({
    host,
    entries,
    trouble,
  })
  test('is nothing where units are bound without an allocation', () => {
    const drift = [hostOf('compute1', [{ kind: 'arq_without_allocation' }]), hostOf('compute2')]
    expect(driftIn(drift, ['compute1', 'compute2'])).toEqual([])
  })
  test.each([
    ['a host of which nothing is said', []],
    ['a host that could not be compared', [hostOf('compute1', [], { state: 'unreachable' })]],
    ['a provider that differs', [hostOf('compute1', [{ kind: 'provider' }])]],
    ['an allocation that is left over', [hostOf('compute1', [{ kind: 'allocation_without_arq' }])]],
    ['a device that its host does not show', [hostOf('compute1', [{ kind: 'hardware' }])]],
  ])('names %s', (_, drift) => expect(driftIn(drift, ['compute1'])).toHaveLength(1))
})
