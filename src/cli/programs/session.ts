/** The session of a program with the cloud, and the services of the cloud that do not answer. */
import type { Clock } from '../../vocabulary/clock.ts'
import type { Log } from '../../vocabulary/log.ts'
import { createSender } from '../../neighbours/openstack/send.ts'
import { createSession, type Session, type SessionOptions } from '../../neighbours/openstack/session.ts'
import { createStream } from '../../neighbours/openstack/stream.ts'
import { repeatedly } from '../../vocabulary/waiting.ts'
import type { Closer } from '../closer.ts'
import type { KeystoneOptions } from '../config/keystone.ts'

type Parts = {
  /** Null: there is no cloud. */
  readonly keystone: Pick<KeystoneOptions, 'session' | 'ca'> | null
  /** URLs that are used instead of those in the catalogue, by the type of the service. */
  readonly endpoints?: SessionOptions['endpoints']
  readonly clock: Clock
  readonly log: Log
  readonly open: Pick<Closer, 'add'>
}

/** As long as the longest pause of a circuit breaker (`circuit.ts`). */
export const ASKED_AGAIN_MS = 15_000
/**
 * Calls services that count as unreachable again. Otherwise a program that no longer needs a service, because another
 * program does the work, would report it as unreachable for ever.
 */
const askAgain = (session: Session, { clock, open }: Pick<Parts, 'clock' | 'open'>): void => {
  const one = (service: string): Promise<unknown> =>
    service === 'identity' ? session.ask('/') : session.call({ service, method: 'GET', path: '/' })
  const stop = repeatedly(clock, { everyMs: ASKED_AGAIN_MS }, async () => {
    // the session records the results
    await Promise.allSettled(Object.keys(session.whyFailing()).map(one))
  })
  open.add(stop)
}

export const openSession = ({ keystone, endpoints = {}, clock, log, open }: Parts): Session | null => {
  if (keystone === null) return null
  const { send, agent, close } = createSender(keystone.ca)
  open.add(close)
  const options = { ...keystone.session, endpoints: { ...keystone.session.endpoints, ...endpoints } }
  const session = createSession({ options, send, stream: createStream(agent), clock, log })
  askAgain(session, { clock, open })
  return session
}
export const ailingOf = (session: Session): string | null =>
  Object.entries(session.whyFailing())
    .map(([name, reason]) => `${name}: ${reason}`)
    .join('; ') || null
