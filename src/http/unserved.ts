/**
 * Answers requests that are broken at the HTTP level, so that the server refuses them before a route sees them. The
 * answers have the same shape as all other errors, with a request id, and the connection is closed.
 *
 * A connection gets at most one such answer, because after a request that cannot be parsed it is unknown where the next
 * one begins.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { maxHeaderSize, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { RequestError } from '@hono/node-server'
import type { Clock, Ids } from '../vocabulary/clock.ts'
import { textOf } from '../vocabulary/errorText.ts'
import type { Log } from '../vocabulary/log.ts'
import { errorAnswer } from './faults.ts'
import type { HttpFault } from './faults.ts'

/** The error that Node's server reports for a request that it cannot parse. */
type ClientError = Error & { readonly code?: string; readonly reason?: string }

export type Unserved = {
  /** Handles the `clientError` event of a server. */
  readonly unreadable: (error: ClientError, socket: Socket) => void
  /**
   * Handles the `checkExpectation` event: the client sent an `Expect` header with an expectation that is not supported.
   */
  readonly unexpected: (incoming: IncomingMessage, outgoing: ServerResponse) => void
  /**
   * True when the request was refused. HTTP/1.1 needs a Host header (RFC 9112 3.2). A target that is a whole URL must
   * name the same host, because the gate checks the header, while links are made from the target.
   */
  readonly misaddressed: (incoming: IncomingMessage, outgoing: ServerResponse) => boolean
  /**
   * For an error before routing: the target and the Host header do not form a URL, or the application threw, which is a
   * bug.
   */
  readonly failed: (error: unknown) => Response
}

/**
 * How long a refused client may continue to send. If the connection were closed at once, unread bytes would make the
 * operating system discard the answer.
 */
const LINGER_MS = 1000

const MISDIRECTED: HttpFault = { kind: 'unreadable', reason: 'its target and its Host header make no URL' }
const faultOf = ({ code, reason }: ClientError): HttpFault => {
  if (code === 'HPE_HEADER_OVERFLOW') return { kind: 'headers_too_large', limitBytes: maxHeaderSize }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { kind: 'too_slow' }
  return { kind: 'unreadable', reason: reason ?? 'it breaks the grammar of HTTP' }
}

const addressProblem = ({ httpVersion, headers: { host }, url }: IncomingMessage): string | null => {
  if (httpVersion === '1.1' && host === undefined) return 'it has no Host header'
  const named = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url!)?.[1]
  return named === undefined || named.toLowerCase() === host?.toLowerCase()
    ? null
    : 'its target and its Host header name different hosts'
}

type Parts = { readonly ids: Ids; readonly clock: Pick<Clock, 'after' | 'monotonic' | 'now'>; readonly log: Log }
type RawAnswer = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string }

const write = (socket: Socket, { status, headers, text }: RawAnswer, clock: Parts['clock']): void => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const date = `date: ${new Date(clock.now()).toUTCString()}`
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, date, '', text].join('\r\n'))
  socket.once(
    'close',
    clock.after(LINGER_MS, () => socket.destroy()),
  )
}

export const unserved = ({ ids, clock, log }: Parts): Unserved => {
  const refused = new WeakSet<Socket>()

  const tell = (fault: HttpFault, remote: string | undefined): RawAnswer => {
    const request = `req-${ids.uuid()}`
    const { status, text, detail } = errorAnswer(fault, request)
    log.info({ request, status, reason: detail, ...(remote !== undefined && { remote }) }, 'http.unserved')
    const headers = {
      'x-openstack-request-id': request,
      'x-content-type-options': 'nosniff',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
      connection: 'close',
    }
    return { status, headers, text }
  }
  const refuse = (fault: HttpFault, incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { status, headers, text } = tell(fault, incoming.socket.remoteAddress)
    outgoing.writeHead(status, headers).end(text)
  }

  return {
    unreadable: (error, socket) => {
      if (refused.has(socket)) return
      refused.add(socket)
      // Node stores the current response in this field and checks it in the same way. Once its headers are sent, no
      // other answer is possible.
      const { _httpMessage: inHand } = socket as Socket & { readonly _httpMessage?: ServerResponse | null }
      if (!socket.writable || error.code === 'ECONNRESET' || inHand?.headersSent) return void socket.destroy()
      write(socket, tell(faultOf(error), socket.remoteAddress), clock)
    },
    unexpected: (incoming, outgoing) =>
      refuse({ kind: 'expectation', given: incoming.headers.expect! }, incoming, outgoing),
    misaddressed: (incoming, outgoing) => {
      const reason = addressProblem(incoming)
      if (reason !== null) refuse({ kind: 'unreadable', reason }, incoming, outgoing)
      return reason !== null
    },
    failed: (error) => {
      const misdirected = error instanceof RequestError
      if (!misdirected) log.error({ err: error }, 'http.failed')
      const fault = misdirected ? MISDIRECTED : ({ kind: 'broken', reason: textOf(error) } as const)
      const { status, headers, text } = tell(fault, undefined)
      return new Response(text, { status, headers })
    },
  }
}
