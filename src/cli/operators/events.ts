/** `accelerando event`: reads events from the API, page by page or as a stream. */
import { type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { text as wholeText } from 'node:stream/consumers'
import { type Clock, systemClock } from '../../vocabulary/clock.ts'
import { messageOf as reasonOf } from '../../vocabulary/errorText.ts'
import { pause } from '../../vocabulary/waiting.ts'
import { messageOf } from '../audit/topics.ts'
import { Failure } from '../exits.ts'
import { type ApiFlags, apiOf, entryOf, refusal } from './api.ts'
import { createFrames } from './eventText.ts'
import { tailLine } from './tailLine.ts'

export type EventsWanted = {
  readonly flags: ApiFlags
  /** Query arguments without `after`. */
  readonly query: Readonly<Record<string, string>>
  /** Null: a stream begins now, and pages with the oldest event. */
  readonly after: string | null
}
/** An event as a page of the API holds it. */
export type ReceivedEvent = { readonly id: string; readonly event: Readonly<Record<string, unknown>> }
type Out = (line: string) => void
type Page = {
  readonly events: readonly ReceivedEvent[]
  readonly next: string
  readonly more: boolean
}

/** A stream is broken when nothing has come for this time; beats come every ten seconds. */
const SILENT_MS = 35_000
/** By which clock it pauses, and how long a stream may be silent. */
export type Patience = { readonly clock: Pick<Clock, 'after'>; readonly silentMs: number }
const USUAL: Patience = { clock: systemClock, silentMs: SILENT_MS }
/** Temporary failures, after which the stream is requested again. */
const AGAIN: readonly number[] = [429, 502, 503, 504]
const PREFIX = 'accelerando.'

/** An event in one line for people. */
export const eventLine = ({ id, event }: ReceivedEvent): string => {
  const message = messageOf({ topic: '', key: '', partition: 0, offset: 0, time: 0, value: JSON.stringify(event) })
  return `${tailLine({ ...message, position: null }, null)}  ${id}`
}
const pathOf = (query: Readonly<Record<string, string>>): string => `/events?${new URLSearchParams(query).toString()}`

const PAGE = 500
/** Takes the events that exist at present, but not more than `max`. */
export const takePages = async (
  { flags, query, after }: EventsWanted,
  max: number,
  take: (event: ReceivedEvent) => void,
): Promise<void> => {
  const api = apiOf(flags)
  let left = max
  for (let at = after, more = true; more && left > 0;) {
    const limit = String(Math.min(PAGE, left))
    const page = await api<Page>('GET', pathOf({ limit, ...query, ...(at === null ? {} : { after: at }) }))
    for (const event of page.events.slice(0, left)) take(event)
    left -= page.events.length
    ;({ next: at, more } = page)
  }
}

type Answer = { readonly answer: IncomingMessage; readonly base: string; readonly path: string }
const openStream = async (
  { flags, query }: EventsWanted,
  last: string | null,
  signal: AbortSignal,
  silentMs: number,
): Promise<Answer> => {
  // signs in each time, because a token may have expired
  const { base, ca, headers } = await entryOf(flags)
  const path = pathOf(query)
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const over = base.startsWith('https:') ? overHttps : overHttp
  const from = last === null ? {} : { 'last-event-id': last }
  let breakOff = (why: Error): unknown => asked.destroy(why)
  const how = { headers: { ...headers, ...from, accept: 'text/event-stream' }, ...(ca === null ? {} : { ca }) }
  const asked = over(`${base}${path}`, how, (answer) => {
    // who reads the answer is told why it has ended
    breakOff = (why) => answer.destroy(why)
    resolve(answer)
  })
  asked.setTimeout(silentMs, () => breakOff(new Error(`nothing came for ${silentMs / 1000} s`)))
  asked.on('error', reject).end()
  // without a reason: after the end of the answer nobody would take the error
  const cut = (): void => void asked.destroy()
  signal.addEventListener('abort', cut)
  asked.once('close', () => signal.removeEventListener('abort', cut))
  if (signal.aborted) cut()
  return { answer: await promise, base, path }
}

/** Follows the stream until it is aborted, and reconnects whenever the stream ends. Rejects when the API refuses. */
export const follow = async (
  wanted: EventsWanted,
  take: (event: ReceivedEvent) => void,
  warn: Out,
  signal: AbortSignal,
  { clock, silentMs }: Patience = USUAL,
): Promise<void> => {
  let last = wanted.after
  let retryMs = 0
  const once = async (): Promise<string | null> => {
    const { answer, base, path } = await openStream(wanted, last, signal, silentMs)
    const { statusCode = 0 } = answer
    if (statusCode !== 200) {
      const requestId = answer.headers['x-openstack-request-id']
      const refused = refusal({
        what: `GET ${path}`,
        base,
        status: statusCode,
        text: await wholeText(answer),
        requestId,
      })
      return AGAIN.includes(statusCode) ? refused.message : Promise.reject(refused)
    }
    const frames = createFrames()
    answer.setEncoding('utf8')
    for await (const part of answer)
      for (const { id, event, data } of frames.take(part as string)) {
        if (event.startsWith(PREFIX) && !signal.aborted)
          take({ id: id ?? '', event: JSON.parse(data) as ReceivedEvent['event'] })
        else if (event === 'reset') warn(`events were missed, and it goes on with newer ones: ${data}`)
        last = id ?? last
        retryMs = frames.retryMs()
      }
    return null
  }
  while (!signal.aborted) {
    const why = await once().catch((error: unknown) => {
      if (error instanceof Failure) throw error
      return reasonOf(error)
    })
    if (signal.aborted) return
    if (why !== null) warn(`${why}; it is tried again`)
    await pause(clock, Math.max(retryMs, 1000), signal).catch(() => undefined)
  }
}
