/** Every topic of the system. A message for a topic that is not listed here cannot be published. */
import * as v from 'valibot'
import { DAY_MS } from '../vocabulary/clock.ts'
import { isoMoment, line, prose } from '../vocabulary/fields.ts'
import { ToHost } from './orders.ts'
import { Report } from './reports.ts'

/** A recorded fact, for operators to tail: the journal's event, its entity, and why it happened. */
export const Fact = v.looseObject({
  entity: v.string(),
  version: v.number(),
  event: v.looseObject({ type: v.string() }),
})
/** What an operator can do with a dead letter. */
export const HANDLINGS = ['replayed', 'dropped'] as const
export const DeadLetter = v.object({
  topic: v.string(),
  key: v.string(),
  reason: v.string(),
  /** The message as it was received, cut at 64 KiB. */
  value: v.string(),
  headers: v.record(v.string(), v.string()),
  /** Key, value or headers were cut: the letter can be read, but not sent again. */
  cut: v.optional(v.literal(true)),
  /** When the dead letter of this id was sent again, ISO 8601 in UTC; this record has no value. */
  retriedAt: v.optional(isoMoment),
  /**
   * Only beside `retriedAt`: an operator had a control send the message again, or has dropped the letter. Programs up
   * to release 0.3.0 do not read it, and take a dropped letter for one that was sent again.
   */
  handled: v.optional(
    v.object({
      how: v.picklist(HANDLINGS),
      by: prose(1000),
      reason: prose(4000),
      /** The command of which the mark is the record: a repetition is known by it. */
      command: v.optional(line(100)),
      /** The id of the request by which it was asked for. */
      request: v.optional(line(100)),
    }),
  ),
})
export type DeadLetter = v.InferOutput<typeof DeadLetter>

/**
 * The latest state of an entity: its row as lists show it. It is at least as new as `version`; of several messages of a
 * key the last one counts, and a tombstone means that the entity is gone.
 */
export const State = v.looseObject({
  entity: v.string(),
  version: v.number(),
  state: v.record(v.string(), v.unknown()),
})

/** How long a topic keeps its messages; null: the last one of each key, for ever. */
export const KEEP_MS = { days: 3 * DAY_MS, weeks: 28 * DAY_MS, compact: null } as const

type Entry = {
  readonly topic: string
  readonly key: string
  readonly body: v.GenericSchema
  readonly keep: keyof typeof KEEP_MS
}
export const CATALOGUE = {
  hostReports: { topic: 'host.reports.v1', key: 'host', body: Report, keep: 'days' },
  hostOrders: { topic: 'host.orders.v1', key: 'host', body: ToHost, keep: 'days' },
  arqEvents: { topic: 'arq.events.v1', key: 'arq uuid', body: Fact, keep: 'weeks' },
  deviceEvents: { topic: 'device.events.v1', key: 'device uuid', body: Fact, keep: 'weeks' },
  deployableEvents: { topic: 'deployable.events.v1', key: 'deployable uuid', body: Fact, keep: 'weeks' },
  profileEvents: { topic: 'profile.events.v1', key: 'profile uuid', body: Fact, keep: 'weeks' },
  hostEvents: { topic: 'host.events.v1', key: 'host', body: Fact, keep: 'weeks' },
  placementEvents: { topic: 'placement.events.v1', key: 'host', body: Fact, keep: 'weeks' },
  arqState: { topic: 'arq.state.v1', key: 'arq uuid', body: State, keep: 'compact' },
  deviceState: { topic: 'device.state.v1', key: 'device uuid', body: State, keep: 'compact' },
  hostState: { topic: 'host.state.v1', key: 'host', body: State, keep: 'compact' },
  deadLetters: { topic: 'dead-letters.v1', key: 'key of the message that failed', body: DeadLetter, keep: 'weeks' },
} as const satisfies Record<string, Entry>
/** The consumer group of all controls of a cloud, without the prefix. */
export const CONTROL_GROUP = 'control'
export type Channel = keyof typeof CATALOGUE
