/** What an entity decides after facts of its past. The first fact is recorded at 1000 ms, the next at 2000. */
import { ENTITIES } from '../../src/actors/entities.ts'
import type { Fact } from '../audit/cases/scene.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- states of different entities are looked into freely
type State = any
/** A case of a table: what is tested, the past, the command, and the events or the fault that follow. */
export type Case = readonly [what: string, past: readonly Fact[], command: Fact, decision: unknown]

export const deciding = (kind: string) => {
  const decider = ENTITIES[kind]!
  const after = (...facts: readonly Fact[]): State =>
    facts.reduce<State>((held, fact, n) => decider.evolve(held, fact, 1000 * (n + 1)), decider.initial)
  return {
    after,
    decide: (facts: readonly Fact[], command: Fact) => {
      const decision = decider.decide(after(...facts), command)
      return decision.ok ? decision.events : decision.fault
    },
    /** The view rows that the last of the facts changes. */
    rows: (...facts: readonly Fact[]) => {
      const before = after(...facts.slice(0, -1))
      return decider.rows(before, decider.evolve(before, facts.at(-1)!, 1000 * facts.length))
    },
  }
}

/** A comparison of a handle, or of an image, counts only under the mark that the deployable had when it was begun. */
export const markOf = ({ state, arq, pending, pendingSince, quarantine }: State): string =>
  [state, arq, pending?.number, pendingSince, quarantine?.at].join(' ')
export const imageMark = ({ bitstreamId, loads = 0 }: State): string => `${loads} ${bitstreamId ?? 'unknown'}`
