/** SLOT: what a deployable decides where its host has prepared something else than the journal holds. */
import type { Said } from '../spec.ts'
import { describe, expect, it } from 'vitest'
import { markOf } from './decided.ts'
import { answer, done, dueAt, given, granted, quiet, release, released, stuck } from './deployableFacts.ts'
import { ARQ, handle, id, OTHER, prepareOrder, recorded, releaseOrder, REQUEST, WORD } from './samples.ts'

const COMPARISON = 'comparison with the host'
const NO_ANSWER = 'the host did not answer in time'
const HANDLE = handle(1).uuid
const FOUND = { slot: HANDLE, number: 40, arq: OTHER }
const bound = [recorded(), granted(1, 1), done(1, 1)] as const
const markAfter = (facts: readonly Said[]) => markOf(given(...facts).state.handles[HANDLE])
const withhold = (facts: readonly Said[], found: typeof FOUND | null = FOUND): Said => ({
  type: 'Withhold',
  handle: HANDLE,
  mark: markAfter(facts),
  reason: 'why',
  found,
})
const prepareAgain = (facts: readonly Said[]): Said => ({
  type: 'PrepareAgain',
  handle: HANDLE,
  mark: markAfter(facts),
  reason: 'why',
  deadline: 9000,
  requestId: REQUEST,
})
const withheld: Said = {
  type: 'HandleQuarantined',
  handle: HANDLE,
  until: 'released',
  by: COMPARISON,
  reason: 'why',
  found: FOUND,
}
const clear: Said = { type: 'Clear', handle: HANDLE, deadline: 9000, ...WORD }
const repeated: Said = {
  type: 'Granted',
  handle: HANDLE,
  arq: ARQ,
  order: { ...prepareOrder(1, 2), again: true },
  repeated: 'why',
}
const stateOf = (...facts: readonly Said[]) => given(...facts).state.handles[HANDLE]

describe('SLOT-1 what the journal does not explain is withheld', () => {
  it.each([
    ['free', [recorded()]],
    ['held', [...bound]],
    ['quarantined', [...stuck]],
  ] as const)('a handle that is %s', (state, facts) => {
    given(...facts)
      .when(withhold(facts))
      .follows(withheld)
    expect(stateOf(...facts, withheld).state).toBe(state === 'free' ? 'quarantined' : state)
  })
  it('goes to nobody when the request that holds it gives it up', () => {
    const facts = [...bound, withheld, released(1, 2), done(1, 2)]
    expect(stateOf(...facts)).toMatchObject({ state: 'quarantined', quarantine: { found: FOUND } })
  })
  it('is not withheld when it has changed since it was compared, or is withheld already, or an order is under way', () => {
    for (const facts of [[...bound], [recorded(), withheld], [recorded(), granted(1, 1)], [...bound, released(1, 2)]])
      given(...facts)
        .when({ ...withhold([recorded()]), handle: HANDLE })
        .follows()
    for (const facts of [
      [recorded(), withheld],
      [recorded(), granted(1, 1)],
      [...bound, released(1, 2)],
    ])
      given(...facts)
        .when(withhold(facts))
        .follows()
  })
  it('an unknown handle changes nothing', () =>
    given(recorded())
      .when({ ...withhold([recorded()]), handle: id(9) })
      .follows())
})

