/** What has to be known of a broker before its topics are read or written, asked by a connection that is closed again. */
import type { Admin } from 'kafkajs'
import type { Log } from '../../log.ts'
import { kafkaClient } from './client.ts'
import type { KafkaOptions } from './options.ts'
import { isMissingTopic, isRefused, Misconfigured, missingTopic, reasonOf } from './trouble.ts'

const RETRY = { retries: 3, initialRetryTime: 100, maxRetryTime: 500 }

export type Lookup = {
  /** Ask with a connection of their own. Reject with a sentence an operator can use. */
  readonly asking: <T>(work: (admin: Admin) => Promise<T>) => Promise<T>
  /** How many partitions the topic has. */
  readonly partitions: (topic: string) => Promise<number>
  readonly clusterId: () => Promise<string>
  /** By partition: the offset of the next message to come. */
  readonly ends: (topic: string) => Promise<ReadonlyMap<number, number>>
  /** By partition: what the group committed, null for nothing. */
  readonly committed: (group: string, topic: string) => Promise<ReadonlyMap<number, number | null>>
}

const countOf = async (admin: Admin, topic: string, brokers: readonly string[]): Promise<number> => {
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] }).catch((error: unknown) => {
    throw isMissingTopic(error) ? missingTopic(topic, brokers) : error
  })
  return topics[0]!.partitions.length
}

export const lookup = (options: KafkaOptions, log: Log): Lookup => {
  const { brokers } = options
  const explained = (error: unknown): Error => {
    if (error instanceof Misconfigured) return error
    const at = `Kafka at ${brokers.join(', ')}`
    return isRefused(error)
      ? new Misconfigured(`${at} refuses user ${options.sasl?.username ?? '(none)'}: ${reasonOf(error)}`, {
          cause: error,
        })
      : new Error(`${at} cannot be reached: ${reasonOf(error)}`, { cause: error })
  }
  const asking = async <T>(work: (admin: Admin) => Promise<T>): Promise<T> => {
    const admin = kafkaClient(options, log, RETRY).admin()
    try {
      await admin.connect()
      return await work(admin)
    } catch (error) {
      throw explained(error)
    } finally {
      void admin.disconnect().catch(() => undefined)
    }
  }
  const offsets = <T>(
    rows: readonly { readonly partition: number; readonly offset: string }[],
    of: (at: number) => T,
  ) => new Map(rows.map(({ partition, offset }) => [partition, of(Number(offset))]))
  return {
    asking,
    partitions: (topic) => asking((admin) => countOf(admin, topic, brokers)),
    clusterId: () => asking(async (admin) => (await admin.describeCluster()).clusterId),
    ends: (topic) => asking(async (admin) => offsets(await admin.fetchTopicOffsets(topic), (at) => at)),
    committed: (groupId, topic) =>
      asking(async (admin) => {
        const [found] = await admin.fetchOffsets({ groupId, topics: [topic] })
        return offsets(found?.partitions ?? [], (at) => (at < 0 ? null : at))
      }),
  }
}
