/** CloudEvents 1.0, structured JSON: the shape of everything that crosses the bus. */
import * as v from 'valibot'
import { line, name } from '../vocabulary/fields.ts'

export const Envelope = v.object({
  specversion: v.literal('1.0'),
  /** The message id: consumers are idempotent by it. */
  id: name(200),
  source: v.pipe(v.string(), v.minLength(1), v.maxLength(300)),
  type: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  subject: v.optional(v.pipe(v.string(), v.maxLength(300))),
  time: v.pipe(v.string(), v.maxLength(40)),
  datacontenttype: v.literal('application/json'),
  /** Journal position of the row that caused it, if any: a reader can detect repeats and resume by it. */
  position: v.optional(line(40)),
  /** W3C trace context of its cause, when the trace is recorded. */
  traceparent: v.optional(line(100)),
  data: v.unknown(),
})
export type Envelope = v.InferOutput<typeof Envelope>

/** A message as the bus carries it: JSON text, and headers that can be read without parsing it. */
export type BusRecord = {
  readonly topic: string
  /** Decides the partition; messages of one key stay in order. */
  readonly key: string
  readonly value: string
  readonly headers: Readonly<Record<string, string>>
  /** The entity of this key is gone, so a compacted topic forgets the key. The value is empty (null on Kafka). */
  readonly tombstone?: true
}
