/**
 * Creates a kafkajs client and avoids known problems of kafkajs.
 *
 * KAFKA-1 the `sasl` object is new for each client: kafkajs changes it, and a copy of a used one would authenticate
 *    with the old password;
 * KAFKA-2 retries are set explicitly: kafkajs changes its defaults when NODE_ENV is `test`;
 * KAFKA-3 messages of kafkajs go to our log, and repetitions of the same message are limited.
 */
import type { KafkaConfig, LogEntry, RetryOptions, SASLOptions } from 'kafkajs'
import { Kafka, logLevel } from 'kafkajs'
import type { Log } from '../../vocabulary/log.ts'
import type { KafkaOptions } from './options.ts'
import { mendHeaders } from './headers.ts'
import { mendTimer } from './timer.ts'

mendTimer()
mendHeaders()

/** The longest time until writers and readers of a topic learn of a new partition. */
export const METADATA_MAX_AGE_MS = 10_000
const PATIENCE = { connectMs: 3000, answerMs: 5000 }
const SAME_SENTENCE_MS = 10_000
const SENTENCES_MAX = 100

const secured = ({ tls, sasl }: KafkaOptions): Pick<KafkaConfig, 'ssl' | 'sasl'> => ({
  ...(tls === null ? {} : { ssl: tls.ca === null ? true : { ca: [tls.ca] } }),
  ...(sasl === null ? {} : { sasl: saslOf(sasl) }),
})
const saslOf = ({ mechanism, username, password }: NonNullable<KafkaOptions['sasl']>): SASLOptions => ({
  mechanism,
  username,
  password,
})

const said = (log: Log): ((entry: LogEntry) => void) => {
  const seen = new Map<string, number>()
  const fresh = (sentence: string): boolean => {
    const now = performance.now()
    const last = seen.get(sentence)
    if (last !== undefined && now - last < SAME_SENTENCE_MS) return false
    if (seen.size >= SENTENCES_MAX) seen.clear()
    seen.set(sentence, now)
    return true
  }
  return ({ namespace, level, log: { message: says, groupId, broker, error } }) => {
    if (!fresh(`${namespace} ${says}`)) return
    const detail = {
      part: namespace,
      says,
      group: groupId as unknown,
      broker: broker as unknown,
      reason: error as unknown,
    }
    log[level === logLevel.ERROR ? 'info' : 'debug'](detail, 'kafka.client')
  }
}

/** Pure: what kafkajs is told. */
export const configOf = (options: KafkaOptions, log: Log, retry: RetryOptions): KafkaConfig => {
  const { connectMs, answerMs } = options.patience ?? PATIENCE
  return {
    brokers: [...options.brokers],
    clientId: options.clientId,
    ...secured(options),
    connectionTimeout: connectMs,
    authenticationTimeout: answerMs,
    requestTimeout: answerMs,
    enforceRequestTimeout: true,
    retry,
    logLevel: logLevel.WARN,
    logCreator: () => said(log),
  }
}
export const kafkaClient = (options: KafkaOptions, log: Log, retry: RetryOptions): Kafka =>
  new Kafka(configOf(options, log, retry))
