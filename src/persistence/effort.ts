/**
 * Limits the search for the faulty part of a query that the database rolled back. A fault that never passes is searched
 * for to the end. One that passes (a full disk, a time-out) is searched for only briefly, since it may hit all parts
 * alike.
 */
import type { Failure } from './sql.ts'

/** The most failed statements in the search for a fault that passes: enough to find two faulty parts among 512. */
const STATEMENTS = 24
/**
 * The most time for such a search. It is shorter than one wait for a lock or a time-out: other appends would wait for a
 * longer search.
 */
const MS = 2_500

export type Effort = {
  /** Whether to send each half of the parts in a query of its own. */
  readonly worth: (failure: Failure, parts: number) => boolean
}

export const openEffort = (): Effort => {
  const until = performance.now() + MS
  let left = STATEMENTS
  return {
    worth: (failure, parts) => {
      if (parts < 2) return false
      return failure === 'refused' || (failure === 'rolled back' && --left > 0 && performance.now() < until)
    },
  }
}
