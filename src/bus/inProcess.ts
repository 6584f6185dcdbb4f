/**
 * The bus within one process, made like the real one: topics of partitions, groups with positions, messages again after a failure.
 * Nothing outlives the process: what must not be lost is in the journal and on the hosts' disks, and is sent again from there.
 *
 * I1 a key's partition is Kafka's; only text crosses;
 * I2 members of a group share the partitions; a member with `onlyKey` takes only the partition of that key;
 * I3 a publisher waits behind earlier ones of the same partition only, so that one full partition does not stop the others.
 */
import type { Cancel, Clock } from '../clock.ts'
import { CATALOGUE } from '../wire/catalogue.ts'
import type { BusRecord } from '../wire/envelope.ts'
import { MESSAGE_MAX_BYTES } from '../wire/message.ts'
import type { Mangle, Member, Retry } from './cursor.ts'
import { Cursor } from './cursor.ts'
import { textOf } from './reason.ts'
import type { Log } from '../log.ts'
import { partitionOf } from './murmur2.ts'
import type { Room } from './partition.ts'
import { Partition } from './partition.ts'
import type { Bus, ConsumeOptions, Consumer } from './port.ts'

export type InProcessOptions = {
  readonly clock: Clock
  readonly partitions?: number
  readonly publishTimeoutMs?: number
  /** How long a stopping consumer waits for what is in hand. */
  readonly stopTimeoutMs?: number
  readonly retry?: Retry
  /** Per partition. */
  readonly room?: Room
  readonly mangle?: Mangle
  readonly log?: Pick<Log, 'warn'>
}
export type InProcessBus = Bus & {
  /** The group's members are gone as killed processes are: what they have in hand comes again to the next one. */
  readonly kill: (group: string) => void
  /** Messages the group has not done with yet. */
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
const TOPICS: ReadonlySet<string> = new Set(Object.values(CATALOGUE).map(({ topic }) => topic))

type Seat = Member & { readonly only: number | null; killed: boolean }
type Group = { readonly seats: Seat[]; readonly cursors: Map<number, Cursor> }
type Topic = { readonly partitions: readonly Partition[]; readonly groups: Map<string, Group> }
type Settings = Omit<InProcessOptions, keyof typeof DEFAULTS> & typeof DEFAULTS

const refusal = (record: BusRecord): string | null => {
  if (!TOPICS.has(record.topic)) return `there is no topic ${record.topic}`
  if (typeof record.value !== 'string') return `${record.topic}: only text crosses the bus`
  const bytes = Buffer.byteLength(record.value)
  return bytes > MESSAGE_MAX_BYTES
    ? `${record.topic}: a message of ${bytes} bytes, more than ${MESSAGE_MAX_BYTES}`
    : null
}

class Exchange {
  readonly #settings: Settings
  readonly #topics = new Map<string, Topic>()
  readonly #stops = new Set<() => Promise<void>>()
  readonly #publishing = new Set<(error: Error) => void>()
  #stopped = false

  constructor(settings: Settings) {
    this.#settings = settings
  }

  readonly publish = async (batch: readonly BusRecord[]): Promise<void> => {
    if (this.#stopped) throw new Error('the bus is stopped')
    const refused = batch.map(refusal).find((reason) => reason !== null)
    if (refused !== undefined) throw new Error(refused)
    const portions = Map.groupBy(batch, ({ topic, key }) => this.#partition(topic, key))
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let open = portions.size
    if (open === 0) resolve()
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
    if (!TOPICS.has(options.topic)) throw new Error(`there is no topic ${options.topic}`)
    const topic = this.#topic(options.topic)
    const group: Group = topic.groups.get(options.group) ?? { seats: [], cursors: new Map() }
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
    const { topic, group: name, from } = options
    const start = from === 'earliest' ? partition.base : partition.end
    const failed = ({ offset, key }: { readonly offset: number; readonly key: string }, error: unknown): void =>
      log?.warn({ topic, group: name, key, partition: partition.index, offset, reason: textOf(error) }, 'bus.again')
    const cursor = new Cursor({ partition, group: name, start, owner, clock, retry, mangle, failed })
    group.cursors.set(partition.index, cursor)
    partition.join(cursor)
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

/** The others take over, and a partition nobody reads any more may give up what the leaving one held back. */
const leave = ({ partitions }: Topic, group: Group, seat: Seat): void => {
  const place = group.seats.indexOf(seat)
  if (place >= 0) group.seats.splice(place, 1)
  for (const cursor of group.cursors.values()) cursor.wake()
  for (const partition of partitions) partition.moved()
}

export const inProcessBus = (options: InProcessOptions): InProcessBus => {
  const { publish, consume, stop, kill, lag } = new Exchange({ ...DEFAULTS, ...options })
  return { publish, consume, stop, kill, lag }
}
