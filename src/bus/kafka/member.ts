/**
 * One kafkajs consumer, which joins its group, hands over fetched messages, and ends once. To go on, its owner creates
 * a new member.
 *
 * MEMBER-1 the batch handler only queues messages: an error in it can end the consumer for good, and a slow one blocks
 *    other partitions;
 * MEMBER-2 a member never restarts by itself: its owner treats a crash and a long time without fetch or heartbeat in
 *    the same way;
 * MEMBER-3 offsets are committed through the newest batch, once each: the commit of kafkajs itself retries even after a
 *    rebalance;
 * MEMBER-4 a member is disconnected only after its start has ended: when disconnected during the first join, kafkajs
 *    joins nevertheless and never leaves the group, so its partitions are not read until the session times out.
 */
import type { Consumer, EachBatchPayload, KafkaMessage, PartitionAssigner } from 'kafkajs'
import { AssignerProtocol, PartitionAssigners } from 'kafkajs'
import type { Cancel, Clock } from '../../vocabulary/clock.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { Delivered } from '../port.ts'
import { kafkaClient, METADATA_MAX_AGE_MS } from './client.ts'
import type { KafkaOptions } from './options.ts'
import { reasonOf } from './errors.ts'
import { endedWithin, pause } from '../../vocabulary/waiting.ts'

export type Fetched = {
  readonly partition: number
  readonly messages: readonly Delivered[]
  /** The offset after the last of these messages. */
  readonly end: number
  /** The high watermark: the offset after the last message of the partition. */
  readonly high: number
}
export type MemberOptions = {
  readonly options: KafkaOptions
  /** Topic and group are names with the prefix. */
  readonly topic: string
  readonly group: string
  /** Chooses the partitions to read, by the number of partitions that the topic has; null: the group assigns them. */
  readonly choose: ((count: number) => readonly number[]) | null
  readonly clock: Clock
  readonly log: Log
  readonly silenceMs: number
  readonly joined: (partitions: readonly number[]) => void
  readonly rebalancing: () => void
  /** False: the batch was not accepted and will be fetched again. */
  readonly fetched: (fetched: Fetched) => boolean
}

const TICK_MS = 1000
const BROKEN_WAIT_MS = 1000
const LEAVE_MS = 5000
export const TIMES = { sessionTimeout: 6000, rebalanceTimeout: 9000, heartbeatInterval: 1000, maxWaitTimeInMs: 500 }
const RETRY = { retries: 5, initialRetryTime: 100, maxRetryTime: 1000, restartOnFailure: async () => false }
const NOTHING = Buffer.alloc(0)

/**
 * For the only member of a group, which gets the chosen partitions. kafkajs calls `assign` at each join, with fresh
 * metadata.
 */
const chosen =
  (choose: (count: number) => readonly number[]): PartitionAssigner =>
  ({ cluster }) => {
    const name = 'own'
    const { MemberMetadata, MemberAssignment } = AssignerProtocol
    const partitionsOf = (topic: string): number[] => [...choose(cluster.findTopicPartitionMetadata(topic).length)]
    return {
      name,
      version: 1,
      protocol: ({ topics }) => ({ name, metadata: MemberMetadata.encode({ version: 1, topics, userData: NOTHING }) }),
      assign: async ({ members, topics }) => {
        const assignment = Object.fromEntries(topics.map((topic) => [topic, partitionsOf(topic)]))
        const memberAssignment = MemberAssignment.encode({ version: 1, assignment, userData: NOTHING })
        return members.map(({ memberId }) => ({ memberId, memberAssignment }))
      },
    }
  }

type HeaderValue = NonNullable<KafkaMessage['headers']>[string]
const headerOf = (value: HeaderValue): string => String((Array.isArray(value) ? value.at(-1) : value) ?? '')
const deliveredOf =
  (topic: string, partition: number) =>
  ({ key, value, headers = {}, offset }: KafkaMessage): Delivered => ({
    topic,
    key: key?.toString() ?? '',
    value: value?.toString() ?? '',
    headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, headerOf(text)])),
    ...(value === null ? { tombstone: true } : {}),
    partition,
    offset: Number(offset),
  })

export class Member {
  /** Resolves with the reason when the member has ended. */
  readonly ended: Promise<Error>
  readonly #settings: MemberOptions
  readonly #consumer: Consumer
  readonly #end: (reason: Error) => void
  readonly #seen = { fetchAt: null as number | null, heartbeatAt: null as number | null }
  #commit: EachBatchPayload['commitOffsetsIfNecessary'] | null = null
  #cancelWatch: Cancel = () => {}
  #silentMs = 0
  #assigned: readonly number[] = []
  #in = false
  #over = false
  #starting: Promise<void> = Promise.resolve()

