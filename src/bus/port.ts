/**
 * The bus, as its users see it. Two adapters (in-process, kafkajs) pass one contract suite.
 *
 * BUS-1 messages of one key arrive in the order in which they were published;
 * BUS-2 at least once: a message may come again, after a restart of its consumer or of the adapter;
 * BUS-3 `take` runs for one message of a partition at a time, and the position is committed only after it resolved;
 *    with a `window`, messages are handed over in order without waiting, and the position is that of the oldest not resolved;
 * BUS-4 a `take` that rejects is tried again (bounded back-off); it never blocks other partitions for ever;
 * BUS-5 every queue is bounded: `publish` waits while there is no room, and rejects after `publishTimeoutMs`.
 */
import type { BusRecord } from '../wire/envelope.ts'

export type Delivered = BusRecord & { readonly partition: number; readonly offset: number }

/** Where a consumer is: good for this bus and this partition only. */
export type StoredOffset = {
  /** Which bus it was: another one, or another topic, counts differently. */
  readonly bus: string
  readonly partition: number
  /** Of the next message to take. */
  readonly offset: number
}
/** A consumer that keeps its own position; the bus keeps none for it. */
export type OffsetStore = {
  /** Null, or of another bus or partition: the consumer begins as `from` says. */
  readonly from: StoredOffset | null
  /** Called after each step: all before the place are taken. Must not throw. */
  readonly moved: (place: StoredOffset) => void
}

export type ConsumeOptions = {
  readonly topic: string
  /** Consumers of one group share the partitions; each group gets every message. */
  readonly group: string
  /** Where a group without a committed position begins. */
  readonly from: 'earliest' | 'latest'
  /** Only the partition this key hashes to (a host reads only its own). */
  readonly onlyKey?: string
  /**
   * The consumer is alone in its group, which is new at each start and is removed at an orderly stop. Only with `onlyKey`:
   * a place is one partition's.
   */
  readonly place?: OffsetStore
  /** How many messages of a partition may be in hand at once. 1 when not given; with more, order among them is up to the taker. */
  readonly window?: number
  /** Must not throw for bad content: what cannot be parsed goes to the dead letters. */
  readonly take: (message: Delivered) => Promise<void>
}
export type Consumer = { readonly stop: () => Promise<void> }

export type Bus = {
  /** Resolves when all are stored, in the order given per key; rejects when that is not certain. */
  readonly publish: (batch: readonly BusRecord[]) => Promise<void>
  readonly consume: (options: ConsumeOptions) => Promise<Consumer>
  /** Stops consumers after the message in hand. */
  readonly stop: () => Promise<void>
}
