/**
 * Asks again who a caller is whose stream of events is open: its token may have expired or been revoked, and its roles
 * may have been taken away.
 */
import type { Caller } from '../actors/control.ts'
import type { IdentifyAgain } from '../actors/events.ts'
import type { HttpRefused } from './faults.ts'
import type { Identity } from './identity.ts'

type Parts = {
  readonly identify: () => Promise<Identity | HttpRefused>
  /** The caller whom the identity makes; null: it may not make this request. */
  readonly callerFor: (identity: Identity) => Caller | null
}

/** What decides which events a caller sees. */
const seeing = ({ userId, projectId, isAdmin }: Caller): string => JSON.stringify([userId, projectId, isAdmin])

export const identifyAgainAs =
  (began: Caller, { identify, callerFor }: Parts): IdentifyAgain =>
  async () => {
    const identity = await identify()
    // a caller who cannot be identified at present comes back, and is answered as every request is then
    if ('fault' in identity) return identity.fault.kind === 'unauthenticated' ? 'expired' : 'failed'
    const caller = callerFor(identity)
    return caller !== null && seeing(caller) === seeing(began) ? null : 'rights'
  }
