/**
 * Sends long answers in pieces, as fast as their clients read them.
 *
 * STREAM-1 at most `AT_ONCE` pieces are made at a time, and the event loop has a turn before each, so that no list
 *    delays other requests;
 * STREAM-2 a piece is made when the client has read the one before it, so nothing accumulates for a slow client;
 * STREAM-3 an answer that cannot be completed is broken off together with its connection, so that it never looks
 *    complete;
 * STREAM-4 the answer to a client that reads nothing for `stallMs`, or has not read all within `wholeMs`, is broken off
 *    too.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../vocabulary/clock.ts'
import { textOf } from '../vocabulary/errorText.ts'
import { bounded } from '../vocabulary/waiting.ts'

export type Pieces = AsyncGenerator<string>
export type Sending = {
  readonly pieces: Pieces
  /** Called once, at the end. `why`: the reason why the answer was broken off; null: it is complete. */
  readonly ended: (why: string | null) => void
  /** Ends the connection; null: the reader of the stream gets an error instead. */
  readonly breakOff: (() => void) | null
}
export type Streams = {
  readonly open: (sending: Sending) => ReadableStream<Uint8Array>
}
export type StreamLimits = {
  /** The time limit for making one piece. */
  readonly pieceMs: number
  readonly stallMs: number
  readonly wholeMs: number
}
export const STREAM_LIMITS = { stallMs: 30_000, wholeMs: 600_000 }

/** Few, so that other requests find free connections to the database and processor time. */
const AT_ONCE = 2
/** Lets callers enter in the order in which they ask. */
const turnstile = () => {
  const waiting: (() => void)[] = []
  let free = AT_ONCE
  return {
    enter: async () => {
      if (free > 0) free--
      else await new Promise<void>((resolve) => void waiting.push(resolve))
      await turn()
    },
    leave: () => {
      const next = waiting.shift()
      if (next) next()
      else free++
    },
  }
}

const LATE = Symbol('late')

type Timer = Pick<Clock, 'after'>
type Make = (pieces: Pieces) => Promise<string | null>

/** Makes the next piece of an answer; null: the last one was sent. */
const createMake = (clock: Timer, { pieceMs }: StreamLimits): Make => {
  const { enter, leave } = turnstile()
  return async (pieces) => {
    await enter()
    try {
      const made = await bounded(clock, pieces.next(), pieceMs, LATE)
      if (made === LATE) throw new Error(`the next piece was not there within ${pieceMs} ms`)
      return made.done ? null : made.value
    } finally {
      leave()
    }
  }
}

/** Ends one answer after its last piece, by its client, or at a limit. Only the first of these has an effect. */
const createEnding = (clock: Timer, limits: StreamLimits, { pieces, ended, breakOff }: Sending) => {
  let over = false
  let [unstalled, unhurried] = [() => {}, () => {}]
  const end = (why: string | null): boolean => {
    if (over) return false
    over = true
    unstalled()
    unhurried()
    // a piece that is being made is not interrupted
    pieces.return(undefined).catch(() => {})
    ended(why)
    return true
  }
  const cut = (controller: ReadableStreamDefaultController, why: string) => {
    if (!end(why)) return
    if (breakOff) breakOff()
    else controller.error(new Error(`broken off: ${why}`))
  }
  return {
    end,
    cut,
    isOver: () => over,
    begin: (controller: ReadableStreamDefaultController) => {
      unhurried = clock.after(limits.wholeMs, () => cut(controller, `it took longer than ${limits.wholeMs} ms`))
    },
    /** From now on the client has `stallMs` to ask for more. */
    waits: (controller: ReadableStreamDefaultController) => {
      unstalled = clock.after(limits.stallMs, () => cut(controller, `the client took nothing for ${limits.stallMs} ms`))
    },
    asks: () => unstalled(),
  }
}

const streamOf = (pieces: Pieces, make: Make, ending: ReturnType<typeof createEnding>): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        ending.begin(controller)
        ending.waits(controller)
      },
      pull: async (controller) => {
        ending.asks()
        try {
          const piece = await make(pieces)
          if (ending.isOver()) return
          if (piece === null) {
            ending.end(null)
            controller.close()
          } else {
            controller.enqueue(encoder.encode(piece))
            ending.waits(controller)
          }
        } catch (error) {
          ending.cut(controller, textOf(error))
        }
      },
      cancel: () => void ending.end('the client left'),
    },
    { highWaterMark: 0 },
  )
}

export const createStreams = (clock: Timer, limits: StreamLimits): Streams => {
  const make = createMake(clock, limits)
  return { open: (sending) => streamOf(sending.pieces, make, createEnding(clock, limits, sending)) }
}
