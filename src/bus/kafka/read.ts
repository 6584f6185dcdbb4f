/**
 * Reads topics for commands such as audits: all partitions, with a group of its own that is deleted afterwards. Commits
 * no offsets.
 *
 * A bounded read ends at the end offsets that were found at its start; a following read ends when its signal is
 * aborted.
 */
import { randomUUID } from 'node:crypto'
import type { Admin, Consumer, EachBatchPayload } from 'kafkajs'
import type { Cancel, Clock } from '../../vocabulary/clock.ts'
import { systemClock } from '../../vocabulary/clock.ts'
import type { Log } from '../../vocabulary/log.ts'
import { kafkaClient } from './client.ts'
import { lookup } from './lookup.ts'
import type { KafkaOptions } from './options.ts'

export type Raw = {
  /** The topic without the prefix. */
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly key: string
  /** Null: a tombstone. */
  readonly value: string | null
  /** When the broker stored the message, in ms since the epoch. */
  readonly time: number
}
export type ReadOptions = {
  readonly kafka: KafkaOptions
  readonly log: Log
  /** The topics without the prefix. */
  readonly topics: readonly string[]
  readonly from: 'earliest' | 'latest'
  readonly follow: boolean
  readonly take: (message: Raw) => void
  /**
   * Called, maybe more than once, when a following read from the beginning has taken all messages that were there when
   * it began.
   */
  readonly caughtUp?: () => void
  readonly signal?: AbortSignal
  readonly clock?: Pick<Clock, 'after'>
}
export type Read = {
  /** Topics that do not exist. */
  readonly missing: readonly string[]
  /** `<topic>/<partition>` of the partitions whose first messages were deleted. */
  readonly cut: ReadonlySet<string>
}

const RETRY = { retries: 5, initialRetryTime: 100, maxRetryTime: 1000 }
/** A bounded read without a message for this long has failed. */
const STALL_MS = 60_000

type Range = { readonly topic: string; readonly partition: number; readonly low: number; readonly high: number }
const rangesOf = async (admin: Admin, topics: readonly string[]): Promise<readonly Range[]> => {
  const found: Range[] = []
  for (const topic of topics)
    for (const { partition, low, high } of await admin.fetchTopicOffsets(topic))
      found.push({ topic, partition, low: Number(low), high: Number(high) })
  return found
}

/**
 * Resolves at the end offsets or when the signal is aborted; rejects when no message arrives in time or the consumer
 * crashes.
 */
const endOf = (consumer: Consumer, { signal, clock = systemClock }: ReadOptions) => {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let cancel: Cancel = () => {}
  const moved = (): void => {
    cancel()
    cancel = clock.after(STALL_MS, () =>
      reject(new Error(`no message was read from the topics for ${STALL_MS / 1000} s`)),
    )
  }
  const over = (): void => resolve()
  signal?.addEventListener('abort', over, { once: true })
  if (signal?.aborted) resolve()
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    if (!payload.restart) reject(payload.error)
  })
  const ended = promise.finally(() => {
    cancel()
    signal?.removeEventListener('abort', over)
  })
  ended.catch(() => undefined)
  return { ended, resolve, reject, moved }
}

const taker =
  (
    { kafka: { prefix }, take, caughtUp }: ReadOptions,
    open: Map<string, number>,
    end: ReturnType<typeof endOf>,
    follow: boolean,
  ) =>
  async (payload: EachBatchPayload): Promise<void> => {
    const { batch } = payload
    const topic = batch.topic.slice(prefix.length)
    const id = `${topic}/${batch.partition}`
    const limit = follow ? Infinity : (open.get(id) ?? 0)
    try {
      for (const { offset, key, value, timestamp } of batch.messages)
        if (Number(offset) < limit)
          take({
            topic,
            partition: batch.partition,
            offset: Number(offset),
            key: key?.toString() ?? '',
            value: value?.toString() ?? null,
            time: Number(timestamp),
          })
    } catch (error) {
      return end.reject(error)
    }
    payload.resolveOffset(batch.lastOffset())
    if (!follow) end.moved()
    if (Number(batch.lastOffset()) + 1 >= (open.get(id) ?? Infinity)) open.delete(id)
    if (open.size === 0) (follow ? caughtUp : end.resolve)?.()
    await payload.heartbeat()
  }

const consume = async (options: ReadOptions, ranges: readonly Range[]): Promise<void> => {
  const { kafka, log, from, follow } = options
  const groupId = `${kafka.prefix}reader-${randomUUID()}`
  const consumer = kafkaClient(kafka, log, RETRY).consumer({
    groupId,
    sessionTimeout: 10_000,
    heartbeatInterval: 1000,
    maxWaitTimeInMs: 500,
    allowAutoTopicCreation: false,
    retry: RETRY,
  })
  const open = new Map(
    ranges
      .filter(({ low, high }) => high > low)
      .map(({ topic, partition, high }) => [`${topic.slice(kafka.prefix.length)}/${partition}`, high]),
  )
  if (!follow && open.size === 0) return
  const end = endOf(consumer, options)
  try {
    await consumer.connect()
    const topics = [...new Set(ranges.map(({ topic }) => topic))]
    await consumer.subscribe({ topics, fromBeginning: from === 'earliest' })
    if (!follow) end.moved()
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: taker(options, open, end, follow),
    })
    if (open.size === 0) options.caughtUp?.()
    // messages written between the query of the end offsets and the join count as new
    if (from === 'latest')
      for (const { topic, partition, high } of ranges) consumer.seek({ topic, partition, offset: String(high) })
    await end.ended
  } finally {
    await consumer.disconnect().catch(() => undefined)
    await lookup(kafka, log)
      .asking((admin) => admin.deleteGroups([groupId]))
      .catch((error: unknown) => log.debug({ groupId, reason: String(error) }, 'kafka.groupLeft'))
  }
}

export const readTopics = async (options: ReadOptions): Promise<Read> => {
  const { kafka, log } = options
  const names = options.topics.map((topic) => kafka.prefix + topic)
  const { there, ranges } = await lookup(kafka, log).asking(async (admin) => {
    const known = new Set(await admin.listTopics())
    const present = names.filter((name) => known.has(name))
    return { there: new Set(present), ranges: await rangesOf(admin, present) }
  })
  if (there.size > 0) await consume(options, ranges)
  return {
    missing: options.topics.filter((topic) => !there.has(kafka.prefix + topic)),
    cut: new Set(
      ranges
        .filter(({ low }) => low > 0)
        .map(({ topic, partition }) => `${topic.slice(kafka.prefix.length)}/${partition}`),
    ),
  }
}
