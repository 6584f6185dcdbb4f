/**
 * Several entities, one append: borrow all memories, decide for all, append all rows at once, give the new memories back.
 *
 * UNIT-1 a unit is a plain function, never run inside a participant; it borrows all keys at once and never one more later;
 * UNIT-2 only the unit appends: a borrow that times out has certainly written nothing;
 * UNIT-3 bounds in order: statement < hold < ask < HTTP;
 * UNIT-4 what nobody here remembers is read with the tails of all the others, at once: a read that is needed anyway spares a fence.
 */
import type { Outcome } from '../../fault.ts'
import { type AnyDecider, type Loan, type Memory, blank, unread } from './memory.ts'
import type { Region } from './region.ts'
import { type Counted, UNAVAILABLE, Unreadable, type Work, commit } from './commit.ts'

export type Units = {
  /**
   * `value` null: this command was carried out before. `fresh`: keys made a moment ago, which take part without being borrowed.
   * `likelyNew`: borrowed keys of which the journal hardly knows anything; read only when a decision cannot do without.
   */
  readonly together: <Value>(
    keys: readonly string[],
    work: Work<Value>,
    fresh?: readonly string[],
    likelyNew?: readonly string[],
  ) => Promise<Outcome<Value | null>>
  /** As `together`, for keys made a moment ago: nobody can know them, so nothing is borrowed or read; the fence covers the lie. */
  readonly createTogether: <Value>(keys: readonly string[], work: Work<Value>) => Promise<Outcome<Value | null>>
}

/** That the journal cannot be read is said to the caller; whatever else is thrown is a bug. */
const answered = async <Value>(work: Promise<Outcome<Value>>): Promise<Outcome<Value>> => {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof Unreadable) return { ok: false, fault: UNAVAILABLE }
    throw cause
  }
}

export const createUnits = (region: Region, journal: Counted, deciderOf: (key: string) => AnyDecider): Units => ({
  together: async (keys, work, fresh = [], likelyNew = []) => {
    const { promise: returned, resolve: giveBack } = Promise.withResolvers<Loan | 'doubt'>()
    try {
      for (const key of keys) region.warm(unread(key, deciderOf(key)))
      const borrowed = await region.borrow(keys, returned)
      if (!borrowed) return { ok: false, fault: UNAVAILABLE }
      const cold = keys.some((key) => borrowed.get(key)!.unread && !likelyNew.includes(key))
      const made = fresh.map((key) => [key, blank(key, deciderOf(key))] as const)
      const settled = commit(new Map([...borrowed, ...made]), deciderOf, journal, work, cold)
      return await answered(
        settled.then(({ loan, outcome }) => {
          giveBack(loan)
          return outcome
        }),
      )
    } finally {
      giveBack('doubt')
    }
  },
  createTogether: async (keys, work) => {
    const fresh: Loan = new Map<string, Memory>(keys.map((key) => [key, blank(key, deciderOf(key))]))
    const settled = commit(fresh, deciderOf, journal, work)
    return answered(
      settled.then(({ loan, outcome }) => {
        if (outcome.ok) for (const memory of loan.values()) region.warm(memory)
        return outcome
      }),
    )
  },
})
