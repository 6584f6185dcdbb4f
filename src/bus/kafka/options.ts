/** Connection settings for Kafka. */
export type KafkaOptions = {
  /** `host:port`. */
  readonly brokers: readonly string[]
  /** Prefix of every topic and group name, so that several systems can share one Kafka cluster. May be empty. */
  readonly prefix: string
  /** Identifies the process in the broker's log. */
  readonly clientId: string
  /** `ca`: PEM certificates that are trusted in addition to those of the system. Null: no TLS. */
  readonly tls: { readonly ca: string | null } | null
  readonly sasl: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
    readonly username: string
    readonly password: string
  } | null
  /**
   * In ms: known partitions of a topic that are older than this are read again. Absent: `client.ts` has the default.
   */
  readonly metadataMaxAgeMs?: number
  /** When absent, `client.ts` uses its defaults. */
  readonly patience?: {
    readonly connectMs: number
    /** A request without an answer for this long has failed, and its connection is closed. */
    readonly answerMs: number
  }
}
