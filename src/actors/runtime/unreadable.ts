/** A failed read of the store: the error with which ports reject, its log entry, and the answer to the caller. */
import type { Fault, Outcome } from '../../vocabulary/fault.ts'
import type { Log } from '../../vocabulary/log.ts'

/** The error with which `Journal` and `Reads` reject when the store cannot be read. The message names the cause. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
  /** The same read fails again however often it is repeated: the program or the database is at fault. */
  readonly permanent: boolean
  constructor(message: string, { permanent = false, cause }: { permanent?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.permanent = permanent
  }
}

/** The answer to a client for a read that may succeed later. */
const REASONS = {
  journal: 'the journal does not answer',
  views: 'the views cannot be read',
  measurements: 'the measurements cannot be read',
} as const
type Part = keyof typeof REASONS

export const UNAVAILABLE: Fault = { kind: 'unavailable', reason: REASONS.journal, retryAfterSeconds: 1 }
export const faultOf = ({ permanent, message }: Unreadable, part: Part): Fault =>
  permanent ? { kind: 'broken', reason: message } : { kind: 'unavailable', reason: REASONS[part], retryAfterSeconds: 1 }

/** Returns the outcome, or the fault of a failed read. Any other exception is a bug and is thrown on. */
export type Guard = <Value>(work: Promise<Outcome<Value>>, part: Part, detail?: object) => Promise<Outcome<Value>>

/** Each failed read is logged once, however many callers waited for it. */
export const createGuard = (log: Log): Guard => {
  const logged = new WeakSet<Unreadable>()
  return async (work, part, detail = {}) => {
    try {
      return await work
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      const { permanent, message } = error
      if (!logged.has(error))
        log[permanent ? 'error' : 'warn']({ ...detail, permanent, error: message }, `${part}.unreadable`)
      logged.add(error)
      return { ok: false, fault: faultOf(error, part) }
    }
  }
}