describe('SLOT-2 what the host has lost is prepared again', () => {
  it('by a new order for the request that holds it, without programming its region', () => {
    given(...bound)
      .when(prepareAgain(bound))
      .follows(repeated)
    const held = stateOf(...bound, repeated)
    expect(held).toMatchObject({ state: 'held', arq: ARQ, pending: { number: 2, type: 'PrepareSlot' } })
    expect(given(...bound, repeated).state.orders).toBe(2)
  })
  it('and is as before when that is done', () => {
    const facts = [...bound, repeated]
    given(...facts)
      .when(answer(1, 2))
      .follows(done(1, 2))
    expect(stateOf(...facts, done(1, 2))).toMatchObject({ state: 'held', arq: ARQ, pending: null })
    expect(dueAt(...facts, done(1, 2))).toBe(null)
  })
  const lost = (reason: string): readonly Said[] => [
    { type: 'OrderFailed', slot: HANDLE, number: 2, reason, again: null },
    {
      type: 'HandleQuarantined',
      handle: HANDLE,
      until: 'released',
      by: COMPARISON,
      reason: `its host has lost it and could not prepare it again: ${reason}`,
    },
  ]
  it('when that fails, the request keeps it and it is withheld afterwards', () => {
    const facts = [...bound, repeated]
    given(...facts)
      .when(answer(1, 2, 'broken'))
      .follows(...lost('broken'))
    const after = [...facts, ...lost('broken')]
    expect(stateOf(...after)).toMatchObject({ state: 'held', arq: ARQ, pending: null, quarantine: { by: COMPARISON } })
    expect(stateOf(...after, released(1, 3), done(1, 3)).state).toBe('quarantined')
  })
  it('the same without an answer by its deadline', () => {
    const facts = [...bound, repeated]
    expect(dueAt(...facts)).toBe(9000)
    const due = (at: number): Said => ({ type: 'Due', at, deadline: 20_000 })
    given(...facts)
      .when(due(8999))
      .follows()
    given(...facts)
      .when(due(9000))
      .follows(...lost(NO_ANSWER))
  })
  it('a release ends it', () => {
    const facts = [...bound, repeated]
    given(...facts)
      .when(release())
      .follows(released(1, 3))
    expect(dueAt(...facts, released(1, 3))).toBe(null)
  })
  it('not when it is free, changed since, or needs no work on its host', () => {
    given(recorded())
      .when(prepareAgain([recorded()]))
      .follows()
    given(...bound)
      .when(prepareAgain([recorded()]))
      .follows()
    const plain = [quiet, granted(1, null)]
    given(...plain)
      .when(prepareAgain(plain))
      .follows()
  })
  it('a failed preparation of a bind under way is left to its conversation', () =>
    given(recorded(), granted(1, 1))
      .when(answer(1, 1, 'broken'))
      .follows())
})

describe('SLOT-3 an operator releases what was withheld', () => {
  const undone = (number: number, also: object = {}): readonly Said[] => [
    { type: 'HandleCleared', handle: HANDLE, ...WORD },
    { type: 'HandleQuarantined', handle: HANDLE, until: 'confirmed', ...WORD },
    { type: 'HandleReleased', handle: HANDLE, arq: '', order: { ...releaseOrder(1, number), ...also } },
  ]
  it('the host has to undo it first, by an order above all that it knows of the slot', () => {
    given(recorded(), withheld)
      .when(clear)
      .follows(...undone(41))
    const facts = [recorded(), withheld, ...undone(41)]
    expect(stateOf(...facts)).toMatchObject({ state: 'releasing', pending: { number: 41 }, lastArq: null })
    expect(stateOf(...facts).quarantine).toBe(undefined)
    given(...facts)
      .when(answer(1, 41))
      .follows(done(1, 41))
    expect(stateOf(...facts, done(1, 41)).state).toBe('free')
    expect(given(...facts, done(1, 41)).state.orders).toBe(41)
  })
  it('a slot that the journal does not know is named in that order', () => {
    const foreign: Said = { ...withheld, found: { slot: id(0x99), number: 3 } }
    given(recorded(), foreign)
      .when(clear)
      .follows(...undone(4, { also: [id(0x99)] }))
  })
  it('when the host cannot do it, it is quarantined again', () => {
    const facts = [recorded(), withheld, ...undone(41)]
    given(...facts)
      .when(answer(1, 41, 'stuck', true))
      .follows({ type: 'OrderFailed', slot: HANDLE, number: 41, reason: 'stuck', again: null })
  })
  it('a host that has used up its numbers, or that had nothing prepared, is sent nothing', () => {
    const { found: _, ...plain } = withheld
    for (const fact of [plain, { ...withheld, found: { ...FOUND, number: 2_147_483_647 } }])
      given(recorded(), fact)
        .when(clear)
        .follows({ type: 'HandleCleared', handle: HANDLE, ...WORD })
  })
  it('what an operator has withheld is free at once, as before', () =>
    given(recorded(), { type: 'HandleQuarantined', handle: HANDLE, until: 'released', ...WORD })
      .when(clear)
      .follows({ type: 'HandleCleared', handle: HANDLE, ...WORD }))
})
