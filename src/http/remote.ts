/**
 * The address that a request came from, by which callers who are not identified yet share what is limited.
 *
 * REMOTE-1 behind proxies that are trusted (`api.proxy_headers`), it is the last address that they state: the one that
 *    the nearest proxy has seen itself. Earlier ones may be invented by the client;
 * REMOTE-2 of an IPv6 address only the network (/64) counts, because one client has all addresses of it.
 */
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { isIPv6 } from 'node:net'
import { parseForwarded } from './forwarded.ts'
import type { Header } from './identity.ts'

/** Requests inside the process, as those of the console, have no address. */
const INSIDE = 'inside'
const LONGEST = 64

/** The first four groups of an IPv6 address; an IPv4 address in IPv6 notation as IPv4. */
const network = (address: string): string => {
  const bare = address.replace(/^\[|\](:\d+)?$/g, '').replace(/%.*$/, '')
  const embedded = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)
  if (embedded !== null) return embedded[1]!
  if (!isIPv6(bare)) return bare.replace(/:\d+$/, '').slice(0, LONGEST)
  const { hostname } = new URL(`http://[${bare}]`)
  const [head = '', tail] = hostname.slice(1, -1).split('::')
  const groups = head === '' ? [] : head.split(':')
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length)
  const all = [...groups, ...Array.from({ length: missing }, () => '0'), ...(tail ? tail.split(':') : [])]
  return `${all.slice(0, 4).join(':')}::/64`
}

const stated = (header: Header): string | undefined => {
  const forwarded = header('forwarded')
  if (forwarded !== undefined) return parseForwarded(forwarded)?.at(-1)?.get('for')
  return header('x-forwarded-for')?.split(',').at(-1)?.trim()
}

export const remoteOf = (c: Context, { proxyHeaders }: { readonly proxyHeaders: boolean }): string => {
  const { incoming } = (c.env ?? {}) as Partial<HttpBindings>
  const address = (proxyHeaders && stated((name) => c.req.header(name))) || incoming?.socket?.remoteAddress
  return address === undefined ? INSIDE : network(address)
}
