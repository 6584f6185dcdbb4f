/** S1 by what clients saw: some order of owners of each handle must explain all answers. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ClientRequest } from '../../src/audit/evidence.ts'
import { findingsOf } from '../../src/audit/check.ts'
import { type HandleOperation, judgeHandles, linearInvariants, operationsOf } from '../../src/audit/linear.ts'

const HANDLE = 'handle'
const caller = { projectId: 'p', isAdmin: false, isService: true }
type Tenure = {
  readonly arq: string
  readonly taken: number
  readonly bound: number
  readonly left: number
  readonly fails: boolean
}

const ask = (more: Partial<ClientRequest> & Pick<ClientRequest, 'act' | 'from' | 'to'>): ClientRequest => ({
  caller,
  status: 200,
  ...more,
})
const shows = (arq: string, from: number, to: number, state: string, handle: string | null): ClientRequest =>
  ask({ act: 'get', from, to, shown: [{ uuid: arq, state, projectId: 'p', handle }] })

/** One owner after another, each for a while. */
const tenuresOf = (minLength: number, maxLength: number) =>
  fc
    .array(
      fc.record({
        pause: fc.nat(20),
        binding: fc.integer({ min: 1, max: 20 }),
        held: fc.integer({ min: 1, max: 50 }),
        fails: fc.boolean(),
      }),
      { minLength, maxLength },
    )
    .map((parts) => {
      let now = 100
      return parts.map(({ pause, binding, held, fails }, at): Tenure => {
        const taken = now + pause + 1
        const bound = taken + binding
        const left = fails ? bound : bound + held
        now = left
        return { arq: `arq-${at}`, taken, bound, left, fails }
      })
    })
