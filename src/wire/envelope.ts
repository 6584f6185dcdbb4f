/** CloudEvents 1.0, structured JSON: the shape of everything that crosses the bus. */
import * as v from 'valibot'

export const Envelope = v.object({
  specversion: v.literal('1.0'),
  /** The message id: consumers are idempotent by it. */
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  source: v.pipe(v.string(), v.minLength(1), v.maxLength(300)),
  type: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  subject: v.optional(v.pipe(v.string(), v.maxLength(300))),
  time: v.pipe(v.string(), v.maxLength(40)),
  datacontenttype: v.literal('application/json'),
  /** Position in the journal of the row that caused it, where there is one: a reader can dedupe and resume by it. */
  position: v.optional(v.string()),
  /** W3C trace context of what caused it, when somebody records that. */
  traceparent: v.optional(v.pipe(v.string(), v.maxLength(100))),
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
  /** What the key stood for is gone: a compacted topic forgets the key. The value is empty, and none where the bus can say that. */
  readonly tombstone?: true
}
