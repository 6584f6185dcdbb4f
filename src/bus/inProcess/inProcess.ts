/**
 * The bus within one process, modelled on Kafka: topics with partitions, groups with positions, redelivery after a
 * failure. Nothing is persistent: messages that must not be lost are also in the journal or on the hosts' disks, and
 * are sent again from there.
 *
 * INPROCESS-1 a key has the same partition as on Kafka; messages are text only;
 * INPROCESS-2 members of a group share the partitions; a member with `onlyKey` takes only the partition of that key;
 * INPROCESS-3 a publisher waits only behind earlier publishers of the same partition, so that one full partition does
 *    not stop the others.
 */
import { type Backoff } from '../../vocabulary/waiting.ts'
import { randomUUID } from 'node:crypto'
import type { Cancel, Clock } from '../../vocabulary/clock.ts'

import type { BusRecord } from '../../wire/envelope.ts'
import type { Mangle, Member } from './cursor.ts'
import { Cursor } from './cursor.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import type { Log } from '../../vocabulary/log.ts'
import { partitionOf } from '../murmur2.ts'
import type { Room } from './partition.ts'
import { Partition } from './partition.ts'
import {
  type Bus,
  type ConsumeOptions,
  type Consumer,
  type ConsumerLag,
  type KnowsLags,
  Unpublishable,
} from '../port.ts'
import { offsetStoreRefusal, recordRefusal, topicRefusal } from '../refusal.ts'

export type InProcessOptions = {
  readonly clock: Clock
  readonly partitions?: number
  readonly publishTimeoutMs?: number
  /** How long a stopping consumer waits for messages in progress. */
  readonly stopTimeoutMs?: number
  readonly retry?: Backoff
  /** The limits of each partition. */
  readonly room?: Room
  readonly mangle?: Mangle
  readonly log?: Pick<Log, 'warn'>
}
export type InProcessBus = Bus &
  KnowsLags & {
    /**
     * Ends the members of the group as if their processes were killed: messages in progress are redelivered to the next
     * member.
     */
    readonly kill: (group: string) => void
    /** Number of messages that the group has not finished yet. */
    readonly lag: (topic: string, group: string) => number
  }

const MIB = 1024 * 1024
const DEFAULTS = {
  partitions: 12,
  publishTimeoutMs: 30_000,
  stopTimeoutMs: 10_000,
  retry: { firstMs: 20, maxMs: 2000 },
  room: { room: { count: 8192, bytes: 16 * MIB }, retain: { count: 512, bytes: MIB } },
}
type Seat = Member & { readonly only: number | null; killed: boolean }
type Group = {
  readonly seats: Seat[]
  readonly cursors: Map<number, Cursor>
  /**
   * The key of a consumer that stores its own offset. Each start of it is a new group, which replaces the earlier one.
   */
  readonly placeOf: string | null
}
type Topic = { readonly partitions: readonly Partition[]; readonly groups: Map<string, Group> }
type Settings = Omit<InProcessOptions, keyof typeof DEFAULTS> & typeof DEFAULTS

class Exchange {
  readonly #settings: Settings
  readonly #name = randomUUID()
  readonly #topics = new Map<string, Topic>()
  readonly #stops = new Set<() => Promise<void>>()
  readonly #publishing = new Set<(error: Error) => void>()
  #stopped = false

  constructor(settings: Settings) {
    this.#settings = settings
  }