const tenures = tenuresOf(1, 12)
/** What somebody sees of it: each moment blurred into an interval, some answers lost. */
const blur = fc.infiniteStream(
  fc.record({ before: fc.nat(30), after: fc.nat(30), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
)

const observed = (
  all: readonly Tenure[],
  noise: Iterator<{ before: number; after: number; share: number }>,
): readonly ClientRequest[] =>
  all.flatMap(({ arq, taken, bound, left, fails }) => {
    const next = () => noise.next().value as { before: number; after: number; share: number }
    const around = (moment: number) => {
      const { before, after } = next()
      return { from: moment - before, to: moment + after }
    }
    const status = next().share < 0.2 ? null : 202
    const inside = (from: number, to: number) => around(from + Math.floor((to - from) * next().share))
    const [binding, seen] = [inside(taken, bound - 1), inside(bound, left)]
    return [
      ask({ act: 'bind', ...around(taken), status, arqs: [arq], instance: `of ${arq}` }),
      shows(arq, binding.from, binding.to, 'BindStarted', HANDLE),
      ...(fails
        ? [shows(arq, left + 1, left + 5, 'BindFailed', HANDLE)]
        : [
            shows(arq, seen.from, seen.to, 'Bound', HANDLE),
            ask({ act: 'unbind', ...around(left), status: next().share < 0.2 ? null : 200, arqs: [arq] }),
            shows(arq, left + 40, left + 45, 'Unbound', null),
          ]),
    ]
  })
const verdicts = (clients: readonly ClientRequest[]) => judgeHandles({ clients }).map(({ judged }) => judged.verdict)

/** Whatever was asked, of few ARQs within a short time: whether it makes sense or not. */
const anything = fc.array(
  fc
    .record({
      act: fc.constantFrom<ClientRequest['act']>('bind', 'bind', 'unbind', 'get', 'get', 'get'),
      arq: fc.constantFrom('a', 'b', 'c'),
      from: fc.nat(12),
      length: fc.nat(6),
      status: fc.constantFrom(200, 200, null),
      state: fc.constantFrom('Initial', 'BindStarted', 'Bound', 'Bound', 'BindFailed'),
    })
    .map(({ act, arq, from, length, status, state }) =>
      act === 'get'
        ? shows(arq, from, from + length, state, state === 'Initial' ? null : HANDLE)
        : ask({ act, from, to: from + length, status, arqs: [arq], instance: arq }),
    ),
  { minLength: 2, maxLength: 7 },
)
/** Every order, one after another. */
const someOrderFits = (left: readonly HandleOperation[], held = '', moment = -Infinity): boolean =>
  left.every(({ must }) => !must) ||
  left.some((one) => {
    const after = one.apply(held)
    const now = Math.max(moment, one.from)
    if (after === null || now > one.to || (one.repeats && after === held)) return false
    return someOrderFits(one.repeats ? left : left.filter((other) => other !== one), after, now)
  })

describe('ownership of a handle as clients saw it', () => {
  it('fits whenever the handle went from one ARQ to the next, however blurred', () =>
    fc.assert(
      fc.property(tenures, blur, (all, noise) => {
        expect(verdicts(observed(all, noise[Symbol.iterator]()))).toEqual(['fits'])
      }),
      { seed: 4, numRuns: 400 },
    ))
  it('does not fit when somebody else has it while one surely has', () =>
    fc.assert(
      fc.property(tenures, blur, fc.nat(), (all, noise, which) => {
        const lasting = all.filter(({ fails }) => !fails)
        fc.pre(lasting.length > 0)
        const { arq, bound, left } = lasting[which % lasting.length]!
        const thief = [
          ask({ act: 'bind', from: bound, to: left, status: 202, arqs: ['thief'], instance: 'of thief' }),
          shows('thief', bound + 0.4, bound + 0.5, 'Bound', HANDLE),
          shows(arq, bound + 0.1, bound + 0.2, 'Bound', HANDLE),
          shows(arq, bound + 0.7, bound + 0.8, 'Bound', HANDLE),
        ]
        // the owner lets go only after it was seen again
        const once = observed(all, noise[Symbol.iterator]()).map((one) =>
          one.act === 'unbind' && one.arqs?.includes(arq)
            ? { ...one, from: Math.max(one.from, bound + 0.9), to: Math.max(one.to, left + 1) }
            : one,
        )
        expect(verdicts([...once, ...thief])).toEqual(['impossible'])
      }),
      { seed: 5, numRuns: 300 },
    ))
  it('is Bound until somebody lets it go', () => {
    const bind = (arq: string, at: number) =>
      ask({ act: 'bind', from: at, to: at + 1, status: 202, arqs: [arq], instance: arq })
    const first = [bind('a', 1), shows('a', 3, 4, 'Bound', HANDLE)]
    const second = [bind('b', 5), shows('b', 7, 8, 'Bound', HANDLE)]
    expect(verdicts([...first, ...second])).toEqual(['impossible'])
    const lost = ask({ act: 'unbind', from: 4, to: 5, status: null, arqs: ['a'] })
    expect(verdicts([...first, lost, ...second])).toEqual(['fits'])
    // answered 404 for another one of its ARQs, it removed this one all the same; any other refusal changed nothing
    const removal = (status: number) => ask({ act: 'remove', from: 4, to: 5, status, arqs: ['a', 'unknown'] })
    expect(verdicts([...first, removal(404), ...second])).toEqual(['fits'])
    expect(verdicts([...first, removal(403), ...second])).toEqual(['impossible'])
  })
  it('is not had by one that is Bound with another handle', () => {
    const bind = (arq: string, at: number) =>
      ask({ act: 'bind', from: at, to: at + 1, status: 202, arqs: [arq], instance: arq })
    const other = [
      bind('a', 1),
      shows('a', 3, 4, 'Bound', 'another handle'),
      shows('a', 8, 9, 'Bound', 'another handle'),
    ]
    const owner = [bind('b', 2), shows('b', 5, 6, 'Bound', HANDLE)]
    expect(verdicts([...other, ...owner])).toEqual(['fits', 'fits'])
  })
  it('is not kept by one that is shown as Unbound', () => {
    const bind = ask({ act: 'bind', from: 1, to: 2, status: 202, arqs: ['a'], instance: 'i' })
    const bound = shows('a', 3, 4, 'Bound', HANDLE)
    for (const state of ['Unbound', 'Initial'])
      expect(verdicts([bind, bound, shows('a', 5, 6, state, null)])).toEqual(['impossible'])
    // one that failed may have lost it, or not
    expect(verdicts([bind, bound, shows('a', 5, 6, 'BindFailed', null)])).toEqual(['fits'])
  })
  it('is not being bound any more once it was Bound', () => {
    const bind = ask({ act: 'bind', from: 1, to: 2, status: 202, arqs: ['a'], instance: 'i' })
    const bound = shows('a', 3, 4, 'Bound', HANDLE)
    expect(verdicts([bind, bound, shows('a', 5, 6, 'BindStarted', HANDLE)])).toEqual(['impossible'])
  })
  it('is not taken by a bind that was refused, and may be by one that failed', () => {
    const bind = (status: number) => ask({ act: 'bind', from: 1, to: 2, status, arqs: ['a'], instance: 'i' })
    for (const status of [300, 499])
      expect(verdicts([bind(status), shows('a', 3, 4, 'Bound', HANDLE)])).toEqual(['impossible'])
    for (const status of [299, 500])
      expect(verdicts([bind(status), shows('a', 3, 4, 'Bound', HANDLE)])).toEqual(['fits'])
  })
  it('is free after all ARQs of its instance were removed', () => {
    const bind = (arq: string, at: number, instance: string) =>
      ask({ act: 'bind', from: at, to: at + 1, status: 202, arqs: [arq], instance })
    const removal = (instance: string) => ask({ act: 'removeByInstance', from: 5, to: 6, status: 204, instance })
    const before = [bind('a', 1, 'i'), shows('a', 3, 4, 'Bound', HANDLE)]
    const after = [bind('b', 7, 'j'), shows('b', 9, 10, 'Bound', HANDLE)]
    expect(verdicts([...before, removal('i'), ...after])).toEqual(['fits'])
    expect(verdicts([...before, removal('j'), ...after])).toEqual(['impossible'])
    const named = ask({ act: 'other', from: 4, to: 5, arqs: ['a'], instance: 'j' })
    expect(verdicts([...before, named, removal('j'), ...after])).toEqual(['impossible'])
    const refused = before.map((one) => (one.act === 'bind' ? { ...one, status: 409 } : one))
    expect(verdicts([bind('a', 0, 'k'), ...refused, removal('i'), ...after])).toEqual(['impossible'])
  })
  it('is not taken before anybody asked, nor after the answer', () => {
    const bind = ask({ act: 'bind', from: 5, to: 6, status: 202, arqs: ['a'], instance: 'i' })
    expect(verdicts([bind, shows('a', 1, 2, 'Bound', HANDLE)])).toEqual(['impossible'])
    expect(verdicts([{ ...bind, status: 409 }, shows('a', 7, 8, 'Bound', HANDLE)])).toEqual(['impossible'])
    const late = [shows('a', 7, 8, 'Initial', null), shows('a', 9, 10, 'BindStarted', HANDLE)]
    expect(verdicts([bind, ...late])).toEqual(['impossible'])
  })
  it('is judged as by trying every order', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(anything, (clients) => {
        for (const operations of operationsOf(clients).values()) {
          const expected = someOrderFits(operations) ? 'fits' : 'impossible'
          seen.add(expected)
          expect(verdicts(clients)).toEqual([expected])
        }
      }),
      { seed: 6, numRuns: 2000 },
    )
    expect(seen.size).toBe(2)
  })
  it('is judged in the end, however many binds had no answer, and however much was seen before', () => {
    const binds = Array.from({ length: 12 }, (_, n) =>
      ask({ act: 'bind', from: 30, to: 40, status: 202, arqs: [`a${n}`], instance: `i${n}` }),
    )
    const shown = binds.map(({ arqs }) => shows(arqs![0]!, 45, 50, 'BindFailed', null))
    const early = Array.from({ length: 24 }, () => shows('z', 1, 20, 'Initial', null))
    const holders = binds.map(({ arqs }) => shows(arqs![0]!, 30, 44, 'BindStarted', HANDLE))
    expect(verdicts([...early, ...binds, ...holders.slice(0, 4), ...shown])).toEqual(['fits'])
    const never = shows('z', 60, 61, 'Bound', HANDLE)
    expect(verdicts([...early, ...binds, ...holders.slice(0, 4), ...shown, never])).toEqual(['impossible'])
  })
  it('is judged in the end, however much was seen at once', () =>
    fc.assert(
      fc.property(tenuresOf(150, 150), blur, (all, noise) => {
        const lasting = all.filter(({ fails }) => !fails)
        const crowd = lasting.flatMap(({ arq, bound, left }) =>
          Array.from({ length: 20 }, (_, at) => shows(arq, bound - at, left + at, 'Bound', HANDLE)),
        )
        expect(verdicts([...observed(all, noise[Symbol.iterator]()), ...crowd])).toEqual(['fits'])
      }),
      { seed: 7, numRuns: 5, endOnFailure: true },
    ))
})

