/** What has to be known of a broker before its topics are read or written, asked over a connection that is closed again. */
import type { Admin } from 'kafkajs'
import type { Log } from '../../log.ts'
import { kafkaClient } from './client.ts'
import { clusterOf, topicsOf } from './metadata.ts'
import type { KafkaOptions } from './options.ts'
import { isMissingTopic, isOfClient, isRefused, Misconfigured, missingTopic, reasonOf } from './errors.ts'

const RETRY = { retries: 3, initialRetryTime: 100, maxRetryTime: 500 }

export type Questions = {
  /** How many partitions the topic has. */
  readonly partitions: (topic: string) => Promise<number>
  readonly clusterId: () => Promise<string>
  /** By partition: the offset of the next message to come. */
  readonly ends: (topic: string) => Promise<ReadonlyMap<number, number>>
  /** By partition: what the group committed, null for nothing. */
  readonly committed: (group: string, topic: string) => Promise<ReadonlyMap<number, number | null>>
}
export type Lookup = {
  /** Asks over a connection of its own. Rejects with a sentence an operator can use; what `work` throws itself stays as it is. */
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
  const asking: Lookup['asking'] = async (work) => {
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
  return { asking }
}