  readonly publish = async (batch: readonly BusRecord[]): Promise<void> => {
    if (this.#stopped) throw new Error('the bus is stopped')
    const refused = batch.map(recordRefusal).find((reason) => reason !== null)
    if (refused !== undefined) throw new Unpublishable(refused)
    const portions = Map.groupBy(batch, ({ topic, key }) => this.#partition(topic, key))
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let open = portions.size
    const stored = (): void => (--open === 0 ? resolve() : undefined)
    const withdraws = [...portions].map(([partition, records]) => partition.put({ records, stored }))
    if (open > 0) await this.#bounded(promise, reject).finally(() => withdraws.forEach((withdraw) => withdraw()))
  }
  async #bounded(promise: Promise<void>, reject: (error: Error) => void): Promise<void> {
    const { clock, publishTimeoutMs } = this.#settings
    const late = clock.after(publishTimeoutMs, () =>
      reject(new Error(`no room on the bus within ${publishTimeoutMs} ms`)),
    )
    this.#publishing.add(reject)
    try {
      await promise
    } finally {
      late()
      this.#publishing.delete(reject)
    }
  }

  readonly consume = async (options: ConsumeOptions): Promise<Consumer> => {
    if (this.#stopped) throw new Error('the bus is stopped')
    const refused = topicRefusal(options.topic) ?? offsetStoreRefusal(options)
    if (refused !== null) throw new Error(refused)
    const topic = this.#topic(options.topic)
    if (options.offsetStore !== undefined) forgetEarlier(topic, options)
    const placeOf = options.offsetStore === undefined ? null : options.onlyKey!
    const group: Group = topic.groups.get(options.group) ?? { seats: [], cursors: new Map(), placeOf }
    topic.groups.set(options.group, group)
    let idle: () => void = () => {}
    const seat: Seat = {
      take: options.take,
      window: Math.max(1, options.window ?? 1),
      only: options.onlyKey === undefined ? null : partitionOf(options.onlyKey, topic.partitions.length),
      inHand: 0,
      killed: false,
      ended: () => (seat.inHand === 0 ? idle() : undefined),
    }
    group.seats.push(seat)
    const mine = topic.partitions.filter(({ index }) => seat.only === null || seat.only === index)
    for (const partition of mine) if (!group.cursors.has(partition.index)) this.#open(group, partition, options)
    for (const cursor of group.cursors.values()) cursor.wake()
    const stop = (): Promise<void> => {
      this.#stops.delete(stop)
      leave(topic, group, seat)
      return this.#drained(seat, (then) => (idle = then))
    }
    this.#stops.add(stop)
    return { stop }
  }
  #open(group: Group, partition: Partition, options: ConsumeOptions): void {
    const { clock, retry, mangle, log } = this.#settings
    const owner = (): Seat | undefined => {
      const seats = group.seats.filter(({ only }) => only === null || only === partition.index)
      return seats[partition.index % seats.length]
    }
    const { topic, group: name, from, offsetStore } = options
    const start = this.#placed(partition, offsetStore) ?? (from === 'earliest' ? partition.base : partition.end)
    const moved = (offset: number): void => offsetStore?.moved({ bus: this.#name, partition: partition.index, offset })
    const failed = ({ offset, key }: { readonly offset: number; readonly key: string }, error: unknown): void =>
      log?.warn({ topic, group: name, key, partition: partition.index, offset, reason: textOf(error) }, 'bus.again')
    const cursor = new Cursor({ partition, group: name, start, owner, clock, retry, mangle, failed, moved })
    group.cursors.set(partition.index, cursor)
    partition.join(cursor)
  }
  #placed({ index, end }: Partition, offsetStore: ConsumeOptions['offsetStore']): number | null {
    const from = offsetStore?.from ?? null
    if (from === null || from.bus !== this.#name || from.partition !== index) return null
    return Math.min(from.offset, end)
  }
  async #drained(seat: Seat, onIdle: (then: () => void) => void): Promise<void> {
    if (seat.inHand === 0 || seat.killed) return
    const { clock, stopTimeoutMs } = this.#settings
    const { promise, resolve } = Promise.withResolvers<void>()
    onIdle(resolve)
    const late: Cancel = clock.after(stopTimeoutMs, resolve)
    await promise
    late()
  }

  readonly kill = (name: string): void => {
    for (const topic of this.#topics.values()) {
      const group = topic.groups.get(name)
      for (const seat of group?.seats.slice() ?? []) {
        seat.killed = true
        leave(topic, group!, seat)
        for (const cursor of group!.cursors.values()) cursor.drop(seat)
      }
    }
  }
  readonly lag = (topic: string, name: string): number => {
    const known = this.#topics.get(topic)
    const cursors = [...(known?.groups.get(name)?.cursors ?? [])]
    return cursors.reduce((sum, [index, cursor]) => sum + known!.partitions[index]!.end - cursor.position, 0)
  }
  readonly lagsByPartition = async (): Promise<readonly ConsumerLag[]> =>
    [...this.#topics].flatMap(([topic, { groups, partitions }]) =>
      [...groups].flatMap(([group, { cursors }]) =>
        [...cursors].map(([partition, cursor]) => ({
          topic,
          group,
          partition,
          messages: partitions[partition]!.end - cursor.position,
        })),
      ),
    )
  readonly stop = async (): Promise<void> => {
    this.#stopped = true
    for (const reject of this.#publishing) reject(new Error('the bus is stopped'))
    await Promise.all([...this.#stops].map((stop) => stop()))
    for (const { groups } of this.#topics.values())
      for (const { cursors } of groups.values()) cursors.forEach((cursor) => cursor.close())
  }

  #topic(name: string): Topic {
    const made = Array.from({ length: this.#topics.has(name) ? 0 : this.#settings.partitions })
    const topic = this.#topics.get(name) ?? {
      partitions: made.map((_, index) => new Partition(name, index, this.#settings.room)),
      groups: new Map<string, Group>(),
    }
    this.#topics.set(name, topic)
    return topic
  }
  #partition(name: string, key: string): Partition {
    const { partitions } = this.#topic(name)
    return partitions[partitionOf(key, partitions.length)]!
  }
}

/**
 * A stopped consumer with its own offset keeps unread messages in the log until its next start, which removes its
 * earlier group.
 */
const forgetEarlier = ({ groups, partitions }: Topic, { group: name, onlyKey }: ConsumeOptions): void => {
  for (const [earlier, { seats, cursors, placeOf }] of groups) {
    if (placeOf !== onlyKey || earlier === name || seats.length > 0) continue
    for (const [index, cursor] of cursors) partitions[index]!.leave(cursor)
    for (const cursor of cursors.values()) cursor.close()
    groups.delete(earlier)
  }
}

/**
 * The other members take over the partitions of this one, and a partition without readers may delete the messages it
 * kept for this one.
 */
const leave = ({ partitions }: Topic, group: Group, seat: Seat): void => {
  const place = group.seats.indexOf(seat)
  if (place >= 0) group.seats.splice(place, 1)
  for (const cursor of group.cursors.values()) cursor.wake()
  for (const partition of partitions) partition.moved()
}

export const inProcessBus = (options: InProcessOptions): InProcessBus => {
  const { publish, consume, stop, kill, lag, lagsByPartition } = new Exchange({ ...DEFAULTS, ...options })
  return { publish, consume, stop, kill, lag, lagsByPartition }
}