describe('S1 clients', () => {
  const bind = (arq: string) => ask({ act: 'bind', from: 1, to: 2, status: 202, arqs: [arq], instance: arq })
  const found = (clients: readonly ClientRequest[]) =>
    findingsOf(linearInvariants, { journal: [], now: 0, clients }).flatMap((one) => one.findings)
  it('finds nothing where one order explains everything', () =>
    expect(found([bind('a'), shows('a', 3, 4, 'Bound', HANDLE)])).toEqual([]))
  it('names the handle, the ARQs that do not fit, and what was seen of them', () => {
    const late = [shows('b', 5, 7, 'Bound', HANDLE), shows('b', 5, 6, 'Bound', HANDLE)]
    expect(found([bind('a'), bind('b'), shows('a', 3, 4, 'Bound', HANDLE), ...late])).toEqual([
      {
        found: 'handle handle: no order of ownership explains what was seen of b',
        keys: ['arq/b'],
        proof: late.map((asked) => ({ of: 'client', asked })),
      },
    ])
  })
  it('shows eight of what was seen, and all ARQs', () => {
    const thieves = Array.from({ length: 9 }, (_, n) => shows(`b${n}`, 5, 6, 'Bound', HANDLE))
    const [one] = found([bind('a'), shows('a', 3, 4, 'Bound', HANDLE), ...thieves])
    expect(one!.proof).toHaveLength(8)
    expect(one!.keys).toHaveLength(9)
    expect(one!.found).toContain('seen of b0, b1, ')
  })
})
