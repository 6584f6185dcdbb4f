/**
 * Queries to a broker that are needed before its topics are read or written. Each uses a short connection of its own.
 */
import type { Admin } from 'kafkajs'
import type { Log } from '../../vocabulary/log.ts'
import { kafkaClient } from './client.ts'
import { clusterOf, topicsOf } from './metadata.ts'
import type { KafkaOptions } from './options.ts'
import { systemClock } from '../../vocabulary/clock.ts'
import { backoffMs, pause } from '../../vocabulary/waiting.ts'
import {
  isLeaderUnknown,
  isMissingTopic,
  isOfClient,
  isRefused,
  Misconfigured,
  missingTopic,
  reasonOf,
} from './errors.ts'

const RETRY = { retries: 3, initialRetryTime: 100, maxRetryTime: 500 }
/**
 * When a broker does not know the leader of a partition yet, kafkajs gives up at once and keeps its metadata, so the
 * next try uses a new connection.
 */
const LEADER = { tries: 6, firstMs: 200, maxMs: 2000 }

export type Questions = {
  /** The number of partitions of the topic. */
  readonly partitions: (topic: string) => Promise<number>
  readonly clusterId: () => Promise<string>
  /** By partition: the offset that the next message will get. */
  readonly ends: (topic: string) => Promise<ReadonlyMap<number, number>>
  /** By partition: the offset that the group committed; null: none. */
  readonly committed: (group: string, topic: string) => Promise<ReadonlyMap<number, number | null>>
}
export type Lookup = {
  /**
   * Opens a connection for `work`. When a partition has no known leader yet, all of `work` is done again on a new
   * connection, so it must be repeatable. Errors of kafkajs become messages for operators; errors that `work` itself
   * throws are not changed.
   */
  readonly asking: <T>(work: (admin: Admin, questions: Questions) => Promise<T>) => Promise<T>
}

const byPartition = <T>(
  rows: readonly { readonly partition: number; readonly offset: string }[],
  of: (offset: number) => T,
): ReadonlyMap<number, T> => new Map(rows.map(({ partition, offset }) => [partition, of(Number(offset))]))

const questionsTo = (admin: Admin, brokers: readonly string[]): Questions => ({
  partitions: async (topic) => {
    const { topics } = await topicsOf(admin, [topic]).catch((error: unknown) => {
      throw isMissingTopic(error) ? missingTopic(topic, brokers) : error
    })
    return topics[0]!.partitions.length
  },
  clusterId: async () => (await clusterOf(admin)).clusterId,
  ends: async (topic) => byPartition(await admin.fetchTopicOffsets(topic), (offset) => offset),
  committed: async (groupId, topic) => {
    const [found] = await admin.fetchOffsets({ groupId, topics: [topic] })
    return byPartition(found?.partitions ?? [], (offset) => (offset < 0 ? null : offset))
  },
})

export const lookup = (options: KafkaOptions, log: Log): Lookup => {
  const { brokers, sasl } = options
  const explained = (cause: unknown, connected: boolean): unknown => {
    if (!isOfClient(cause)) return cause
    const at = `Kafka at ${brokers.join(', ')}`
    const reason = reasonOf(cause)
    if (isRefused(cause))
      return new Misconfigured(`${at} refuses user ${sasl?.username ?? '(none)'}: ${reason}`, { cause })
    return new Error(`${at} ${connected ? 'failed' : 'cannot be reached'}: ${reason}`, { cause })
  }
  const askOnce = async <T>(work: (admin: Admin, questions: Questions) => Promise<T>): Promise<T> => {
    const admin = kafkaClient(options, log, RETRY).admin()
    let connected = false
    try {
      await admin.connect()
      connected = true
      return await work(admin, questionsTo(admin, brokers))
    } catch (error) {
      throw explained(error, connected)
    } finally {
      void admin.disconnect().catch(() => undefined)
    }
  }
  const asking: Lookup['asking'] = async (work) => {
    for (let failures = 1; ; failures++)
      try {
        return await askOnce(work)
      } catch (error) {
        if (failures === LEADER.tries || !isLeaderUnknown(error)) throw error
        await pause(systemClock, backoffMs(LEADER, failures))
      }
  }
  return { asking }
}
