/**
 * The port of the message bus. Both adapters (in-process, kafkajs) pass the same contract suite.
 *
 * BUS-1 messages of one key arrive in the order in which they were published;
 * BUS-2 at least once: a message may be delivered again, after a restart of its consumer or of the adapter;
 * BUS-3 `take` runs for one message of a partition at a time, and the position is committed only after it resolved;
 *    with a `window`, messages are handed over in order without waiting, and the position is that of the oldest message
 *    not resolved;
 * BUS-4 a `take` that rejects is tried again (bounded back-off); it never blocks other partitions for ever. With a
 *    `window` it holds back only messages of its own key, as far as the adapter looks ahead;
 * BUS-5 every queue is bounded: `publish` waits while there is no room, and rejects after `publishTimeoutMs`;
 * BUS-6 a `take` that waits for something may step aside: its message no longer counts in the window, so that the
 *    messages behind it are taken meanwhile. The position still waits for it. At most `ASIDE_MAX` messages of a
 *    partition may step aside;
 * BUS-7 `publish` rejects with `Unpublishable` when the bus will never take one of the records, and with another error
 *    when the bus may be unreachable. A record that the bus never takes harms no other `publish`.
 */
import type { BusRecord } from '../wire/envelope.ts'

export type Delivered = BusRecord & { readonly partition: number; readonly offset: number }

/** The position of a consumer. It is valid only for this bus and this partition. */
export type StoredOffset = {
  /** Identity of the bus and the topic, since offsets of another bus or topic mean nothing here. */
  readonly bus: string
  readonly partition: number
  /** Offset of the next message to take. */
  readonly offset: number
}
/** For a consumer that stores its own offset; the bus stores none for it. */
export type OffsetStore = {
  /** Null, or an offset of another bus or partition: the consumer starts as `ConsumeOptions.from` says. */
  readonly from: StoredOffset | null
  /** Called when the position has moved: all messages before it are taken. Must not throw. */
  readonly moved: (offset: StoredOffset) => void
}

/**
 * Lets a `take` step aside (BUS-6). False: too many of the partition have stepped aside already, or the window is one.
 */
export type StepAside = () => boolean
export const ASIDE_MAX = 256

export type ConsumeOptions = {
  readonly topic: string
  /** Consumers of one group share the partitions; each group gets every message. */
  readonly group: string
  /** Where a group without a committed offset starts. */
  readonly from: 'earliest' | 'latest'
  /**
   * Read only the partition to which this key hashes (a host reads only its own), and those to which it hashed before
   * partitions were added.
   */
  readonly onlyKey?: string
  /**
   * The consumer is the only member of its group, which is new at each start and is deleted at an orderly stop. Only
   * with `onlyKey`, since the stored offset belongs to one partition.
   */
  readonly offsetStore?: OffsetStore
  /**
   * How many messages of a partition may be in progress at once. Default 1; with more, `take` is responsible for the
   * order among them.
   */
  readonly window?: number
  /** Must not throw for bad content: messages that cannot be parsed go to the dead letters. */
  readonly take: (message: Delivered, stepAside: StepAside) => Promise<void>
}
export type Consumer = { readonly stop: () => Promise<void> }

/** A record that the bus will never take (BUS-7). */
export class Unpublishable extends Error {
  override readonly name = 'Unpublishable'
}

/** Number of messages of one partition that the group has not finished. */
export type ConsumerLag = {
  readonly topic: string
  readonly group: string
  readonly partition: number
  readonly messages: number
}
/** A bus that knows how far its consumers are. */
export type KnowsLags = {
  /** The partitions that the consumers of this process read. Rejects when the bus cannot be asked. */
  readonly lagsByPartition: () => Promise<readonly ConsumerLag[]>
}

export type Bus = {
  /** Resolves when all records are stored, in the given order per key; rejects when that is not certain. */
  readonly publish: (batch: readonly BusRecord[]) => Promise<void>
  readonly consume: (options: ConsumeOptions) => Promise<Consumer>
  /** Stops consumers after the messages in progress. */
  readonly stop: () => Promise<void>
}
