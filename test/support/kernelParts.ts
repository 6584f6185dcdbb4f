/** What stubs of parts of a kernel answer. */
import { type Fault, refuse } from '../../src/fault.ts'

/** The fault of a store that does not answer. */
export const AWAY: Fault = { kind: 'unavailable', reason: 'away', retryAfterSeconds: 1 }
export const REFUSED_AWAY = refuse(AWAY)
