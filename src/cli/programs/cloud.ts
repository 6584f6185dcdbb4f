/**
 * The cloud that the service is part of: its session there, the identification of callers, and the receiver of bind
 * results.
 */
import type { Nova, NovaServers } from '../../actors/neighbours.ts'
import type { Placement } from '../../actors/placement/port.ts'
import type { Clock } from '../../vocabulary/clock.ts'
import type { Identify } from '../../http/identity.ts'
import { noauth } from '../../http/identity.ts'
import { tokenIdentity } from '../../http/tokenIdentity.ts'
import type { Log } from '../../vocabulary/log.ts'
import { novaThrough } from '../../neighbours/nova.ts'
import { COMPUTE_SERVICE } from '../../neighbours/novaCall.ts'
import { serversThrough } from '../../neighbours/novaServers.ts'
import { createPlacement } from '../../neighbours/openstack/placement.ts'
import type { Session } from '../../neighbours/openstack/session.ts'
import { type CountedTokens, createTokens } from '../../neighbours/openstack/tokens.ts'
import type { Closer } from '../closer.ts'
import type { Config } from '../config/config.ts'
import { lookForServices } from './lookedFor.ts'
import { novaEndpoint, openNova } from './nova.ts'
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
  /** Why Nova cannot be used at present; null: it can, was not asked yet, or there is none. */
  readonly novaFailing: () => string | null
  /** The services of the cloud that do not answer; null: no such service is known. */
  readonly whyFailing: () => string | null
  /** How many tokens of callers were refused, by kind; null: tokens are not validated. */
  readonly tokensRefused: CountedTokens['refused'] | null
}
/** The type of this service in the catalogue. */
export const SERVICE_TYPE = 'accelerator'

type Parts = {
  readonly config: Pick<Config, 'auth' | 'keystone' | 'http' | 'nova' | 'placement'>
  readonly clock: Clock
  readonly log: Log
  readonly open: Closer
}

/** The session names Nova too where Nova is asked through it. */
const ailing = (session: Session | null, novaFailing: Cloud['novaFailing']): string | null => {
  const [reason, failing] = [novaFailing(), session && ailingOf(session)]
  if (reason === null || session?.whyFailing()[COMPUTE_SERVICE] !== undefined) return failing
  return [...(failing === null ? [] : [failing]), `${COMPUTE_SERVICE}: ${reason}`].join('; ')
}

export const openCloud = ({ config, clock, log, open }: Parts): Cloud => {
  const { auth, keystone, http, nova, placement } = config
  const session = openSession({ keystone, endpoints: novaEndpoint(nova), clock, log, open })
  const isUsed = auth === 'keystone' || nova.url !== null
  const access = isUsed ? openNova({ nova, keystone, clock, log, open }, session) : null
  const novaFailing = () => access?.whyFailing() ?? null
  const common = {
    nova: access && novaThrough(access.call, nova.timeoutMs),
    novaServers: access && serversThrough(access.call, nova.timeoutMs),
    session,
    novaFailing,
    whyFailing: () => ailing(session, novaFailing),
  }
  if (auth !== 'keystone' || keystone === null || session === null)
    return { ...common, identify: noauth, placement: null, tokensRefused: null }
  const tokens = createTokens({ session, cache: keystone.cache, clock, log })
  const { serviceTokenRoles } = http
  const services = [...(placement.enabled ? ['placement'] : []), ...(nova.url === null ? [COMPUTE_SERVICE] : [])]
  lookForServices({ session, services, clock, log, open })
  return {
    ...common,
    identify: tokenIdentity(tokens, { authUrl: keystone.challengeUrl, serviceType: SERVICE_TYPE, serviceTokenRoles }),
    placement: placement.enabled ? createPlacement(session, keystone.session.timeoutMs) : null,
    tokensRefused: tokens.refused,
  }
}
