/**
 * One life of a consumer of kafkajs: it joins, hands over what it fetches, and ends once. Whoever wants another makes a new one.
 *
 * MEMBER-1 the handler neither throws nor works: an error in it can end the consumer for good, and its slowness blocks other partitions;
 * MEMBER-2 it never restarts by itself: an end by crash and an end by silence are the same to its owner;
 * MEMBER-3 offsets are committed through the newest batch, once each: kafkajs's own commit repeats itself past a rebalance;
 * MEMBER-4 it is disconnected when its start is over, not before: disconnected during the first join, kafkajs joins all the same and
 *    never tells the group that it leaves, whose partitions nobody reads until the session is over.
 */
import type { Consumer, EachBatchPayload, KafkaMessage, PartitionAssigner } from 'kafkajs'
import { AssignerProtocol, PartitionAssigners } from 'kafkajs'
import type { Cancel, Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { Delivered } from '../port.ts'
import { kafkaClient } from './client.ts'
import type { KafkaOptions } from './options.ts'
import { reasonOf } from './errors.ts'
import { endedWithin } from '../../waiting.ts'

export type Fetched = {
  readonly partition: number
  readonly messages: readonly Delivered[]
  /** Past the last of them. */
  readonly end: number
  /** Past the last the partition has. */
  readonly high: number
}
export type MemberOptions = {
  readonly options: KafkaOptions
  /** With the prefix, both. */
  readonly topic: string
  readonly group: string
  /** The one partition to read; null: the group's share. */
  readonly only: number | null
  readonly clock: Clock
  readonly log: Log
  readonly silenceMs: number
  readonly joined: (partitions: readonly number[]) => void
  readonly rebalancing: () => void
  /** False: nothing was taken, it comes again. */
  readonly fetched: (fetched: Fetched) => boolean
}

const TICK_MS = 1000
const BROKEN_WAIT_MS = 1000
const LEAVE_MS = 5000
export const TIMES = { sessionTimeout: 6000, rebalanceTimeout: 9000, heartbeatInterval: 1000, maxWaitTimeInMs: 500 }
const METADATA_MAX_AGE_MS = 60_000
const RETRY = { retries: 5, initialRetryTime: 100, maxRetryTime: 1000, restartOnFailure: async () => false }
const NOTHING = Buffer.alloc(0)

const onlyOne =
  (partition: number): PartitionAssigner =>
  () => {
    const name = `only-${partition}`
    const { MemberMetadata, MemberAssignment } = AssignerProtocol
    return {
      name,
      version: 1,
      protocol: ({ topics }) => ({ name, metadata: MemberMetadata.encode({ version: 1, topics, userData: NOTHING }) }),
      assign: async ({ members, topics }) => {
        const assignment = Object.fromEntries(topics.map((topic) => [topic, [partition]]))
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
  /** Why it ended. */
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
    const { options, group, only, log } = settings
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
      metadataMaxAge: METADATA_MAX_AGE_MS,
      allowAutoTopicCreation: false,
      retry: RETRY,
      partitionAssigners: [only === null ? PartitionAssigners.roundRobin : onlyOne(only)],
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

  /** Rejects, or ends later: a failed join is told as an end. */
  start(): Promise<void> {
    this.#watch()
    this.#starting = this.#start()
    return this.#starting
  }
  async #start(): Promise<void> {
    const { topic } = this.#settings
    await this.#consumer.connect()
    // without a committed offset kafkajs would begin anywhere: who begins elsewhere is moved at the join
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
      // kafkajs has no group any more when it is on its way to a crash; the next member begins with nothing paused
      this.#settings.log.debug({ group: this.#settings.group, reason: reasonOf(error) }, 'kafka.unpaused')
    }
  }
  /** Whether they are stored. Without a batch since the start there is nothing that can be committed. */
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
  /** MEMBER-4 */
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
  /** Counted in ticks of our own: after a pause of the whole process it has a chance to come back by itself. */
  #watch(): void {
    const { clock, silenceMs } = this.#settings
    this.#cancelWatch = clock.after(TICK_MS, () => {
      this.#silentMs += TICK_MS
      if (this.#silentMs > silenceMs) this.#end(new Error(`no sign of life for ${silenceMs} ms`))
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
      await endedWithin(clock, BROKEN_WAIT_MS, new Promise(() => {}))
    }
  }
}
