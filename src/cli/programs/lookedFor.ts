/**
 * Checks at the start, and from time to time, whether the catalogue has the services that this program would use, and
 * logs changes.
 */
import type { Clock } from '../../vocabulary/clock.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { Session } from '../../neighbours/openstack/session.ts'
import { repeatedly } from '../../vocabulary/waiting.ts'
import type { Closer } from '../closer.ts'

type Parts = {
  readonly session: Pick<Session, 'entry' | 'lacks'>
  /** The types of the services in the catalogue. */
  readonly services: readonly string[]
  readonly clock: Clock
  readonly log: Log
  readonly open: Pick<Closer, 'add'>
}

/** The catalogue comes with the token of the session, so a check causes a request only when the token is renewed. */
const LOOK_MS = 30_000

export const lookForServices = ({ session, services, clock, log, open }: Parts): void => {
  const absent = new Set<string>()
  const tell = (service: string): void => {
    const lacking = session.lacks(service)
    if (lacking === absent.has(service)) return
    if (lacking) {
      absent.add(service)
      log.warn({ neighbour: service }, 'neighbour.absent')
    } else {
      absent.delete(service)
      log.info({ neighbour: service }, 'neighbour.present')
    }
  }
  const stop = repeatedly(clock, { everyMs: LOOK_MS }, async (isStopped) => {
    // the session logs why there is no token, and remembers which services the catalogue lacks
    await Promise.allSettled(services.map(session.entry))
    if (!isStopped()) for (const service of services) tell(service)
  })
  open.add(stop)
}
