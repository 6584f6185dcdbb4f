/** Reads the dead letters on Kafka. */
import type { Log } from '../../vocabulary/log.ts'
import { CATALOGUE } from '../../wire/catalogue.ts'
import type { KafkaOptions } from './options.ts'
import { type ReadOptions, readTopics } from './read.ts'

const { topic: TOPIC } = CATALOGUE.deadLetters

type How = Pick<ReadOptions, 'take' | 'follow'> & Partial<Pick<ReadOptions, 'caughtUp' | 'signal'>>
const read = async (kafka: KafkaOptions, log: Log, how: How): Promise<void> => {
  const { missing } = await readTopics({ kafka, log, topics: [TOPIC], from: 'earliest', ...how })
  if (missing.length > 0)
    throw new Error(`there is no topic ${kafka.prefix}${TOPIC}: accelerando topic create makes it`)
}
/** Reads those that are there. Rejects when the topic is missing. */
export const readLetters = (kafka: KafkaOptions, log: Log, take: ReadOptions['take']): Promise<void> =>
  read(kafka, log, { take, follow: false })

/** Reads all, also those that come later. Rejects when the topic is missing or cannot be read. */
export const followLetters =
  (kafka: KafkaOptions, log: Log) =>
  (take: ReadOptions['take'], caughtUp: () => void, signal: AbortSignal): Promise<void> =>
    read(kafka, log, { take, caughtUp, signal, follow: true })
