/** The Kafka requests that kafkajs sends in these tests, each in the single version that the broker offers. */
import type { Codec, ValueOf } from './wire.ts'
import { array, bool, bytes, int16, int32, int64, int8, maybeArray, maybeText, struct, text } from './wire.ts'

const throttleMs = int32
const errorCode = int16
const partition = int32

const perPartition = <Row>(row: Codec<Row>) => array(struct({ topic: text, partitions: array(row) }))
const configs = array(struct({ name: text, value: maybeText }))

export const APIS = {
  Produce: {
    key: 0,
    version: 3,
    request: struct({
      transactionalId: maybeText,
      acks: int16,
      timeoutMs: int32,
      topics: perPartition(struct({ partition, records: bytes })),
    }),
    response: struct({
      topics: perPartition(struct({ partition, errorCode, baseOffset: int64, appendedAt: int64 })),
      throttleMs,
    }),
  },
  Fetch: {
    key: 1,
    version: 4,
    request: struct({
      replica: int32,
      maxWaitMs: int32,
      minBytes: int32,
      maxBytes: int32,
      isolation: int8,
      topics: perPartition(struct({ partition, offset: int64, maxBytes: int32 })),
    }),
    response: struct({
      throttleMs,
      topics: perPartition(
        struct({
          partition,
          errorCode,
          high: int64,
          stable: int64,
          aborted: array(struct({ producer: int64, offset: int64 })),
          records: bytes,
        }),
      ),
    }),
  },
  ListOffsets: {
    key: 2,
    version: 1,
    request: struct({ replica: int32, topics: perPartition(struct({ partition, timestamp: int64 })) }),
    response: struct({ topics: perPartition(struct({ partition, errorCode, timestamp: int64, offset: int64 })) }),
  },
  Metadata: {
    key: 3,
    version: 4,
    request: struct({ topics: maybeArray(text), makeMissing: bool }),
    response: struct({
      throttleMs,
      brokers: array(struct({ node: int32, host: text, port: int32, rack: maybeText })),
      cluster: text,
      controller: int32,
      topics: array(
        struct({
          errorCode,
          topic: text,
          internal: bool,
          partitions: array(
            struct({ errorCode, partition, leader: int32, replicas: array(int32), inSync: array(int32) }),
          ),
        }),
      ),
    }),
  },
  OffsetCommit: {
    key: 8,
    version: 3,
    request: struct({
      group: text,
      generation: int32,
      member: text,
      keepMs: int64,
      topics: perPartition(struct({ partition, offset: int64, note: maybeText })),
    }),
    response: struct({ throttleMs, topics: perPartition(struct({ partition, errorCode })) }),
  },
  OffsetFetch: {
    key: 9,
    version: 3,
    request: struct({ group: text, topics: maybeArray(struct({ topic: text, partitions: array(partition) })) }),
    response: struct({
      throttleMs,
      topics: perPartition(struct({ partition, offset: int64, note: maybeText, errorCode })),
      errorCode,
    }),
  },
  FindCoordinator: {
    key: 10,
    version: 1,
    request: struct({ key: text, kind: int8 }),
    response: struct({ throttleMs, errorCode, reason: maybeText, node: int32, host: text, port: int32 }),
  },
  JoinGroup: {
    key: 11,
    version: 2,
    request: struct({
      group: text,
      sessionMs: int32,
      rebalanceMs: int32,
      member: text,
      kind: text,
      protocols: array(struct({ name: text, metadata: bytes })),
    }),
    response: struct({
      throttleMs,
      errorCode,
      generation: int32,
      protocol: text,
      leader: text,
      member: text,
      members: array(struct({ member: text, metadata: bytes })),
    }),
  },
  Heartbeat: {
    key: 12,
    version: 1,
    request: struct({ group: text, generation: int32, member: text }),
    response: struct({ throttleMs, errorCode }),
  },
  LeaveGroup: {
    key: 13,
    version: 1,
    request: struct({ group: text, member: text }),
    response: struct({ throttleMs, errorCode }),
  },
  SyncGroup: {
    key: 14,
    version: 1,
    request: struct({
      group: text,
      generation: int32,
      member: text,
      assignments: array(struct({ member: text, assignment: bytes })),
    }),
    response: struct({ throttleMs, errorCode, assignment: bytes }),
  },
  DescribeGroups: {
    key: 15,
    version: 1,
    request: struct({ groups: array(text) }),
    response: struct({
      throttleMs,
      groups: array(
        struct({
          errorCode,
          group: text,
          state: text,
          kind: text,
          protocol: text,
          members: array(struct({ member: text, clientId: text, host: text, metadata: bytes, assignment: bytes })),
        }),
      ),
    }),
  },
  ListGroups: {
    key: 16,
    version: 1,
    request: struct({}),
    response: struct({ throttleMs, errorCode, groups: array(struct({ group: text, kind: text })) }),
  },
  SaslHandshake: {
    key: 17,
    version: 1,
    request: struct({ mechanism: text }),
    response: struct({ errorCode, mechanisms: array(text) }),
  },
  ApiVersions: {
    key: 18,
    version: 2,
    request: struct({}),
    response: struct({ errorCode, apis: array(struct({ key: int16, least: int16, most: int16 })), throttleMs }),
  },
  CreateTopics: {
    key: 19,
    version: 2,
    request: struct({
      topics: array(
        struct({
          topic: text,
          partitions: int32,
          replicas: int16,
          placed: array(struct({ partition, replicas: array(int32) })),
          configs,
        }),
      ),
      timeoutMs: int32,
      validateOnly: bool,
    }),
    response: struct({ throttleMs, topics: array(struct({ topic: text, errorCode, reason: maybeText })) }),
  },
  DescribeConfigs: {
    key: 32,
    version: 1,
    request: struct({
      resources: array(struct({ kind: int8, name: text, names: maybeArray(text) })),
      synonyms: bool,
    }),
    response: struct({
      throttleMs,
      resources: array(
        struct({
          errorCode,
          reason: maybeText,
          kind: int8,
          name: text,
          configs: array(
            struct({
              name: text,
              value: maybeText,
              readOnly: bool,
              source: int8,
              sensitive: bool,
              synonyms: array(struct({ name: text, value: maybeText, source: int8 })),
            }),
          ),
        }),
      ),
    }),
  },
  AlterConfigs: {
    key: 33,
    version: 0,
    request: struct({ resources: array(struct({ kind: int8, name: text, configs })), validateOnly: bool }),
    response: struct({
      throttleMs,
      resources: array(struct({ errorCode, reason: maybeText, kind: int8, name: text })),
    }),
  },
  SaslAuthenticate: {
    key: 36,
    version: 0,
    request: struct({ bytes }),
    response: struct({ errorCode, reason: maybeText, bytes }),
  },
  DeleteGroups: {
    key: 42,
    version: 0,
    request: struct({ groups: array(text) }),
    response: struct({ throttleMs, groups: array(struct({ group: text, errorCode })) }),
  },
}
export type Api = keyof typeof APIS
export type RequestOf<Of extends Api> = ValueOf<(typeof APIS)[Of]['request']>
export type ResponseOf<Of extends Api> = ValueOf<(typeof APIS)[Of]['response']>

/** As Kafka counts them. */
export const ERRORS = {
  NONE: 0,
  OFFSET_OUT_OF_RANGE: 1,
  UNKNOWN_TOPIC_OR_PARTITION: 3,
  LEADER_NOT_AVAILABLE: 5,
  NOT_LEADER_FOR_PARTITION: 6,
  REQUEST_TIMED_OUT: 7,
  NOT_ENOUGH_REPLICAS: 19,
  ILLEGAL_GENERATION: 22,
  INCONSISTENT_GROUP_PROTOCOL: 23,
  UNKNOWN_MEMBER_ID: 25,
  REBALANCE_IN_PROGRESS: 27,
  TOPIC_AUTHORIZATION_FAILED: 29,
  GROUP_AUTHORIZATION_FAILED: 30,
  UNSUPPORTED_SASL_MECHANISM: 33,
  TOPIC_ALREADY_EXISTS: 36,
  INVALID_REPLICATION_FACTOR: 38,
  SASL_AUTHENTICATION_FAILED: 58,
  NON_EMPTY_GROUP: 68,
  GROUP_ID_NOT_FOUND: 69,
}
