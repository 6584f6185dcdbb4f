/**
 * Decides for several entities in one append: borrows all memories, decides for all, appends all rows at once, gives
 * the new memories back.
 *
 * UNIT-1 a unit is a plain function and never runs inside a participant; it borrows all keys at once and no further key
 *    later;
 * UNIT-2 only the unit appends, so a borrow that times out has certainly written nothing;
 * UNIT-3 each time limit is longer than the ones inside it: statement < hold < ask < HTTP;
 * UNIT-4 entities that are not in memory are read in one query together with the tails of all the others, which often
 *    avoids a fence.
 */
import type { EntityKey } from '../../vocabulary/identifiers.ts'
import type { Outcome } from '../../vocabulary/fault.ts'
import { type AnyDecider, type Loan, type Memory, blank, unread } from './memory.ts'
import type { Region } from './region.ts'
import { type Counted, type Work, commit } from './commit.ts'
import type { Guard } from './unreadable.ts'

export type Units = {
  /**
   * `value` null: this command was carried out before. `fresh`: keys that were just created, which take part without
   * being borrowed. `likelyNew`: borrowed keys that most likely have no rows in the journal; they are read only if a
   * decision needs it.
   */
  readonly together: <Value>(
    keys: readonly EntityKey[],
    work: Work<Value>,
    fresh?: readonly EntityKey[],
    likelyNew?: readonly EntityKey[],
  ) => Promise<Outcome<Value | null>>
  /**
   * As `together`, for keys that were just created. No other code can know them, so nothing is borrowed or read. Should
   * one exist nevertheless, the append is fenced.
   */
  readonly createTogether: <Value>(keys: readonly EntityKey[], work: Work<Value>) => Promise<Outcome<Value | null>>
}

export const createUnits = (
  region: Region,
  journal: Counted,
  deciderOf: (key: EntityKey) => AnyDecider,
  guard: Guard,
): Units => ({
  together: async (keys, work, fresh = [], likelyNew = []) => {
    const { promise: returned, resolve: giveBack } = Promise.withResolvers<Loan | 'doubt'>()
    try {
      for (const key of keys) region.warm(unread(key, deciderOf(key)))
      const borrowed = await region.borrow(keys, returned)
      if (!borrowed.ok) return borrowed
      const memories = borrowed.value
      const cold = keys.some((key) => memories.get(key)!.unread && !likelyNew.includes(key))
      const made = fresh.map((key) => [key, blank(key, deciderOf(key))] as const)
      const committed = commit(new Map([...memories, ...made]), deciderOf, journal, work, cold)
      const answered = committed.then(({ loan, outcome }) => {
        giveBack(loan)
        return outcome
      })
      return await guard(answered, 'journal')
    } finally {
      giveBack('doubt')
    }
  },
  createTogether: async (keys, work) => {
    const fresh: Loan = new Map<EntityKey, Memory>(keys.map((key) => [key, blank(key, deciderOf(key))]))
    const committed = commit(fresh, deciderOf, journal, work)
    const answered = committed.then(({ loan, outcome }) => {
      if (outcome.ok) for (const memory of loan.values()) region.warm(memory)
      return outcome
    })
    return guard(answered, 'journal')
  },
})
