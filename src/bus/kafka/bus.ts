/** The bus on Kafka. */
import { type Backoff, orLate } from '../../vocabulary/waiting.ts'
import type { Clock } from '../../vocabulary/clock.ts'
import type { Log } from '../../vocabulary/log.ts'
import {
  type Bus,
  type ConsumeOptions,
  type Consumer,
  type ConsumerLag,
  type KnowsLags,
  Unpublishable,
} from '../port.ts'
import { offsetStoreRefusal, recordRefusal, topicRefusal } from '../refusal.ts'
import type { Lookup, Questions } from './lookup.ts'
import { lookup } from './lookup.ts'
import type { KafkaOptions } from './options.ts'
import { Publisher } from './publisher.ts'
import type { ConsumerState } from './subscription.ts'
import { Subscription } from './subscription.ts'

export type KafkaBusOptions = {
  readonly options: KafkaOptions
  readonly clock: Clock
  readonly log: Log
  readonly publishTimeoutMs?: number
  /** How long `consume` waits for the join. After it `consume` resolves, and the join continues in the background. */
  readonly joinWaitMs?: number
  readonly stopTimeoutMs?: number
  /** A consumer without a fetch or heartbeat for this long is replaced by a new one. */
  readonly silenceMs?: number
  readonly retry?: Backoff
  /**
   * A partition is paused when more than this is fetched and not finished, and resumed when at most half of it is left.
   */
  readonly full?: { readonly count: number; readonly bytes: number }
}
export type BusState = {
  /** True: the last request to the broker succeeded, and every consumer is alive. */
  readonly connected: boolean
  readonly lastError: { readonly at: number; readonly reason: string } | null
  readonly publisher: { readonly waiting: number; readonly waitingBytes: number }
  readonly consumers: readonly ConsumerState[]
}
export type Lag = {
  readonly topic: string
  readonly group: string
  /** Number of messages that the group has not finished, in all partitions or in the one that it reads. */
  readonly messages: number
}
export type KafkaBus = Bus &
  KnowsLags & {
    readonly state: () => BusState
    /** Asks the broker; rejects when it cannot be reached. */
    readonly lag: () => Promise<readonly Lag[]>
  }

export const DEFAULTS = {
  publishTimeoutMs: 30_000,
  joinWaitMs: 10_000,
  stopTimeoutMs: 10_000,
  silenceMs: 12_000,
  retry: { firstMs: 20, maxMs: 2000 },
  full: { count: 4096, bytes: 4 * 1024 * 1024 },
}

type Settings = KafkaBusOptions & typeof DEFAULTS

const lagsOf = async (ask: Questions, consumer: Subscription): Promise<readonly ConsumerLag[]> => {
  const { topic, group, own } = consumer.names
  const ends = await ask.ends(topic)
  const done = own ?? (await ask.committed(group, topic))
  const { partitions, ...state } = consumer.state
  return [...ends]
    .filter(([at]) => own === null || partitions.includes(at))
    .map(([partition, end]) => ({
      topic: state.topic,
      group: state.group,
      partition,
      messages: Math.max(0, end - (done.get(partition) ?? 0)),
    }))
}
const lagOf = async (ask: Questions, consumer: Subscription): Promise<Lag> => {
  const { topic, group } = consumer.state
  const messages = (await lagsOf(ask, consumer)).reduce((sum, one) => sum + one.messages, 0)
  return { topic, group, messages }
}

class Exchange {
  readonly #settings: Settings
  readonly #lookup: Lookup
  readonly #publisher: Publisher
  readonly #consumers = new Set<Subscription>()
  #heard = false
  #lastError: BusState['lastError'] = null
  #stopped: Promise<void> | null = null

  constructor(settings: Settings) {
    this.#settings = settings
    this.#lookup = lookup(settings.options, settings.log)
    this.#publisher = new Publisher({ ...settings, lookup: this.#lookup, attempted: this.#attempted })
  }

  readonly publish: Bus['publish'] = async (batch) => {
    const refused = batch.map(recordRefusal).find((reason) => reason !== null)
    if (refused !== undefined) throw new Unpublishable(refused)
    await this.#publisher.publish(batch)
  }
  readonly consume = async (wanted: ConsumeOptions): Promise<Consumer> => {
    const refused = topicRefusal(wanted.topic) ?? offsetStoreRefusal(wanted)
    if (refused !== null) throw new Error(refused)
    if (this.#stopped !== null) throw new Error('the bus is stopped')
    const subscription = new Subscription({
      ...this.#settings,
      wanted,
      lookup: this.#lookup,
      attempted: this.#attempted,
    })
    this.#consumers.add(subscription)
    const stop = async (): Promise<void> => {
      await subscription.stop()
      this.#consumers.delete(subscription)
    }
    try {
      await this.#begun(subscription)
    } catch (error) {
      await stop()
      throw error
    }
    return { stop }
  }
  async #begun(subscription: Subscription): Promise<void> {
    const { clock, log, joinWaitMs } = this.#settings
    await orLate(clock, subscription.start(), joinWaitMs, () => {
      const { topic, group } = subscription.state
      log.warn({ topic, group, waitedMs: joinWaitMs, reason: this.#lastError?.reason }, 'bus.joinWaits')
      subscription.letGo()
    })
  }

  readonly state = (): BusState => {
    const consumers = [...this.#consumers].map((consumer) => consumer.state)
    const { count, bytes } = this.#publisher.waiting
    return {
      connected: this.#heard && consumers.every(({ alive }) => alive),
      lastError: this.#lastError,
      publisher: { waiting: count, waitingBytes: bytes },
      consumers,
    }
  }
  readonly lag = (): Promise<readonly Lag[]> =>
    this.#lookup.asking((_admin, ask) => Promise.all([...this.#consumers].map((consumer) => lagOf(ask, consumer))))
  readonly lagsByPartition = async (): Promise<readonly ConsumerLag[]> => {
    const all = await this.#lookup.asking((_admin, ask) =>
      Promise.all([...this.#consumers].map((consumer) => lagsOf(ask, consumer))),
    )
    return all.flat()
  }
  readonly stop = (): Promise<void> => {
    const ends = (): readonly Promise<void>[] => [...this.#consumers].map((consumer) => consumer.stop())
    this.#stopped ??= Promise.all([...ends(), this.#publisher.stop()]).then(() => undefined)
    return this.#stopped
  }

  readonly #attempted = (reason: string | null): void => {
    const { clock, log } = this.#settings
    if (reason !== null) this.#lastError = { at: clock.now(), reason }
    if (reason === null && !this.#heard) log.info({}, 'bus.there')
    if (reason !== null && this.#heard) log.warn({ reason }, 'bus.away')
    this.#heard = reason === null
  }
}

export const kafkaBus = (options: KafkaBusOptions): KafkaBus => {
  const { publish, consume, state, lag, lagsByPartition, stop } = new Exchange({ ...DEFAULTS, ...options })
  return { publish, consume, state, lag, lagsByPartition, stop }
}
