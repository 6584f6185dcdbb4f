/** The session of a program with the cloud, and what of the cloud does not answer. */
import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import { createSender } from '../../neighbours/openstack/send.ts'
import { createSession, type Session } from '../../neighbours/openstack/session.ts'
import { createStream } from '../../neighbours/openstack/stream.ts'
import type { Closer } from '../closer.ts'
import type { KeystoneOptions } from '../config/keystone.ts'

type Parts = {
  /** Null: there is no cloud. */
  readonly keystone: KeystoneOptions | null
  readonly clock: Clock
  readonly log: Log
  readonly open: Pick<Closer, 'add'>
}

export const openSession = ({ keystone, clock, log, open }: Parts): Session | null => {
  if (keystone === null) return null
  const { send, agent, close } = createSender(keystone.ca)
  open.add(close)
  return createSession({ options: keystone.session, send, stream: createStream(agent), clock, log })
}
export const ailingOf = (session: Session): string | null =>
  Object.entries(session.ailing())
    .map(([name, reason]) => `${name}: ${reason}`)
    .join('; ') || null
