/**
 * A dry run decides everything as the change would, and then ends its plan with a refusal, so that nothing is recorded.
 */
import { type Fault, type Outcome, done } from '../../vocabulary/fault.ts'

/** The refusal that ends an accepted plan of a dry run. */
export const WOULD_BE_DONE: Fault = { kind: 'conflict', reason: 'a dry run records nothing' }

/**
 * The reason of the 409 with which the change would be refused; null: it would be made. Any other fault is the answer
 * itself.
 */
export const refusalFound = (tried: Outcome<unknown>): Outcome<string | null> => {
  if (tried.ok || tried.fault === WOULD_BE_DONE) return done(null)
  return tried.fault.kind === 'conflict' ? done(tried.fault.reason) : tried
}
