/**
 * Sends messages in rounds: messages published while a round is in progress are sent in the next one.
 *
 * PUBLISHER-1 one round is outstanding at a time, so that messages of a partition are stored in order even after
 *    failures and retries;
 * PUBLISHER-2 a failed round is retried before any other message is sent, until the `publish` calls of its messages
 *    have timed out;
 * PUBLISHER-3 an answer that does not name every partition written to is a failure: kafkajs silently drops messages
 *    without a known partition;
 * PUBLISHER-4 after a failure a new connection is opened, since the old one may never answer again;
 * PUBLISHER-5 when a broker refuses messages because of their content or size, the next rounds are smaller until the
 *    refused message is alone: only its `publish` call fails.
 */
import type { ICustomPartitioner, Message, Producer, RecordMetadata } from 'kafkajs'
import { Partitioners } from 'kafkajs'
import type { Clock } from '../../vocabulary/clock.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { BusRecord } from '../../wire/envelope.ts'
import { kafkaClient, METADATA_MAX_AGE_MS } from './client.ts'
import type { Lookup } from './lookup.ts'
import type { KafkaOptions } from './options.ts'
import { isMisconfigured, isMissing, isUnpublishable, reasonOf } from './errors.ts'
import { Unpublishable } from '../port.ts'
import { backoffMs, createPauses, endedWithin, type Pauses } from '../../vocabulary/waiting.ts'

export type PublisherOptions = {
  readonly options: KafkaOptions
  readonly lookup: Lookup
  readonly clock: Clock
  readonly log: Log
  readonly publishTimeoutMs: number
  /** Called after each round with the reason of its failure; null: the round is stored. */
  readonly attempted: (reason: string | null) => void
}
type Call = { open: number; over: boolean; resolve: (error: Error | null) => void }
type Item = { readonly call: Call; readonly record: BusRecord; readonly bytes: number }

/** Limit per topic, and so per partition: a broker accepts batches of slightly more than 1 MB. */
const ROUND_TOPIC_BYTES = 1_000_000
const WAITING_MAX_BYTES = 64 * 1024 * 1024
const BACKOFF = { firstMs: 100, maxMs: 1000 }
const CLOSE_MS = 2000
const OVERHEAD_BYTES = 100
const ROUND_COUNT = 2000
const STORE_WITHIN_MS = 5000
/**
 * Enough retries to find a live broker. A failed send is not retried by kafkajs, but by this class on a new connection.
 */
const CONNECT_RETRY = { retries: 4, initialRetryTime: 50, maxRetryTime: 300 }
const SEND_RETRY = { retries: 0, initialRetryTime: 50, maxRetryTime: 300 }

const weightOf = ({ key, value, headers }: BusRecord): number =>
  Object.entries(headers).reduce(
    (sum, [name, text]) => sum + name.length + Buffer.byteLength(text) + 10,
    Buffer.byteLength(key) + Buffer.byteLength(value) + OVERHEAD_BYTES,
  )

const sumOf = (items: readonly Item[]): number => items.reduce((sum, { bytes }) => sum + bytes, 0)
const messageOf = ({ record: { key, value, headers, tombstone } }: Item): Message => ({
  key,
  value: tombstone === true ? null : value,
  headers: { ...headers },
})
const nameOf = ({ topicName, partition }: RecordMetadata): string => `${topicName}/${partition}`

export class Publisher {
  readonly #settings: PublisherOptions
  readonly #calls = new Set<Call>()
  readonly #known = new Set<string>()
  /** `topic/partition` of all partitions that the current round writes to. */
  readonly #written = new Set<string>()
  #queue: Item[] = []
  #waitingBytes = 0
  /** The most messages that go into the next round. */
  #roundMax = ROUND_COUNT
  #producer: Producer | null = null
  #running: Promise<void> | null = null
  readonly #pauses: Pauses
  #lastFailure = 'no answer yet'
  #worked = false
  #stopped = false

  constructor(settings: PublisherOptions) {
    this.#settings = settings
    this.#pauses = createPauses(settings.clock)
  }

