/** The options of a service of several processes: its connection to Kafka, and options that only such processes use. */
import type { KafkaOptions } from '../../bus/kafka/options.ts'
import { DAY_MS } from '../../vocabulary/clock.ts'
import * as k from './kinds.ts'
import { optional, row } from './row.ts'
import type { Sections } from './sections.ts'

export const SEVERAL_PROCESSES = {
  auth: optional('program.auth', k.choice(['noauth', 'keystone']), {
    flag: true,
    about:
      'How callers of the API are authenticated; `control` requires it. keystone: by tokens, see keystone_authtoken. noauth: nobody is ' +
      'authenticated, so it listens on this machine only.',
    example: 'keystone',
  }),
  clock_offset_ms: row('program.clockOffsetMs', k.count(-DAY_MS, DAY_MS, 'milliseconds'), 0, {
    flag: true,
    only: 'environment and flag',
    about: 'Offset added to the clock of the process. Only with test_doors.',
  }),
  'kafka.brokers': optional('kafka.brokers', k.brokers, {
    flag: '--kafka',
    about: 'Kafka brokers through which `control` and `host` communicate.',
    example: ['kafka-1:9092', 'kafka-2:9092'],
  }),
  'kafka.prefix': row('kafka.prefix', k.topicPrefix, '', {
    flag: true,
    about: 'Prefix of every topic and consumer group, so that several systems can share one Kafka.',
  }),
  'kafka.create_topics': row('topics.create', k.toggle, true, {
    about: 'A `control` creates missing topics. Without it, it does not start while topics are missing.',
  }),
  'kafka.partitions': row('topics.partitions', k.count(1, 1000), 12, {
    flag: '--partitions',
    about: 'Partitions of topics that are created.',
  }),
  'kafka.replicas': row('topics.replicas', k.count(1, 15), 1, {
    flag: '--replicas',
    about: 'Replicas of topics that are created.',
  }),
  'kafka.retention_days': optional('topics.retentionMs', k.days(0.01, 3650), {
    about:
      'How long messages of created topics are kept. Without it, the default of each kind of topic applies; ' +
      'the last state of each key stays for ever either way.',
    example: 7,
  }),
  'kafka.tls': row('kafka.tls', k.toggle, false, {
    about: 'Use TLS with the brokers. Setting kafka.ca_file also enables it.',
  }),
  'kafka.ca_file': optional('kafka.caFile', k.file, {
    about: 'CA certificates in PEM, trusted in addition to those of the system, to verify the brokers.',
    example: '/etc/accelerando/kafka-ca.pem',
  }),
  'kafka.sasl_mechanism': optional('kafka.mechanism', k.choice(['plain', 'scram-sha-256', 'scram-sha-512']), {
    about: 'How to log in to the brokers. Without it there is no login.',
    example: 'scram-sha-512',
  }),
  'kafka.sasl_username': optional('kafka.username', k.word, {
    about: 'User name for the brokers.',
    example: 'accelerando',
  }),
  'kafka.sasl_password': optional('kafka.password', k.word, {
    secret: true,
    about: 'Password of that user.',
    example: 'change me',
  }),
}

/**
 * Null: Kafka is not used. Every program gives the broker a `clientId` of its own. `ca`: the content of the certificate
 * file.
 */
export const kafkaOf = (
  { brokers, prefix, tls, mechanism, username, password }: Sections['kafka'],
  ca: string | null,
): KafkaOptions | null => {
  if (brokers === null) return null
  return {
    brokers,
    prefix,
    clientId: 'accelerando',
    tls: tls || ca !== null ? { ca } : null,
    // a rule over these options sees to it that all of them are set, or none
    sasl: mechanism === null ? null : { mechanism, username: username!, password: password! },
  }
}
