/** Given these facts, when this is asked, then these facts follow, or the refusal. */
import { expect } from 'vitest'
import type { Decider, Event } from '../src/actors/runtime/decider.ts'

export const specOf = <State, Command, E extends Event>(decider: Decider<State, Command, E>, at = 1) => ({
  given: (...facts: readonly E[]) => {
    const state = facts.reduce<State>((held, fact) => decider.evolve(held, fact, at), decider.initial)
    const when = (command: Command) => ({
      follows: (...events: readonly E[]) => expect(decider.decide(state, command)).toEqual({ ok: true, events }),
      isRefused: (fault: object) => expect(decider.decide(state, command)).toMatchObject({ ok: false, fault }),
    })
    return { state, when }
  },
})
