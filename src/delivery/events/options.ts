/** The parts and options of the streams of events. */
import { type Hints, noHints } from '../../actors/runtime/hints.ts'
import type { Journal, Landmarks } from '../../actors/runtime/ports.ts'
import type { Clock } from '../../vocabulary/clock.ts'
import type { Log } from '../../vocabulary/log.ts'
import { RELAY } from '../relay/options.ts'
import type { LettersOf } from './entries.ts'

/** What an operator may set. */
export type EventLimits = {
  /** The most streams of one process; a further one is refused. */
  readonly streamsMax: number
  /** The most streams of one user of one project in one process. */
  readonly streamsPerCaller: number
  /** Facts that are kept in memory for all streams together; a client that falls further behind is cut off. */
  readonly ringBytes: number
  /** A stream is ended after this long; its client reconnects and continues. */
  readonly lifeMs: number
}
export const EVENT_LIMITS: EventLimits = {
  streamsMax: 1000,
  streamsPerCaller: 50,
  ringBytes: 16 * 1024 * 1024,
  lifeMs: 3_600_000,
}

export type EventsOptions = Partial<EventLimits> & {
  readonly journal: Pick<Journal, 'feed' | 'recall' | 'onAppended' | 'incarnation' | 'exclusive'>
  readonly landmarks: Landmarks
  readonly lettersOf: LettersOf
  readonly clock: Clock
  readonly log: Log
  /** Absent: rows of other processes are found only by polling. */
  readonly hints?: Hints
  /** The name of the hints that wake the relay. */
  readonly hint?: string
  /** A number from 0 to 1 for each stream that ends, so that clients do not all come back at once. */
  readonly random?: () => number
  /** The reader polls the journal at this interval, and reads it no more often than this when it is woken. */
  readonly poll?: {
    readonly busyMs: number
    readonly idleMs: number
    readonly busyForMs: number
    readonly aloneMs: number
    readonly leastMs: number
  }
  readonly rowsMax?: number
  readonly beatMs?: number
  /** A client that reads nothing for this long is disconnected. */
  readonly stallMs?: number
  /** Before anything is sent, the caller is identified anew if that was this long ago. */
  readonly identifiedForMs?: number
  /** A client is told to reconnect after this long, or up to twice as long. */
  readonly retryMs?: number
  /** The journal is read for this long after the last stream has ended. */
  readonly lingerMs?: number
  readonly retry?: { readonly firstMs: number; readonly maxMs: number }
}
export const DEFAULTS = {
  ...EVENT_LIMITS,
  hints: noHints,
  hint: RELAY,
  random: Math.random,
  poll: { busyMs: 20, idleMs: 150, busyForMs: 2000, aloneMs: 500, leastMs: 20 },
  rowsMax: 500,
  beatMs: 10_000,
  stallMs: 30_000,
  identifiedForMs: 1000,
  // by then a load balancer has noticed that this control stops
  retryMs: 2000,
  lingerMs: 30_000,
  retry: { firstMs: 100, maxMs: 5000 },
}
export type Settings = Omit<EventsOptions, keyof typeof DEFAULTS> & typeof DEFAULTS
