/**
 * Sends a stream of events as server-sent events.
 *
 * SSE-1 the next portion is made when the client has read the one before, so nothing accumulates for a slow client;
 * SSE-2 `data` of an event is the CloudEvent as on Kafka; `beat`, `reset` and `bye` are no events of the journal, and
 *    have event names of their own;
 * SSE-3 a stream that ends sends the reason and when to reconnect (`bye`, `retry`). If the client does not read that,
 *    its connection is broken off.
 */
import type { EventStream, Portion, PublishedEvent, StreamEnding } from '../actors/events.ts'
import type { Clock } from '../vocabulary/clock.ts'
import { textOf } from '../vocabulary/errorText.ts'

export const EVENT_STREAM = 'text/event-stream'
/** Proxies must neither store nor buffer the stream. */
export const STREAM_HEADERS = {
  'content-type': EVENT_STREAM,
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  // a connection that stays open for another request would keep the server from closing
  connection: 'close',
}

/** When a client reconnects that was cut off without `bye`, for example because the control was killed. */
const RETRY_MS = 2000
/** How long a client has to read the last portion. */
const LAST_MS = 1000

const encoder = new TextEncoder()
/** Events that several streams send are encoded only once. */
const frames = new WeakMap<PublishedEvent, Uint8Array>()
const frameOf = (event: PublishedEvent): Uint8Array => {
  const known = frames.get(event)
  if (known !== undefined) return known
  const frame = encoder.encode(`id: ${event.id}\nevent: ${event.type}\ndata: ${event.text}\n\n`)
  frames.set(event, frame)
  return frame
}
const said = (event: string, data: object, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

const bytesOf = (portion: Portion): Uint8Array => {
  switch (portion.kind) {
    case 'events':
      return Buffer.concat(portion.events.map(frameOf))
    case 'beat':
      return encoder.encode(
        said('beat', { at: new Date(portion.at).toISOString(), newest: portion.newest }, portion.id),
      )
    case 'reset':
      return encoder.encode(
        said('reset', { reason: portion.why, oldest: portion.oldest, newest: portion.id }, portion.id),
      )
    case 'bye':
      return encoder.encode(`retry: ${portion.retryMs}\n${said('bye', { reason: portion.why })}`)
  }
}

export type SendingEvents = {
  readonly stream: EventStream
  readonly clock: Pick<Clock, 'after'>
  /** Ends the connection; null: the reader of the stream gets an error instead. */
  readonly breakOff: (() => void) | null
  /** Called once, when the stream ends. */
  readonly ended: (why: StreamEnding) => void
}

export const eventBody = ({ stream, clock, breakOff, ended }: SendingEvents): ReadableStream<Uint8Array> => {
  let isDone = false
  const cut = (controller: ReadableStreamDefaultController, why: StreamEnding): void => {
    if (isDone) return
    isDone = true
    if (breakOff) breakOff()
    else controller.error(new Error(`broken off: ${why}`))
  }
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`))
        void stream.closed.then((why) => {
          ended(why)
          if (why === 'stalled') cut(controller, why)
          else clock.after(LAST_MS, () => cut(controller, why))
        })
      },
      pull: async (controller) => {
        const portion = await stream.next()
        if (isDone) return
        try {
          controller.enqueue(bytesOf(portion))
        } catch (error) {
          // a portion that cannot be written leaves a gap, so no other may follow it
          stream.close('failed')
          return controller.error(new Error(`broken off: ${textOf(error)}`))
        }
        if (portion.kind !== 'bye') return
        isDone = true
        controller.close()
      },
      cancel: () => {
        isDone = true
        stream.close('left')
      },
    },
    { highWaterMark: 0 },
  )
}
