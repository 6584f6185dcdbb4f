/** Handles what surrounds each request: its id, its trace, the headers of the answer, metrics and the log entry. */
import { isUuid } from '../vocabulary/uuid.ts'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { Control } from '../actors/control.ts'
import type { Events, EventStream } from '../actors/events.ts'
import type { Clock, Ids } from '../vocabulary/clock.ts'
import type { Log } from '../vocabulary/log.ts'
import { type Span, type Tracer, traceField } from '../vocabulary/trace.ts'
import { STREAM_HEADERS, eventBody } from './eventStream.ts'
import { errorAnswer, refused, withoutExpected500 } from './faults.ts'
import type { Gate } from './gate.ts'
import type { Identify } from './identity.ts'
import type { Observe } from './metrics.ts'
import type { Options } from './options.ts'
import type { Policy } from './policy/policy.ts'
import { remoteOf } from './remote.ts'
import type { Answered } from './route.ts'
import type { Places, ShareName } from '../vocabulary/shares.ts'
import type { Pieces, Streams } from './streams.ts'
import type { SystemPort } from './system.ts'
import { latestMinor, MAJOR } from './versions.ts'

/** The dependencies that the handling of every request needs. */
export type Ports = {
  readonly control: Control
  readonly events: Events
  readonly options: Options
  readonly policy: Policy
  readonly gate: Gate
  readonly identify: Identify
  readonly ids: Ids
  readonly clock: Pick<Clock, 'after' | 'monotonic' | 'now'>
  readonly hindered: () => string | null
  readonly about: () => Readonly<Record<string, string>>
  readonly system: SystemPort
  readonly log: Log
  readonly observe: Observe | null
  readonly tracer: Tracer
  readonly streams: Streams
  readonly places: Readonly<Record<ShareName, Places>>
}

export type Frame = {
  readonly requestId: string
  /** The global request id that the caller passed on, when it is well-formed. */
  readonly globalId: string | undefined
  /** Headers of the answer. */
  readonly headers: Record<string, string>
  readonly startedAt: number
  readonly span: Span
  /** Who asks; absent: not identified. For the log. */
  caller?: { readonly user: string; readonly project: string | null }
}

/** Whether the text is `req-` followed by a UUID, in any case. */
const isRequestId = (text: string): boolean => {
  const lower = text.toLowerCase()
  return lower.startsWith('req-') && isUuid(lower.slice('req-'.length))
}

const open = (c: Context, row: string, ports: Ports, versioned: boolean): Frame => {
  const requestId = `req-${ports.ids.uuid()}`
  const given = c.req.header('x-openstack-request-id')
  const headers: Record<string, string> = { 'x-openstack-request-id': requestId, 'x-content-type-options': 'nosniff' }
  if (versioned) {
    headers['openstack-api-minimum-version'] = `${MAJOR}.0`
    headers['openstack-api-maximum-version'] = `${MAJOR}.${latestMinor(ports.options.additiveMicroversion)}`
    headers['vary'] = 'OpenStack-API-Version'
  }
  const globalId = given !== undefined && isRequestId(given) ? given : undefined
  const span = ports.tracer.enter(`${c.req.method} ${row}`, c.req.header('traceparent'))
  return { requestId, globalId, headers, startedAt: ports.clock.monotonic(), span }
}

const respond = (answered: Answered, frame: Frame, options: Options): Response => {
  const { headers } = frame
  if (!answered.ok) {
    const fault = options.compat.tempestServerFaults ? answered.fault : withoutExpected500(answered.fault)
    const error = errorAnswer(fault, frame.requestId)
    headers['content-type'] = 'application/json'
    if (fault.kind === 'unauthenticated') headers['www-authenticate'] = fault.challenge
    if (fault.kind === 'no_method') headers['allow'] = fault.allow.join(', ')
    if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds)
    return new Response(error.text, { status: error.status, headers })
  }
  if (answered.file !== undefined) {
    const { name, type, content } = answered.file
    headers['content-type'] = type
    headers['content-disposition'] = `attachment; filename="${name}"`
    headers['cache-control'] = 'no-store'
    return new Response(content, { status: answered.status, headers })
  }
  if (answered.body === undefined) {
    // RFC 9110 8.6: a 204 must not carry a Content-Length.
    if (answered.status !== 204) headers['content-length'] = '0'
    return new Response(null, { status: answered.status, headers })
  }
  headers['content-type'] = 'application/json'
  return new Response(JSON.stringify(answered.body), { status: answered.status, headers })
}

const endSpan = (c: Context, row: string, { span, requestId, globalId }: Frame, status: number): void =>
  span.end(status >= 500 ? `answered ${status}` : undefined, {
    'http.request.method': c.req.method,
    'http.route': row,
    'http.response.status_code': status,
    'openstack.request_id': globalId ?? requestId,
  })

