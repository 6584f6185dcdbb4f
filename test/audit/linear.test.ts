import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Asked } from '../../src/actors/invariants/evidence.ts'
import { judgeHandles } from '../../src/actors/invariants/linear.ts'

const HANDLE = 'handle'
const caller = { projectId: 'p', isAdmin: false, isService: true }
type Tenure = {
  readonly arq: string
  readonly taken: number
  readonly bound: number
  readonly left: number
  readonly fails: boolean
}

const ask = (more: Partial<Asked> & Pick<Asked, 'act' | 'from' | 'to'>): Asked => ({ caller, status: 200, ...more })
const shows = (arq: string, from: number, to: number, state: string, handle: string | null): Asked =>
  ask({ act: 'get', from, to, shown: [{ uuid: arq, state, projectId: 'p', handle }] })

/** One owner after another, each for a while. */
const tenures = fc
  .array(
    fc.record({
      pause: fc.nat(20),
      binding: fc.integer({ min: 1, max: 20 }),
      held: fc.integer({ min: 1, max: 50 }),
      fails: fc.boolean(),
    }),
    { minLength: 1, maxLength: 12 },
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
/** What somebody sees of it: each moment blurred into an interval, some answers lost. */
const blur = fc.infiniteStream(
  fc.record({ before: fc.nat(30), after: fc.nat(30), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
)

const observed = (
  all: readonly Tenure[],
  noise: Iterator<{ before: number; after: number; share: number }>,
): readonly Asked[] =>
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
const verdicts = (clients: readonly Asked[]) => judgeHandles({ clients }).map(({ judged }) => judged.verdict)

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
  it('is not taken before anybody asked, nor after the answer', () => {
    const bind = ask({ act: 'bind', from: 5, to: 6, status: 202, arqs: ['a'], instance: 'i' })
    expect(verdicts([bind, shows('a', 1, 2, 'Bound', HANDLE)])).toEqual(['impossible'])
    expect(verdicts([{ ...bind, status: 409 }, shows('a', 7, 8, 'Bound', HANDLE)])).toEqual(['impossible'])
    const late = [shows('a', 7, 8, 'Initial', null), shows('a', 9, 10, 'BindStarted', HANDLE)]
    expect(verdicts([bind, ...late])).toEqual(['impossible'])
  })
})
