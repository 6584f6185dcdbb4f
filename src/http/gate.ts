/**
 * Judges, before anything else of a request is read, the host that it is addressed to and the page that it comes from.
 *
 * Without authentication, every program on this machine may do everything. A browser is such a program: a page of any
 * site can make it send requests here. Browsers name the page in headers that the page cannot change; other clients
 * send no such headers.
 *
 * GATE-1 `Host` must name this machine or a configured name, so that a name which an attacker resolves to 127.0.0.1
 *    (DNS rebinding) is refused;
 * GATE-2 `Origin`, if it is sent, must be the host that the request is addressed to, or a configured name;
 * GATE-3 `Sec-Fetch-Site: cross-site` is refused.
 */
import { refused } from './faults.ts'
import type { HttpRefused } from './faults.ts'
import type { Header } from './identity.ts'

/** The refusal of a request that must not be served; null: it may be served. */
export type Gate = (header: Header) => HttpRefused | null

/** A name, an IPv4 address, or an IPv6 address in brackets, with or without a port. */
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[^\s:/?#@[\]]+)(?::\d{1,5})?$/i

/** `localhost` is recognized by its name. Other names are not resolved. */
export const isLoopback = (host: string): boolean =>
  /^127(\.\d{1,3}){3}$/.test(host) || host === '::1' || host.toLowerCase() === 'localhost'

const hostOf = (authority: string): string | null =>
  AUTHORITY.exec(authority)?.[1]?.replace(/[[\]]/g, '').toLowerCase() ?? null

/** An origin without a host, as `file://`, is from nowhere: the host of a file on `localhost` is empty as well. */
const isFrom = (origin: URL, authority: string | undefined): boolean =>
  authority !== undefined && origin.host !== '' && URL.parse(`${origin.protocol}//${authority}`)?.host === origin.host

const denied = (rule: string): HttpRefused => refused({ kind: 'forbidden', rule })
const FOREIGN_HOST = denied('The Host header names neither this machine nor a host of api.trusted_hosts.')
const FOREIGN_ORIGIN = denied('The Origin header names another site than the one that was addressed.')
const CROSS_SITE = denied('A browser sent this for a page of another site.')

export type GateOptions = {
  /** Allowed names in addition to those of this machine, in lower case. */
  readonly trustedHosts: readonly string[]
  /** Only GATE-2 and GATE-3 apply, because the service is reachable under names that are not configured. */
  readonly anyHost: boolean
}

export const gateOf = ({ trustedHosts, anyHost }: GateOptions): Gate => {
  const trusted: ReadonlySet<string | null> = new Set(trustedHosts.map((host) => host.toLowerCase()))
  const isOurs = (host: string | null) => host !== null && (isLoopback(host) || trusted.has(host))
  const isKnownOrigin = (text: string, authority: string | undefined): boolean => {
    const origin = URL.parse(text)
    return origin !== null && (isFrom(origin, authority) || trusted.has(hostOf(origin.host)))
  }
  return (header) => {
    const [authority, origin] = [header('host'), header('origin')]
    if (!anyHost && authority !== undefined && !isOurs(hostOf(authority))) return FOREIGN_HOST
    if (origin !== undefined && !isKnownOrigin(origin, authority)) return FOREIGN_ORIGIN
    return header('sec-fetch-site')?.trim().toLowerCase() === 'cross-site' ? CROSS_SITE : null
  }
}
