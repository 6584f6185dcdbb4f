/** An administrator's connection for the length of one piece of work. */
import type { Admin } from 'kafkajs'
import { Kafka, logLevel } from 'kafkajs'
import type { Log } from '../../log.ts'
import type { KafkaOptions } from './options.ts'

const RETRY = { retries: 3, initialRetryTime: 200, maxRetryTime: 1000 }

const sentence = ({ brokers }: KafkaOptions, cause: unknown): string =>
  `Kafka at ${brokers.join(', ')} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`

export const withAdmin = async <T>(
  { brokers, clientId, tls, sasl }: KafkaOptions,
  log: Log,
  work: (admin: Admin) => Promise<T>,
): Promise<T> => {
  const kafka = new Kafka({
    brokers: [...brokers],
    clientId,
    ...(tls ? { ssl: tls.ca === null ? true : { ca: [tls.ca] } } : {}),
    ...(sasl ? { sasl: { ...sasl } as never } : {}),
    logLevel: logLevel.NOTHING,
    connectionTimeout: 3000,
    requestTimeout: 15_000,
    retry: RETRY,
  })
  const admin = kafka.admin({ retry: RETRY })
  await admin.connect().catch((cause: unknown) => {
    throw new Error(sentence({ brokers } as KafkaOptions, cause), { cause })
  })
  try {
    return await work(admin)
  } finally {
    await admin.disconnect().catch((cause: unknown) => log.debug({ reason: String(cause) }, 'kafka.disconnect'))
  }
}
