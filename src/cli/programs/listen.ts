/** Serves a Hono application on a TCP socket, with an orderly shutdown. */
import { getRequestListener } from '@hono/node-server'
import { type IncomingMessage, createServer } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import type { Unserved } from '../../http/unserved.ts'
import type { Log } from '../../vocabulary/log.ts'

/** The request handler, which Hono applications implement. */
export type App = { readonly fetch: (request: Request) => Response | Promise<Response> }
export type Address = { readonly host: string; readonly port: number }
export type Listening = Address & {
  /** Accepts no new connections, lets running requests finish, and closes the remaining connections after `graceMs`. */
  readonly close: (graceMs: number) => Promise<void>
}

/** Longer than Nova's own time-outs, after which no client waits for the answer any more. */
const TIMES = { requestTimeout: 120_000, headersTimeout: 20_000, keepAliveTimeout: 75_000 }
type Times = Partial<typeof TIMES> & { readonly connectionsCheckingInterval?: number }

type Options = {
  /** Answers requests that cannot be parsed as HTTP. Without it, Node answers them with a bare status line. */
  readonly unserved?: Unserved
  readonly times?: Times
}

/** How long the rest of a request is read after its answer. */
const LINGER_MS = 1000
/**
 * Where a connection ends with an answer, Node closes it at once. If its client is still sending, as a body that is too
 * long, the unread bytes would make the operating system discard the answer: the rest is read first, and thrown away.
 */
const readToItsEnd = (incoming: IncomingMessage): void => {
  const { socket } = incoming
  socket.destroySoon = () => {
    if (incoming.complete || socket.destroyed) return void Socket.prototype.destroySoon.call(socket)
    socket.end()
    incoming.resume().once('end', () => socket.destroy())
    const cut = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once('close', () => clearTimeout(cut))
  }
}

const serverOf = (app: App, host: string, { unserved, times }: Options) => {
  const serve = getRequestListener(app.fetch, {
    hostname: host,
    ...(unserved !== undefined && { errorHandler: unserved.failed }),
  })
  const server = createServer(
    { ...TIMES, ...times, requireHostHeader: unserved === undefined },
    (incoming, outgoing) => {
      readToItsEnd(incoming)
      if (!unserved?.misaddressed(incoming, outgoing)) void serve(incoming, outgoing)
    },
  )
  if (unserved === undefined) return server
  server.on('clientError', (error, socket) => unserved.unreadable(error, socket as Socket))
  return server.on('checkExpectation', unserved.unexpected)
}

/** Rejects when the address cannot be listened on. */
export const listen = async (app: App, { host, port }: Address, options: Options = {}): Promise<Listening> => {
  const server = serverOf(app, host, options)
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

/** `chosen` false: the operator did not choose it, and another port serves as well. */
type Wanted = Address & { readonly chosen?: boolean }
/**
 * Rejects when one of the addresses cannot be listened on now, or two of them are the same. For a program that listens
 * only after longer work, which would be for nothing.
 */
export const expectFree = async (...wanted: readonly Wanted[]): Promise<void> => {
  const servers = wanted
    .filter(({ chosen = true }) => chosen)
    .map((address) => ({ ...address, server: createServer() }))
  try {
    for (const { host, port, server } of servers)
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  } finally {
    for (const { server } of servers) await new Promise((resolve) => server.close(resolve))
  }
}

/** If the default address is in use, any free port is taken, because the operator did not choose the address. */
export const listenOrElsewhere = async (
  app: App,
  address: Wanted,
  { name, log, ...options }: Options & { readonly name: string; readonly log: Log },
): Promise<Listening> => {
  try {
    return await listen(app, address, options)
  } catch (error) {
    if (address.chosen) throw error
    log.warn({ ...address, error: String(error) }, `the default ${name} address is taken, any free port is used`)
    return listen(app, { ...address, port: 0 }, options)
  }
}

/** The host as written in a URL: an IPv6 address is put in brackets. */
export const urlOf = ({ host, port }: Address): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`

const ANYWHERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }
/** The address under which this machine reaches a listener, also one that listens on all addresses. */
export const reachedAt = ({ host, port }: Address): string => urlOf({ host: ANYWHERE[host] ?? host, port })
