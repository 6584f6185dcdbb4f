/** A Hono application on a socket, and its orderly end. */
import { createAdaptorServer } from '@hono/node-server'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Hono's applications are. */
export type App = { readonly fetch: (request: Request) => Response | Promise<Response> }
export type Address = { readonly host: string; readonly port: number }
export type Listening = Address & {
  /** Takes no new connection, lets requests in hand end, and cuts what is left after `graceMs`. */
  readonly close: (graceMs: number) => Promise<void>
}

/** Above Nova's own time-outs nobody waits any more. */
const REQUEST_MS = 120_000
const HEADERS_MS = 20_000
const KEEP_ALIVE_MS = 75_000

/** Rejects when the address cannot be listened on. */
export const listen = async (app: App, { host, port }: Address): Promise<Listening> => {
  const server = createAdaptorServer({ fetch: app.fetch, hostname: host }) as Server
  server.requestTimeout = REQUEST_MS
  server.headersTimeout = HEADERS_MS
  server.keepAliveTimeout = KEEP_ALIVE_MS
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const close = async (graceMs: number) => {
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
    server.closeIdleConnections()
    const cut = setTimeout(() => server.closeAllConnections(), graceMs)
    await closed
    clearTimeout(cut)
  }
  return { host, port: (server.address() as AddressInfo).port, close }
}

/** As it stands in a URL: an IPv6 address in brackets. */
export const urlOf = ({ host, port }: Address): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`
