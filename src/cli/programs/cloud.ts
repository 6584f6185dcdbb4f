/** The cloud that the service is part of: its session there, the identification of callers, and the receiver of bind results. */
import type { Nova, NovaServers } from '../../actors/neighbours.ts'
import type { Placement } from '../../actors/placement/port.ts'
import type { Clock } from '../../clock.ts'
import type { Identify } from '../../http/identity.ts'
import { noauth } from '../../http/identity.ts'
import { tokenIdentity } from '../../http/tokenIdentity.ts'
import type { Log } from '../../log.ts'
import { createNova, novaInCatalogue } from '../../neighbours/nova.ts'
import { createNovaServers, novaServersInCatalogue } from '../../neighbours/novaServers.ts'
import { createPlacement } from '../../neighbours/openstack/placement.ts'
import type { Session } from '../../neighbours/openstack/session.ts'
import { createTokens } from '../../neighbours/openstack/tokens.ts'
import type { Closer } from '../closer.ts'
import type { Config } from '../config/config.ts'
import { lookForServices } from './lookedFor.ts'
import { ailingOf, openSession } from './session.ts'

export type Cloud = {
  readonly identify: Identify
  /** Null: bind results are sent to nobody. */
  readonly nova: Nova | null
  /** Null: there is no Nova to ask about servers. */
  readonly novaServers: NovaServers | null
  /** Null: nothing is written to Placement. */
  readonly placement: Placement | null
  /** Null: the service has no account in a cloud. */
  readonly session: Session | null
  /** The services of the cloud that do not answer; null: no such service is known. */
  readonly whyFailing: () => string | null
}
/** The type of this service in the catalogue. */
export const SERVICE_TYPE = 'accelerator'

type Parts = {
  readonly config: Pick<Config, 'auth' | 'keystone' | 'http' | 'nova' | 'placement'>
  readonly clock: Clock
  readonly log: Log
  readonly open: Closer
}

export const openCloud = ({ config: { auth, keystone, http, nova, placement }, clock, log, open }: Parts): Cloud => {
  const { url, ...rest } = nova
  const configured = url === null ? null : createNova({ ...rest, url })
  const asked = url === null ? null : createNovaServers({ ...rest, url })
  const session = openSession({ keystone, clock, log, open })
  const whyFailing = () => session && ailingOf(session)
  if (auth !== 'keystone' || keystone === null || session === null)
    return { identify: noauth, nova: configured, novaServers: asked, placement: null, session, whyFailing }
  const tokens = createTokens({ session, cache: keystone.cache, clock, log })
  const { serviceTokenRoles } = http
  const services = [...(placement.enabled ? ['placement'] : []), ...(configured === null ? ['compute'] : [])]
  lookForServices({ session, services, clock, log, open })
  return {
    identify: tokenIdentity(tokens, { authUrl: keystone.challengeUrl, serviceType: SERVICE_TYPE, serviceTokenRoles }),
    nova: configured ?? novaInCatalogue(session, nova),
    novaServers: asked ?? novaServersInCatalogue(session, nova),
    placement: placement.enabled ? createPlacement(session, keystone.session.timeoutMs) : null,
    session,
    whyFailing,
  }
}
