/** How to reach a Kafka. */
export type KafkaOptions = {
  /** `host:port`. */
  readonly brokers: readonly string[]
  /** Stands before the name of every topic and group, so that several systems can share a Kafka. May be empty. */
  readonly prefix: string
  /** Tells processes apart in the broker's log. */
  readonly clientId: string
  /** `ca`: certificates in PEM that are believed besides those of the system. Null: no TLS. */
  readonly tls: { readonly ca: string | null } | null
  readonly sasl: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
    readonly username: string
    readonly password: string
  } | null
  /** What `client.ts` waits for when this is not given. */
  readonly patience?: {
    readonly connectMs: number
    /** A request without an answer for so long has failed, and its connection is not trusted any more. */
    readonly answerMs: number
  }
}
