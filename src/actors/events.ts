/**
 * The port through which the API reads events: the facts of the journal, in the order in which the relay publishes
 * them.
 */
import type { HostName, InstanceUuid, ProjectId } from '../vocabulary/identifiers.ts'
import type { Caller } from './control.ts'
import type { Outcome } from '../vocabulary/fault.ts'

/** The form of all event ids. The parts of an id are opaque to clients. */
export const EVENT_ID = /^(?:0|([0-9]{1,19}(?:[.][0-9]{1,9})?)-([0-9]{1,4})-[0-9a-f]{12})$/

/** The kinds of entity that have events. */
export const EVENT_KINDS = ['arq', 'deployable', 'device', 'host', 'instance', 'placement', 'profile'] as const
export type EventKind = (typeof EVENT_KINDS)[number]

/** All given conditions must hold; for each list, one of its values must match. */
export type EventFilter = {
  readonly kinds?: readonly string[]
  /** Types of events, with or without `accelerando.fact.` before them. */
  readonly types?: readonly string[]
  /** UUIDs of entities, or names of hosts, that the event is about. */
  readonly subjects?: readonly string[]
  /** Hosts and instances that the fact itself names. */
  readonly hosts?: readonly HostName[]
  readonly instances?: readonly InstanceUuid[]
  /** The project of the accelerator requests that the fact is about. */
  readonly projects?: readonly ProjectId[]
  /** The ids of the requests under which the fact was recorded. */
  readonly requests?: readonly string[]
}
export type EventsQuery = {
  /**
   * The id of the last event that the client received. Null: a stream begins now, and a page begins with the oldest
   * event.
   */
  readonly after: string | null
  readonly filter: EventFilter
}

export type PublishedEvent = {
  /** Identifies the place of the event; it is the same on every control. */
  readonly id: string
  readonly type: string
  /** The CloudEvent as it is published on Kafka, in one line. */
  readonly text: string
}

/**
 * Why a stream ended. `expired`: the token is not accepted any more. `rights`: the caller may read other events now
 * than when it began, or none. After the last two no client is connected; clients are told the others.
 */
export const STREAM_ENDINGS = [
  'lifetime',
  'stopping',
  'slow',
  'failed',
  'expired',
  'rights',
  'stalled',
  'left',
] as const
export type StreamEnding = (typeof STREAM_ENDINGS)[number]
/**
 * Identifies the caller anew: why the stream must end, or null if the caller is still who it was when the stream began.
 * Never rejects.
 */
export type IdentifyAgain = () => Promise<Extract<StreamEnding, 'expired' | 'rights' | 'failed'> | null>

/** A portion of a stream: events, or one message about the stream itself. */
export type Portion =
  | { readonly kind: 'events'; readonly events: readonly PublishedEvent[] }
  /**
   * There are no new events up to `id`, which may belong to an event that the stream does not show. `newest`: the last
   * id this control knows.
   */
  | { readonly kind: 'beat'; readonly id: string; readonly newest: string; readonly at: number }
  /**
   * Events after the requested id are missing; the stream continues after `id`. `oldest`: the id from which on no event
   * is missing.
   */
  | { readonly kind: 'reset'; readonly why: Lost; readonly oldest: string; readonly id: string }
  /** The stream is over. `retryMs`: after this time the client should reconnect. */
  | { readonly kind: 'bye'; readonly why: StreamEnding; readonly retryMs: number }
/** `archived`: rows after the place are in the archive. `unknown`: this journal does not contain the named event. */
export type Lost = 'archived' | 'unknown'

export type EventStream = {
  /**
   * Resolves when there is a portion, at the latest after the time between two beats. Never rejects. Must not be called
   * again after `bye`.
   */
  readonly next: () => Promise<Portion>
  /** Ends the stream; a pending `next` resolves. Only the first call has an effect. */
  readonly close: (why: StreamEnding) => void
  /** Resolves when the stream ends, also when nobody asks for the next portion any more (`stalled`). Never rejects. */
  readonly closed: Promise<StreamEnding>
}
export type EventPage = {
  readonly events: readonly PublishedEvent[]
  /** The value of `after` for the next page. */
  readonly next: string
  /** Whether there is a next page at present. */
  readonly more: boolean
}

export type Events = {
  /** `identifyAgain` is called repeatedly while the stream is open. Faults: invalid (after), crowded, unavailable. */
  readonly open: (caller: Caller, asked: EventsQuery, identifyAgain: IdentifyAgain) => Promise<Outcome<EventStream>>
  /** Faults: invalid (after), conflict (events after it are missing), unavailable. */
  readonly page: (caller: Caller, asked: EventsQuery, limit: number) => Promise<Outcome<EventPage>>
}
