/** How a host counts in Placement without what an operator ignores, and which providers are known as they are. */
import { describe, expect, test } from 'vitest'
import { type HostState, countedStateOf } from '../../src/actors/placement/hostState.ts'
import {
  type Difference,
  type Ignored,
  type Ignoring,
  differenceUuid,
  firstEnd,
  lackingReason,
  overdue,
  withoutIgnored,
} from '../../src/actors/placement/ignored.ts'
import { isFunctionTrait } from '../../src/actors/placement/names.ts'
import { ofNova } from '../../src/actors/placement/ofNova.ts'
import { type Finding, type RecordedProvider, isKnown } from '../../src/actors/placement/provider.ts'

const NOTE = { by: 'op', reason: 'known' }
const difference: Difference = {
  kind: 'provider',
  provider: 'rp',
  name: 'card',
  consumer: null,
  state: 'placement_conflict',
  reason: 'why',
}
const ignoring = (until: number, more: Partial<Ignoring> = {}): Ignoring => ({
  difference,
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
  type Provider = Partial<Omit<RecordedProvider, 'reason'>> & Pick<RecordedProvider, 'reason'>
  const of = (provider: Provider, decisions: Ignored, host = 'h1') => {
    const rp: RecordedProvider = { state: 'in_sync', reserving: [], ...provider }
    return { host, trouble: null, providers: { rp }, ignored: decisions }
  }
  const conflict: Provider = { state: 'placement_conflict', reason: 'why' }
  const UNALLOCATED = 'bound without allocation'
  const units: Provider = { reserving: ['device disabled', UNALLOCATED], unallocated: { i1: 2, i2: 1 } }
  test.each<[HostState, string, ReturnType<typeof of>]>([
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
  ])('as %s %s', (state, _, record) => expect(countedStateOf(record)).toBe(state))
  test('without what is ignored, and otherwise as it is', () => {
    const record = of({ ...units, reason: null }, ignored(lacking('i1', 2), lacking('i2', 1)))
    expect(withoutIgnored(record)).toEqual({
      rp: { ...record.providers.rp, state: 'in_sync', reserving: ['device disabled'] },
    })
    const { ignored: _, ...unignored } = record
    for (const same of [unignored, { ...record, ignored: {} }]) expect(withoutIgnored(same)).toBe(record.providers)
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
