/** What a decider decides and remembers, to the letter. The first fact is recorded at 1000 ms, the next at 2000. */
import type { Decider } from '../../src/actors/runtime/decider.ts'
import type { Fact } from '../audit/cases/scene.ts'

type Loose = { readonly type: string } & Readonly<Record<string, unknown>>
// oxlint-disable-next-line typescript/no-explicit-any -- deciders of different states
export const exactly = <State>(decider: Decider<State, any, any, any>) => {
  const after = (...facts: readonly Fact[]): State =>
    facts.reduce<State>((held, fact, n) => decider.evolve(held, fact, 1000 * (n + 1)), decider.initial)
  return {
    after,
    decide: (facts: readonly Fact[], command: Loose) => {
      const decision = decider.decide(after(...facts), command)
      return decision.ok ? decision.events : decision.fault
    },
    /** The rows that the last of the facts changes. */
    rows: (...facts: readonly Fact[]) => {
      const before = after(...facts.slice(0, -1))
      return decider.rows(before, decider.evolve(before, facts.at(-1), 1000 * facts.length))
    },
  }
}