  constructor(settings: MemberOptions) {
    const { options, group, choose, log } = settings
    this.#settings = settings
    const { promise, resolve } = Promise.withResolvers<Error>()
    this.ended = promise
    this.#end = (reason) => {
      this.#over = true
      this.#in = false
      this.#cancelWatch()
      resolve(reason)
    }
    this.#consumer = kafkaClient(options, log, RETRY).consumer({
      groupId: group,
      ...TIMES,
      metadataMaxAge: options.metadataMaxAgeMs ?? METADATA_MAX_AGE_MS,
      allowAutoTopicCreation: false,
      retry: RETRY,
      partitionAssigners: [choose === null ? PartitionAssigners.roundRobin : chosen(choose)],
    })
    this.#listen()
  }

  get alive(): boolean {
    return this.#in && this.#silentMs < 4 * TICK_MS
  }
  get assigned(): readonly number[] {
    return this.#in ? this.#assigned : []
  }
  get seen(): { readonly fetchAt: number | null; readonly heartbeatAt: number | null } {
    return this.#seen
  }

  /** Rejects when connecting fails. A failed join is reported by `ended`. */
  start(): Promise<void> {
    this.#watch()
    this.#starting = this.#start()
    return this.#starting
  }
  async #start(): Promise<void> {
    const { topic } = this.#settings
    await this.#consumer.connect()
    // a partition without a committed offset starts at its oldest message; the owner seeks at the join if it starts
    // elsewhere
    await this.#consumer.subscribe({ topics: [topic], fromBeginning: true })
    if (this.#over) return
    const eachBatch = (payload: EachBatchPayload): Promise<void> => this.#handle(payload)
    await this.#consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch })
  }
  seek(partition: number, offset: number): void {
    this.#consumer.seek({ topic: this.#settings.topic, partition, offset: String(offset) })
  }
  pause(partition: number, paused: boolean): void {
    if (!this.#in) return
    const these = [{ topic: this.#settings.topic, partitions: [partition] }]
    try {
      if (paused) this.#consumer.pause(these)
      else this.#consumer.resume(these)
    } catch (error) {
      // before a crash event kafkajs may already have dropped its group; the next member starts with no partition
      // paused
      this.#settings.log.debug({ group: this.#settings.group, reason: reasonOf(error) }, 'kafka.unpaused')
    }
  }
  /** True: the offsets are stored. kafkajs cannot commit before the first batch was fetched. */
  async commit(offsets: ReadonlyMap<number, number>): Promise<boolean> {
    if (this.#commit === null || offsets.size === 0) return false
    const partitions = [...offsets].map(([partition, offset]) => ({ partition, offset: String(offset) }))
    try {
      await this.#commit({ topics: [{ topic: this.#settings.topic, partitions }] })
      return true
    } catch (error) {
      const { log, group } = this.#settings
      log.debug({ group, reason: reasonOf(error) }, 'kafka.uncommitted')
      return false
    }
  }
  async leave(): Promise<void> {
    const { clock, log, group } = this.#settings
    this.#end(new Error('left'))
    if (!(await endedWithin(clock, LEAVE_MS, this.#gone()))) log.info({ group }, 'kafka.leavesLater')
  }
  /** Disconnects as MEMBER-4 says. */
  async #gone(): Promise<void> {
    await this.#starting.catch(() => undefined)
    await this.#consumer.disconnect().catch(() => undefined)
  }

  #listen(): void {
    const { joined, rebalancing, topic, clock } = this.#settings
    const { GROUP_JOIN, REBALANCING, FETCH, HEARTBEAT, CRASH } = this.#consumer.events
    const sign = (): void => void (this.#silentMs = 0)
    this.#consumer.on(GROUP_JOIN, ({ payload }) => {
      sign()
      if (this.#over) return
      this.#in = true
      this.#assigned = payload.memberAssignment[topic] ?? []
      joined(this.#assigned)
    })
    this.#consumer.on(REBALANCING, () => {
      sign()
      rebalancing()
    })
    this.#consumer.on(FETCH, () => {
      sign()
      this.#seen.fetchAt = clock.now()
    })
    this.#consumer.on(HEARTBEAT, () => {
      sign()
      this.#seen.heartbeatAt = clock.now()
    })
    this.#consumer.on(CRASH, ({ payload }) => this.#end(payload.error))
  }
  /**
   * Counts timer ticks instead of clock time, so that after a pause of the whole process the consumer has time to
   * recover.
   */
  #watch(): void {
    const { clock, silenceMs } = this.#settings
    this.#cancelWatch = clock.after(TICK_MS, () => {
      this.#silentMs += TICK_MS
      if (this.#silentMs > silenceMs) this.#end(new Error(`no fetch or heartbeat for ${silenceMs} ms`))
      else this.#watch()
    })
  }

  async #handle(payload: EachBatchPayload): Promise<void> {
    const { topic, fetched, clock, log } = this.#settings
    const { batch } = payload
    const { partition } = batch
    this.#commit = (offsets) => payload.commitOffsetsIfNecessary(offsets)
    try {
      const messages = batch.messages.map(deliveredOf(topic, partition))
      const end = Number(batch.lastOffset()) + 1
      if (fetched({ partition, messages, end, high: Number(batch.highWatermark) }))
        payload.resolveOffset(batch.lastOffset())
    } catch (error) {
      log.error({ topic, partition, error }, 'kafka.broken')
      await pause(clock, BROKEN_WAIT_MS)
    }
  }
}
