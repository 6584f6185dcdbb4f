/**
 * How this program asks Nova.
 *
 * NOVA-ACCOUNT-1 with an account in the cloud, Nova is asked with the token of the session, at `nova.url` or, without
 *    it, at the address in the catalogue;
 * NOVA-ACCOUNT-2 a token of its own (`nova.token_file`, or `x-auth-token` in `nova.headers`) needs `nova.url`, and is
 *    then used in place of that of the session;
 * NOVA-ACCOUNT-3 in all cases Nova is asked through a circuit breaker, with the CA certificates of the cloud.
 */
import type { Clock } from '../../vocabulary/clock.ts'
import type { Log } from '../../vocabulary/log.ts'
import { COMPUTE_SERVICE, directly, inCatalogue, type NovaCall } from '../../neighbours/novaCall.ts'
import { createCircuit } from '../../neighbours/openstack/circuit.ts'
import { createSender } from '../../neighbours/openstack/send.ts'
import type { Session } from '../../neighbours/openstack/session.ts'
import { repeatedly } from '../../vocabulary/waiting.ts'
import type { Closer } from '../closer.ts'
import type { Config } from '../config/config.ts'
import { ASKED_AGAIN_MS } from './session.ts'

type Options = Config['nova']
type Parts = {
  readonly nova: Options
  readonly keystone: Pick<NonNullable<Config['keystone']>, 'ca'> | null
  readonly clock: Clock
  readonly log: Log
  readonly open: Pick<Closer, 'add'>
}
/** `whyFailing`: why Nova cannot be used at present; null: it can, or was not asked yet. */
export type NovaAccess = { readonly call: NovaCall; readonly whyFailing: () => string | null }

const hasOwnToken = ({ tokenFile, headers }: Options): boolean =>
  tokenFile !== null || Object.keys(headers).some((name) => name.toLowerCase() === 'x-auth-token')
/** Whether Nova is asked with the account in `keystone_authtoken` (NOVA-ACCOUNT-1). */
export const isThroughSession = ({ nova, keystone }: Pick<Parts, 'nova' | 'keystone'>): boolean =>
  keystone !== null && (nova.url === null || !hasOwnToken(nova))
/** The address at which the session asks Nova, if it is not the one in the catalogue. */
export const novaEndpoint = (nova: Options): Readonly<Record<string, string>> =>
  nova.url === null ? {} : { [COMPUTE_SERVICE]: nova.url }

/**
 * Asks Nova at its configured address, without the session. While Nova does not answer it is called again, so that its
 * recovery is noticed.
 */
const besideSession = (url: string, { nova, keystone, clock, log, open }: Parts): NovaAccess => {
  const sender = createSender(keystone?.ca ?? null)
  open.add(sender.close)
  const circuit = createCircuit(COMPUTE_SERVICE, clock, log)
  let refused = false
  const call = directly({
    ...nova,
    url,
    send: async (request) => {
      const answer = await circuit.run(() => sender.send(request))
      refused = answer.status === 401
      return answer
    },
  })
  const whyFailing = () =>
    circuit.whyFailing() ?? (refused ? 'it answers 401: it refuses the token, or wants one' : null)
  const stop = repeatedly(clock, { everyMs: ASKED_AGAIN_MS }, async () => {
    // the circuit records the result
    if (whyFailing() !== null) await call({ method: 'GET', path: '/' }).catch(() => undefined)
  })
  open.add(stop)
  return { call, whyFailing }
}

/** Null: there is no Nova. `session`: one that was opened with `novaEndpoint`, or null. */
export const openNova = (parts: Parts, session: Pick<Session, 'call' | 'whyFailing'> | null): NovaAccess | null => {
  const { nova } = parts
  if (session === null || !isThroughSession(parts)) return nova.url === null ? null : besideSession(nova.url, parts)
  return { call: inCatalogue(session, nova), whyFailing: () => session.whyFailing()[COMPUTE_SERVICE] ?? null }
}
