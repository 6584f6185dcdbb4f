/**
 * Sends a stream of events as server-sent events.
 *
 * SSE-1 the next portion is made when the client has taken the one before: nothing piles up for a slow client;
 * SSE-2 `data` of an event is the CloudEvent as it is on Kafka; `beat`, `reset` and `bye` are no events of the journal, and say so by their names;
 * SSE-3 a stream that ends says why and when to come back (`bye`, `retry`). If the client does not take that either, its connection is broken.
 */
import type { EventStream, Portion, StreamEnding, ToldEvent } from '../actors/events.ts'
import type { Clock } from '../clock.ts'
import { textOf } from '../errorText.ts'

export const EVENT_STREAM = 'text/event-stream'
/** Proxies neither keep nor gather what is sent. */
export const STREAM_HEADERS = {
  'content-type': EVENT_STREAM,
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  // a connection that waits for another request would keep the server from closing
  connection: 'close',
}

/** Of a client that is cut off without a word, such as by a control that was killed. */
const RETRY_MS = 2000
/** How long a client has to take the last portion. */
const LAST_MS = 1000

const encoder = new TextEncoder()
/** One text for all streams that show the event. */
const frames = new WeakMap<ToldEvent, Uint8Array>()
const frameOf = (told: ToldEvent): Uint8Array => {
  const known = frames.get(told)
  if (known !== undefined) return known
  const frame = encoder.encode(`id: ${told.id}\nevent: ${told.type}\ndata: ${told.text}\n\n`)
  frames.set(told, frame)
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
  /** Ends the connection; null: whoever reads is told by an error. */
  readonly breakOff: (() => void) | null
  /** Called once, at the end. */
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
  const finish = (controller: ReadableStreamDefaultController): void => {
    if (isDone) return
    isDone = true
    controller.close()
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
          // a portion that cannot be written leaves a gap, so nothing may follow it
          stream.close('failed')
          return controller.error(new Error(`broken off: ${textOf(error)}`))
        }
        if (portion.kind === 'bye') finish(controller)
      },
      cancel: () => {
        isDone = true
        stream.close('left')
      },
    },
    { highWaterMark: 0 },
  )
}
