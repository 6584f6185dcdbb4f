/** Every topic the system speaks. A message that is not listed here cannot be published. */
import * as v from 'valibot'
import { Order } from './orders.ts'
import { Report } from './reports.ts'

/** A recorded fact, for operators to tail: the journal's event, its entity, and why it happened. */
export const Fact = v.looseObject({
  entity: v.string(),
  version: v.number(),
  event: v.looseObject({ type: v.string() }),
})
export const DeadLetter = v.object({
  topic: v.string(),
  key: v.string(),
  reason: v.string(),
  /** The message as it came, cut at 64 KiB. */
  value: v.string(),
  headers: v.record(v.string(), v.string()),
})
export type DeadLetter = v.InferOutput<typeof DeadLetter>

export const CATALOGUE = {
  hostReports: { topic: 'host.reports.v1', key: 'host', body: Report },
  hostOrders: { topic: 'host.orders.v1', key: 'host', body: Order },
  arqEvents: { topic: 'arq.events.v1', key: 'arq uuid', body: Fact },
  deviceEvents: { topic: 'device.events.v1', key: 'device uuid', body: Fact },
  deployableEvents: { topic: 'deployable.events.v1', key: 'deployable uuid', body: Fact },
  profileEvents: { topic: 'profile.events.v1', key: 'profile uuid', body: Fact },
  hostEvents: { topic: 'host.events.v1', key: 'host', body: Fact },
  deadLetters: { topic: 'dead-letters.v1', key: 'key of the message that failed', body: DeadLetter },
} as const
export type Channel = keyof typeof CATALOGUE