const close = (c: Context, row: string, ports: Ports, frame: Frame, status: number): void => {
  const tookMs = ports.clock.monotonic() - frame.startedAt
  ports.observe?.(c.req.method, row, status, tookMs)
  if (frame.span.trace !== undefined) endSpan(c, row, frame, status)
  const fields = {
    request: frame.requestId,
    caused_by: frame.globalId,
    method: c.req.method,
    path: c.req.path,
    status,
    took_ms: tookMs,
    remote: remoteOf(c, ports.options),
    ...frame.caller,
    ...traceField(frame.span.trace),
  }
  if (c.req.method === 'GET' || c.req.method === 'HEAD') ports.log.debug(fields, 'http.answered')
  else ports.log.info(fields, 'http.answered')
}

/**
 * A handler that throws is a bug: the error is logged, and the client gets the request id to ask about. A broken store
 * is answered in the same way.
 */
const answerOf = async (work: () => Promise<Answered>, ports: Ports, frame: Frame): Promise<Answered> => {
  try {
    const answered = await work()
    if (!answered.ok && answered.fault.kind === 'broken')
      ports.log.error({ request: frame.requestId, reason: answered.fault.reason }, 'http.failed')
    return answered
  } catch (error) {
    ports.log.error({ request: frame.requestId, err: error }, 'http.failed')
    return refused({ kind: 'broken', reason: String(error) })
  }
}

/** The connection of the request, if the server that runs the application passes it on. */
export const connectionOf = ({ env }: Context): HttpBindings['outgoing'] | null =>
  (env as Partial<HttpBindings> | undefined)?.outgoing ?? null

type InPieces = { readonly status: number; readonly pieces: Pieces; readonly sent: (() => void) | undefined }
type AsEvents = { readonly status: number; readonly stream: EventStream }

/**
 * Sends the pieces one after the other. The request counts as answered when the last piece is sent or the answer is
 * broken off.
 */
const respondInPieces = (
  c: Context,
  row: string,
  ports: Ports,
  frame: Frame,
  { status, pieces, sent }: InPieces,
): Response => {
  const headers = { ...frame.headers, 'content-type': 'application/json' }
  if (c.req.method === 'HEAD') {
    sent?.()
    close(c, row, ports, frame, status)
    return new Response(null, { status, headers })
  }
  const connection = connectionOf(c)
  const stream = ports.streams.open({
    pieces,
    breakOff: connection && (() => void connection.destroy()),
    ended: (why) => {
      sent?.()
      if (why !== null) ports.log.warn({ request: frame.requestId, reason: why }, 'http.broken_off')
      close(c, row, ports, frame, status)
    },
  })
  return new Response(stream, { status, headers })
}

/**
 * A stream counts as answered when it begins, so that its length is not measured as a request. Its end has a log entry
 * of its own.
 */
const respondWithEvents = (
  c: Context,
  row: string,
  ports: Ports,
  frame: Frame,
  { status, stream }: AsEvents,
): Response => {
  const headers = { ...frame.headers, ...STREAM_HEADERS }
  close(c, row, ports, frame, status)
  if (c.req.method === 'HEAD') {
    stream.close('left')
    return new Response(null, { status, headers })
  }
  const connection = connectionOf(c)
  const body = eventBody({
    stream,
    clock: ports.clock,
    breakOff: connection && (() => void connection.destroy()),
    ended: (why) =>
      ports.log.info(
        { request: frame.requestId, reason: why, took_ms: ports.clock.monotonic() - frame.startedAt },
        'http.stream_ended',
      ),
  })
  return new Response(body, { status, headers })
}

/** `row` is the path of the route that serves the request. Never rejects. */
export const run = async (
  c: Context,
  row: string,
  ports: Ports,
  versioned: boolean,
  work: (frame: Frame) => Promise<Answered>,
): Promise<Response> => {
  const frame = open(c, row, ports, versioned)
  const barred = ports.gate((name) => c.req.header(name))
  const answered = barred ?? (await answerOf(() => work(frame), ports, frame))
  if (!answered.ok && answered.fault.kind === 'device_failure')
    ports.log.warn({ request: frame.requestId, reason: answered.fault.reason }, 'http.device_failed')
  if (answered.ok && answered.pieces) {
    const { status, pieces, sent } = answered
    return respondInPieces(c, row, ports, frame, { status, pieces, sent })
  }
  if (answered.ok && answered.events) {
    const { status, events: stream } = answered
    return respondWithEvents(c, row, ports, frame, { status, stream })
  }
  const response = respond(answered, frame, ports.options)
  close(c, row, ports, frame, response.status)
  return response
}
