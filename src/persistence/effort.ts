/**
 * How much is spent on a query that the database rolled back, to find out which of its parts is at fault. A fault that never passes is
 * pursued to its end. One that passes (a full disk, a time-out) is pursued only a little, since all parts may meet the same.
 */
import type { Failure } from './sql.ts'

/** Enough to find two parts at fault among 512. */
const STATEMENTS = 24
/** Shorter than the wait for a lock or a time-out: a search among statements that take so long would keep all others waiting. */
const MS = 2_500

export type Effort = {
  /** Whether to ask again for each half of the parts. */
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
