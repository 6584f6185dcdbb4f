/** The port through which the API reads what happens: facts in the order in which the relay publishes them. */
import type { Caller } from './control.ts'
import type { Outcome } from '../fault.ts'

/** What every id of an event matches. Its parts are opaque to clients. */
export const EVENT_ID = /^(?:0|([0-9]{1,19}(?:[.][0-9]{1,9})?)-([0-9]{1,4})-[0-9a-f]{12})$/

/** The kinds of entity of which facts are told. */
export const EVENT_KINDS = ['arq', 'deployable', 'device', 'host', 'instance', 'placement', 'profile'] as const
export type EventKind = (typeof EVENT_KINDS)[number]

/** All that are given must hold; of each list one. */
export type EventFilter = {
  readonly kinds?: readonly string[]
  /** Types of events, with or without `accelerando.fact.` before them. */
  readonly types?: readonly string[]
  /** What the fact is about: the UUID of the entity or the name of the host. */
  readonly subjects?: readonly string[]
  /** Hosts and instances that the fact itself names. */
  readonly hosts?: readonly string[]
  readonly instances?: readonly string[]
  /** The project of the accelerator requests that the fact is about. */
  readonly projects?: readonly string[]
}
export type EventsAsked = {
  /** The id of the last event that was received. Null: a stream begins now, and a page with the oldest event there is. */
  readonly after: string | null
  readonly filter: EventFilter
}

export type ToldEvent = {
  /** Names the place of the event, on every control alike. */
  readonly id: string
  readonly type: string
  /** The CloudEvent as it is published on Kafka, in one line. */
  readonly text: string
}

/** Why a stream ended. Clients are told the first four; of the last two nobody is left to be told. */
export const STREAM_ENDINGS = ['lifetime', 'stopping', 'slow', 'failed', 'stalled', 'left'] as const
export type StreamEnding = (typeof STREAM_ENDINGS)[number]

/** The next thing that a stream says. */
export type Portion =
  | { readonly kind: 'events'; readonly events: readonly ToldEvent[] }
  /** Nothing new up to `id`, which may be that of a fact that the stream does not show. `newest`: the last id this control knows. */
  | { readonly kind: 'beat'; readonly id: string; readonly newest: string; readonly at: number }
  /** Events after the one that was asked for are missing; the stream goes on after `id`. `oldest`: from there on all are there. */
  | { readonly kind: 'reset'; readonly why: Lost; readonly oldest: string; readonly id: string }
  /** The stream is over. `retryMs`: when to come back. */
  | { readonly kind: 'bye'; readonly why: StreamEnding; readonly retryMs: number }
/** `archived`: rows after the place are in the archive. `unknown`: this journal does not hold the event that was named. */
export type Lost = 'archived' | 'unknown'

export type EventStream = {
  /** Resolves when there is something to say, within the time between two beats. Never rejects. Not called again after `bye`. */
  readonly next: () => Promise<Portion>
  /** Ends it; a `next` under way resolves. Only the first call counts. */
  readonly close: (why: StreamEnding) => void
  /** Resolves when it ends, also when nobody asks for the next portion any more (`stalled`). Never rejects. */
  readonly closed: Promise<StreamEnding>
}
export type EventPage = {
  readonly events: readonly ToldEvent[]
  /** What the next page is asked for with. */
  readonly next: string
  /** Whether there is a next page at present. */
  readonly more: boolean
}

export type Events = {
  /** Faults: invalid (after), crowded, unavailable. */
  readonly open: (caller: Caller, asked: EventsAsked) => Promise<Outcome<EventStream>>
  /** Faults: invalid (after), conflict (events after it are missing), unavailable. */
  readonly page: (caller: Caller, asked: EventsAsked, limit: number) => Promise<Outcome<EventPage>>
}
