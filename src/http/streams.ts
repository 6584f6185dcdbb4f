/**
 * Sends long answers in pieces, as fast as their clients take them.
 *
 * STREAM-1 at most `AT_ONCE` pieces are made at a time, and the event loop has a turn before each, so that no list holds up a request;
 * STREAM-2 a piece is made when the client has taken the one before it: nothing piles up for a slow client;
 * STREAM-3 an answer that cannot be completed is broken off with its connection: it never looks complete;
 * STREAM-4 a client that takes nothing for `stallMs`, or is not done within `wholeMs`, is broken off too.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import { textOf } from '../errorText.ts'
import { bounded } from '../waiting.ts'

export type Pieces = AsyncGenerator<string>
export type Sending = {
  readonly pieces: Pieces
  /** Called once, at the end. `why`: it was broken off. */
  readonly ended: (why: string | null) => void
  /** Ends the connection; null: whoever reads the stream is told by its error. */
  readonly breakOff: (() => void) | null
}
export type Streams = {
  /** Null: too many are being sent. */
  readonly open: (sending: Sending) => ReadableStream<Uint8Array> | null
}
export type StreamLimits = {
  readonly open: number
  /** For making one piece. */
  readonly pieceMs: number
  readonly stallMs: number
  readonly wholeMs: number
}
export const STREAM_LIMITS = { open: 64, stallMs: 30_000, wholeMs: 600_000 }

/** Few enough to leave connections to the database and the processor to others. */
const AT_ONCE = 2
/** In the order of asking. */
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

/** What ends one answer: its last piece, its client, or a limit. Only the first of them counts. */
const createEnding = (clock: Timer, limits: StreamLimits, { pieces, ended, breakOff }: Sending, left: () => void) => {
  let over = false
  let [unstalled, unhurried] = [() => {}, () => {}]
  const end = (why: string | null): boolean => {
    if (over) return false
    over = true
    unstalled()
    unhurried()
    // a piece that is being made ends by itself
    pieces.return(undefined).catch(() => {})
    left()
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
    /** The client has `stallMs` to ask for more. */
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
  let open = 0
  return {
    open: (sending) => {
      if (open >= limits.open) return null
      open++
      return streamOf(
        sending.pieces,
        make,
        createEnding(clock, limits, sending, () => void open--),
      )
    },
  }
}
