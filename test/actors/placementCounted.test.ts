/** How a host counts in Placement without what an operator ignores, and when its next pass is, at each limit. */
import { describe, expect, test } from 'vitest'
import { type PlacementRecord, placement } from '../../src/actors/placement/decider.ts'
import { countedStateOf } from '../../src/actors/placement/hostState.ts'
import {
  type Difference,
  type Ignoring,
  differenceUuid,
  firstEnd,
  lackingReason,
  overdue,
  withoutIgnored,
} from '../../src/actors/placement/ignored.ts'
import { isFunctionTrait } from '../../src/actors/placement/names.ts'
import { ofNova } from '../../src/actors/placement/ofNova.ts'
import { type Finding, isKnown } from '../../src/actors/placement/provider.ts'
import { nextPassAt, nextUnrecordedAt } from '../../src/actors/placement/schedule.ts'

const NOTE = { by: 'op', reason: 'known' }
const ignoring = (until: number, more: Partial<Ignoring> = {}): Ignoring => ({
  difference: {} as Difference,
  until,
  at: 1,
  ...NOTE,
  ...more,
})

describe('a host counts', () => {
  const conflicting = {
    kind: 'provider',
    provider: 'rp',
    consumer: null,
    state: 'placement_conflict',
    reason: 'why',
  } as const
  const lacking = (consumer: string, units: number) =>
    ({ kind: 'arq_without_allocation', provider: 'rp', consumer, state: null, reason: lackingReason(units) }) as const
  type Said = typeof conflicting | ReturnType<typeof lacking>
  const ignored = (...all: readonly Said[]) =>
    Object.fromEntries(all.map((one) => [differenceUuid('h1', one), ignoring(0.5)]))
  const of = (provider: object, of: Record<string, Ignoring>, host = 'h1') =>
    ({ host, trouble: null, providers: { rp: { state: 'in_sync', reserving: [], ...provider } }, ignored: of }) as const
  const conflict = { state: 'placement_conflict', reason: 'why' }
  const UNALLOCATED = 'bound without allocation'
  const units = { reserving: ['device disabled', UNALLOCATED], unallocated: { i1: 2, i2: 1 } }
  test.each<[string, string, object]>([
    ['placement_conflict', 'with nothing ignored', of(conflict, {})],
    [
      'in_sync',
      'with its conflict ignored, also after the term, which a pass ends',
      of(conflict, ignored(conflicting)),
    ],
    [
      'placement_conflict',
      'with a conflict for another reason',
      of({ ...conflict, reason: 'w' }, ignored(conflicting)),
    ],
    [
      'placement_conflict',
      'with a conflict without a reason',
      of({ state: 'placement_conflict' }, ignored(conflicting)),
    ],
    ['placement_conflict', 'with the conflict of another host', of(conflict, ignored(conflicting), 'h2')],
    [
      'placement_conflict',
      'with a decision that an operator has ended',
      of(conflict, { [differenceUuid('h1', conflicting)]: ignoring(9, { ended: { ...NOTE, at: 2 } }) }),
    ],
    ['in_sync', 'with all lacking units ignored', of(units, ignored(lacking('i1', 2), lacking('i2', 1)))],
    ['withheld', 'with those of one instance ignored', of(units, ignored(lacking('i1', 2)))],
    ['withheld', 'with another number ignored', of(units, ignored(lacking('i1', 1), lacking('i2', 1)))],
    ['withheld', 'where it is not known who lacks them', of({ reserving: [UNALLOCATED] }, ignored(conflicting))],
  ] as never)('as %s %s', (state, _, record) => expect(countedStateOf(record as never)).toBe(state))
  test('without what is ignored, and otherwise as it is', () => {
    const record = of({ ...units, reason: null }, ignored(lacking('i1', 2), lacking('i2', 1)))
    expect(withoutIgnored(record as never)).toEqual({
      rp: { ...record.providers.rp, state: 'in_sync', reserving: ['device disabled'] },
    })
    for (const none of [undefined, {}])
      expect(withoutIgnored({ ...record, ignored: none } as never)).toBe(record.providers)
  })
  test('a difference by all that it says', () => {
    const uuids = [
      differenceUuid('h1', conflicting),
      differenceUuid('h2', conflicting),
      differenceUuid('h1', { ...conflicting, kind: 'hardware' }),
      differenceUuid('h1', { ...conflicting, provider: 'rp2' }),
      differenceUuid('h1', { ...conflicting, consumer: 'i1' }),
      differenceUuid('h1', { ...conflicting, state: 'pending' }),
      differenceUuid('h1', { ...conflicting, reason: 'w' }),
      differenceUuid('h1', conflicting, ['a', 'b']),
    ]
    expect(new Set(uuids).size).toBe(uuids.length)
    expect(differenceUuid('h1', conflicting, ['b', 'a'])).toBe(uuids.at(-1))
    expect(uuids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })
  test('a term to its end, and the first of them', () => {
    const holder = { host: 'h1', ignored: { u1: ignoring(30), u2: ignoring(20), u3: ignoring(40) } }
    expect([firstEnd(holder), firstEnd({ host: 'h1' })]).toEqual([20, null])
    expect([overdue(holder, 19), overdue(holder, 20), overdue(holder, 30)]).toEqual([[], ['u2'], ['u1', 'u2']])
    expect(overdue({ host: 'h1' }, 99)).toEqual([])
  })
})

describe('the next pass over a host', () => {
  const NOW = 1_000_000_000
  const AUDIT = 600_000
  const provider = { uuid: 'p1', name: 'n', deployable: 'd', traits: [], reason: null, ours: true, since: NOW - 1 }
  const held = (more: object = {}) => ({ p1: { ...provider, state: 'in_sync', reserving: [], ...more } }) as never
  const recordOf = (more: Partial<PlacementRecord>): PlacementRecord => ({
    ...placement.initial,
    host: 'h1',
    passes: 3,
    endedAt: NOW - 1000,
    providers: held(),
    ...more,
  })
  const times = { now: NOW, auditEveryMs: AUDIT }
  const unreachable = { state: 'unreachable', reason: 'r' } as const
  const waiting = { state: 'waiting_for_compute_node', reason: 'r' } as const
  type Found = Parameters<typeof nextPassAt>[1]
  const after = (more: Partial<PlacementRecord>, found: Partial<Found> = {}, auditEveryMs = AUDIT) => {
    const at = nextPassAt(recordOf(more), { trouble: null, wanted: 1, ...found }, { ...times, auditEveryMs })
    return at === null ? null : at - NOW
  }
  const unrecorded = (more: Partial<PlacementRecord>) => {
    const at = nextUnrecordedAt(recordOf(more), times)
    return at === null ? null : at - NOW
  }
  const period = unrecorded({})!
  const pending = { providers: held({ state: 'pending' }) }
  const units = { providers: held({ reserving: ['bound without allocation'] }) }
  test.each<[string, number | null, Partial<PlacementRecord>, Partial<Found>?, number?]>([
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
  ])('%s', (_, ms, more, found) => expect(after(more, found)).toBe(ms))
  test('comes never later than the period', () => {
    const most = (...given: Parameters<typeof after>) => expect(after(...given)).toBeLessThan(1000)
    most({ failures: 9 }, { trouble: unreachable }, 900)
    most({ ...pending }, {}, 900)
    most(units, {}, 900)
  })
  test('comes after another time for each pass', () => expect(unrecorded({ passes: 4 })).not.toBe(period))
  test.each([
    [null, 0],
    [1, 1],
    [period, 10 * AUDIT],
  ])('that need not be recorded comes in %s ms where a term ends in %d ms', (ms, end) =>
    expect(unrecorded({ ignored: { u1: ignoring(NOW + end) } })).toBe(ms),
  )
})

test('a provider is known only as it was found', () => {
  const found: Finding = {
    uuid: 'p1',
    name: 'n',
    deployable: 'd',
    traits: ['A', 'B'],
    state: 'in_sync',
    reason: null,
    reserving: [],
    ours: true,
    did: [],
    foreign: ['X'],
    unallocated: { i1: 1 },
  }
  const held = { ...found, since: 1 }
  const { foreign: _, ...plain } = held
  const { unallocated: _was, ...allocated } = held
  expect([isKnown(held, found), isKnown({ ...allocated, unallocated: {} }, { ...found, unallocated: {} })]).toEqual([
    true,
    true,
  ])
  expect(isKnown(undefined, found)).toBe(false)
  for (const other of [plain, { ...held, foreign: ['Y'] }, allocated, { ...held, unallocated: { i1: 2 } }])
    expect(isKnown(other, found)).toBe(false)
  expect(isKnown({ ...held, traits: ['B', 'A'] }, found)).toBe(false)
})

test('a provider of Nova is known by its name, with the function that it passes through or divides', () => {
  const provider = (name: string) => ({ uuid: 'u', name, generation: 1, parent: null, root: 'u' })
  const known = (name: string) => {
    const found = ofNova(provider(name))
    return found && [found.function, found.use, found.provider.name === name]
  }
  expect(known('node-1_0000:81:00.3')).toEqual(['0000:81:00.3', 'passed', true])
  expect(known('node-1_0000:AF:1F.0')).toEqual(['0000:af:1f.0', 'passed', true])
  expect(known('node-1_pci_0000_81_00_0')).toEqual(['0000:81:00.0', 'divided', true])
  for (const name of ['node-1', '0000:81:00.3', 'node-1_0000:81:00.8', 'node-1_pci_0000_81_00', 'a_0000:81:00.3_b'])
    expect(known(name)).toBe(null)
})

test('a trait that names the function of a card', () => {
  const traits = ['CUSTOM_FPGA_FUNCTION_ID_INTEL_1', 'CUSTOM_FPGA_REGION_1', 'X_CUSTOM_FPGA_FUNCTION_ID_1']
  expect(traits.map(isFunctionTrait)).toEqual([true, false, false])
})