  get waiting(): { readonly count: number; readonly bytes: number } {
    return { count: this.#queue.length, bytes: this.#waitingBytes }
  }

  async publish(batch: readonly BusRecord[]): Promise<void> {
    if (this.#stopped) throw new Error('the bus is stopped')
    if (batch.length === 0) return
    const { clock, publishTimeoutMs, options } = this.#settings
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const call: Call = { open: batch.length, over: false, resolve: () => {} }
    call.resolve = (error) => {
      call.over = true
      this.#calls.delete(call)
      return error === null ? resolve() : reject(error)
    }
    this.#enqueue(call, batch)
    const at = options.brokers.join(', ')
    const late = clock.after(publishTimeoutMs, () =>
      call.resolve(new Error(`not stored on Kafka at ${at} within ${publishTimeoutMs} ms: ${this.#lastFailure}`)),
    )
    await promise.finally(late)
  }
  #enqueue(call: Call, batch: readonly BusRecord[]): void {
    const items = batch.map((record) => ({ call, record, bytes: weightOf(record) }))
    const bytes = sumOf(items)
    if (this.#waitingBytes + bytes > WAITING_MAX_BYTES)
      return call.resolve(
        new Error(`no room on the bus: ${this.#waitingBytes} bytes wait for Kafka: ${this.#lastFailure}`),
      )
    this.#calls.add(call)
    this.#queue.push(...items)
    this.#waitingBytes += bytes
    this.#running ??= this.#run()
  }

  /** Gives the current round a short time to end, then rejects all waiting calls. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#pauses.stop()
    const { clock } = this.#settings
    if (this.#running !== null) await endedWithin(clock, CLOSE_MS, this.#running)
    for (const call of this.#calls) call.resolve(new Error('the bus is stopped'))
    await this.#drop()
  }

  async #run(): Promise<void> {
    for (let failures = 0; this.#queue.length > 0 && !this.#stopped;) {
      const round = await this.#attempt()
      failures = round ? 0 : failures + 1
      if (!round) await this.#pauses.pause(backoffMs(BACKOFF, failures))
    }
    // no `await` between the check of the queue and this line, so that a message queued later starts a new run
    this.#running = null
  }
  /** True: the attempt did not fail. */
  async #attempt(): Promise<boolean> {
    let round: readonly Item[] = []
    try {
      await this.#checkTopics()
      round = this.#take()
      if (round.length > 0) await this.#send(round)
      for (const { call } of round) if (--call.open === 0 && !call.over) call.resolve(null)
      if (round.length > 0) this.#tell(null)
      this.#roundMax = Math.min(ROUND_COUNT, 2 * this.#roundMax)
      return true
    } catch (error) {
      if (round.length > 0 && isUnpublishable(error)) return this.#refused(round, reasonOf(error))
      this.#tell(reasonOf(error))
      await this.#drop()
      const hopeless = isMisconfigured(error) && !this.#worked
      if (hopeless) for (const call of this.#calls) call.resolve(error as Error)
      this.#queue = [...round, ...this.#queue].filter(({ call }) => !call.over)
      this.#waitingBytes = sumOf(this.#queue)
      return false
    }
  }
  /** Handles a refusal as PUBLISHER-5 says. The broker has answered, so the connection is good and stays open. */
  #refused(round: readonly Item[], reason: string): boolean {
    if (round.length === 1) round[0]!.call.resolve(new Unpublishable(reason))
    this.#roundMax = Math.max(1, round.length >> 1)
    this.#queue = [...round, ...this.#queue].filter(({ call }) => !call.over)
    this.#waitingBytes = sumOf(this.#queue)
    return true
  }
  #tell(reason: string | null): void {
    if (reason === null) this.#worked = true
    else this.#lastFailure = reason
    this.#settings.attempted(reason)
  }

  /**
   * A missing topic that was never seen fails the calls of its publishers; a missing topic that was seen before is
   * tried again.
   */
  async #checkTopics(): Promise<void> {
    const unknown = new Set(this.#queue.map(({ record }) => record.topic).filter((topic) => !this.#known.has(topic)))
    for (const topic of unknown) {
      const reason = await this.#check(topic)
      if (reason === null) this.#known.add(topic)
      const here = this.#queue.filter(({ call, record }) => record.topic === topic && !call.over)
      if (reason !== null) for (const { call } of here) call.resolve(reason)
    }
  }
  async #check(topic: string): Promise<Error | null> {
    const { lookup, options } = this.#settings
    try {
      await lookup.asking((_admin, ask) => ask.partitions(options.prefix + topic))
      return null
    } catch (error) {
      if (isMissing(error)) return error
      throw error
    }
  }
  #take(): readonly Item[] {
    const bytesOf = new Map<string, number>()
    this.#queue = this.#queue.filter(({ call }) => !call.over)
    let count = 0
    for (const { record, bytes } of this.#queue) {
      // messages that arrived during the topic check wait for the next round
      if (count >= this.#roundMax || !this.#known.has(record.topic)) break
      const sum = (bytesOf.get(record.topic) ?? 0) + bytes
      if (sum > ROUND_TOPIC_BYTES && sum > bytes) break
      bytesOf.set(record.topic, sum)
      count++
    }
    const round = this.#queue.splice(0, count)
    this.#waitingBytes = sumOf(this.#queue)
    return round
  }

  async #send(round: readonly Item[]): Promise<void> {
    const { options } = this.#settings
    this.#written.clear()
    const producer = await this.#connected()
    const topics = Map.groupBy(round, ({ record }) => options.prefix + record.topic)
    const answer = await producer.sendBatch({
      acks: -1,
      timeout: STORE_WITHIN_MS,
      topicMessages: [...topics].map(([topic, items]) => ({ topic, messages: items.map(messageOf) })),
    })
    const stored = new Set(answer.filter(({ errorCode }) => errorCode === 0).map(nameOf))
    const lost = [...this.#written].filter((name) => !stored.has(name))
    if (this.#written.size === 0 || lost.length > 0)
      throw new Error(`Kafka did not acknowledge ${lost.join(', ') || 'anything'}`)
  }
  async #connected(): Promise<Producer> {
    if (this.#producer !== null) return this.#producer
    const { options, log } = this.#settings
    const createPartitioner: ICustomPartitioner = () => {
      const partition = Partitioners.DefaultPartitioner()
      return (args) => {
        const chosen = partition(args)
        this.#written.add(`${args.topic}/${chosen}`)
        return chosen
      }
    }
    const kafka = kafkaClient(options, log, CONNECT_RETRY)
    const metadataMaxAge = options.metadataMaxAgeMs ?? METADATA_MAX_AGE_MS
    this.#producer = kafka.producer({
      createPartitioner,
      metadataMaxAge,
      allowAutoTopicCreation: false,
      retry: SEND_RETRY,
    })
    await this.#producer.connect()
    return this.#producer
  }
  async #drop(): Promise<void> {
    const producer = this.#producer
    this.#producer = null
    if (producer !== null) await endedWithin(this.#settings.clock, CLOSE_MS, producer.disconnect())
  }
}
