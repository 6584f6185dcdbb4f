/** Given these facts, when this is asked, then these facts follow, or the refusal. */
import { expect } from 'vitest'
import { ENTITIES } from '../src/actors/entities.ts'
import type { AnyDecider } from '../src/actors/runtime/memory.ts'

/** A fact or a command of any entity. */
// oxlint-disable-next-line typescript/no-explicit-any -- what entities of different kinds are told
export type Said = { readonly type: string } & Readonly<Record<string, any>>

export const specOf = (of: string | AnyDecider, at = 1) => {
  const decider = typeof of === 'string' ? ENTITIES[of]! : of
  // oxlint-disable-next-line typescript/no-explicit-any -- states of different entities
  const after = (held: any, ...facts: readonly Said[]): any =>
    facts.reduce((reached, fact) => decider.evolve(reached, fact, at), held)
  const given = (...facts: readonly Said[]) => {
    const state = after(decider.initial, ...facts)
    const when = (command: Said) => ({
      follows: (...events: readonly Said[]) => expect(decider.decide(state, command)).toEqual({ ok: true, events }),
      isRefused: (fault: object) => expect(decider.decide(state, command)).toMatchObject({ ok: false, fault }),
    })
    return { state, when }
  }
  /** The view rows that the last of the facts changes. */
  const rows = (...facts: readonly Said[]) => decider.rows(given(...facts.slice(0, -1)).state, given(...facts).state)
  /** When it is due by itself: the row of that view. */
  const due = (...facts: readonly Said[]) =>
    decider.rows(decider.initial, given(...facts).state).find(({ view, row }) => view === 'due' && row !== null)?.row ??
    null
  return { given, after, rows, due, decide: decider.decide, initial: decider.initial }
}
