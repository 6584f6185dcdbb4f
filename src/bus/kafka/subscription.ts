/**
 * A consumer of the bus: stays in its group until it is stopped, and survives failures of brokers and connections.
 *
 * SUBSCRIPTION-1 there is one member at a time; when it ends, a new one is created after a bounded wait;
 * SUBSCRIPTION-2 fetched messages stay in the lanes over rebalances, so that this process starts none twice;
 * SUBSCRIPTION-3 when another member gets a partition, its lane starts no more messages and commits no position;
 * SUBSCRIPTION-4 a full lane pauses only its own partition.
 */
import type { Cancel, Clock } from '../../vocabulary/clock.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { ConsumeOptions, Delivered } from '../port.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import type { StartOffsets } from './startOffsets.ts'
import { findStartOffsets } from './startOffsets.ts'
import { deleteGroups } from './groups.ts'
import { Lane } from './lane.ts'
import type { Lookup } from './lookup.ts'
import type { Fetched } from './member.ts'
import { Member } from './member.ts'
import { createOwnPartitions, type OwnPartitions } from './ownPartitions.ts'
import type { KafkaOptions } from './options.ts'
import { isMisconfigured, reasonOf } from './errors.ts'
import { backoffMs, createPauses, endedWithin, type Backoff, type Pauses } from '../../vocabulary/waiting.ts'

export type SubscriptionOptions = {
  readonly options: KafkaOptions
  readonly wanted: ConsumeOptions
  readonly lookup: Lookup
  readonly clock: Clock
  readonly log: Log
  readonly retry: Backoff
  readonly stopTimeoutMs: number
  readonly silenceMs: number
  readonly full: { readonly count: number; readonly bytes: number }
  /** Called with the reason when the membership is lost, and with null when the consumer has become a member. */
  readonly attempted: (reason: string | null) => void
}
export type ConsumerState = {
  readonly topic: string
  readonly group: string
  /** True: the consumer is a member, and there was a fetch or heartbeat in the last seconds. */
  readonly alive: boolean
  readonly partitions: readonly number[]
  /** These two times are in ms since the epoch; null: never. */
  readonly fetchAt: number | null
  readonly heartbeatAt: number | null
  /** Number of members created after the first. */
  readonly restarts: number
  readonly inHand: number
  /** Messages that are fetched and not finished. */
  readonly waiting: number
}
const BACKOFF = { firstMs: 200, maxMs: 2000 }
const COMMIT_EVERY_MS = 200
const DELETE_TRIES = 3

export class Subscription {
  readonly #settings: SubscriptionOptions
  readonly #topic: string
  readonly #group: string
  readonly #own: OwnPartitions | null
  readonly #lanes = new Map<number, Lane>()
  readonly #paused = new Set<number>()
  readonly #committed = new Map<number, number>()
  /** Partitions with a committed offset, at which kafkajs starts by itself. */
  readonly #known = new Set<number>()
  readonly #leaving = new Set<Promise<void>>()
  readonly #first = Promise.withResolvers<void>()
  #startOffsets: StartOffsets | null = null
  #member: Member | null = null
  #committing: Promise<void> | null = null
  #cancelCommit: Cancel | null = null
  readonly #pauses: Pauses
  #restarts = -1
  #awaited = true
  #stopped: Promise<void> | null = null
  #ended: Promise<void> | null = null

  constructor(settings: SubscriptionOptions) {
    const { options, wanted } = settings
    this.#settings = settings
    this.#pauses = createPauses(settings.clock)
    this.#topic = options.prefix + wanted.topic
    this.#group = options.prefix + wanted.group
    this.#own = wanted.onlyKey === undefined ? null : createOwnPartitions(wanted.onlyKey, this.#partitionMoved)
  }

  /** Resolves at the first join; rejects when a join is impossible. */
  start(): Promise<void> {
    this.#first.promise.catch(() => undefined)
    this.#ended = this.#run()
    return this.#first.promise
  }
  /** The caller no longer waits for the first join: from now on the join is retried until the stop. */
  letGo(): void {
    this.#awaited = false
  }
  get state(): ConsumerState {
    const lanes = [...this.#lanes.values()]
    return {
      topic: this.#settings.wanted.topic,
      group: this.#settings.wanted.group,
      alive: this.#member?.alive ?? false,
      partitions: this.#member?.assigned ?? [],
      fetchAt: this.#member?.seen.fetchAt ?? null,
      heartbeatAt: this.#member?.seen.heartbeatAt ?? null,
      restarts: Math.max(0, this.#restarts),
      inHand: lanes.reduce((sum, { inHand }) => sum + inHand, 0),
      waiting: lanes.reduce((sum, { size }) => sum + size.count, 0),
    }
  }
  /** Topic and group with prefix, and the positions of a consumer that stores its own offset. */
  get names(): { readonly topic: string; readonly group: string; readonly own: ReadonlyMap<number, number> | null } {
    const places = [...this.#lanes].map(([partition, { position }]) => [partition, position] as const)
    const own = this.#settings.wanted.offsetStore === undefined ? null : new Map(places)
    return { topic: this.#topic, group: this.#group, own }
  }
  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #run(): Promise<void> {
    for (let failures = 0; this.#stopped === null;) {
      const before = this.#restarts
      const reason = await this.#life()
      if (this.#stopped !== null) return
      failures = this.#restarts > before ? 1 : failures + 1
      const member = this.#member
      this.#member = null
      this.#settings.attempted(reasonOf(reason))
      // the old member is not awaited, since its connection may be what failed
      if (member !== null) void this.#gone(member.leave())
      if (isMisconfigured(reason) && this.#awaited) return this.#first.reject(reason)
      this.#settings.log.warn({ topic: this.#topic, group: this.#group, reason: reasonOf(reason) }, 'bus.consumerLost')
      await this.#pauses.pause(backoffMs(BACKOFF, failures))
    }
  }
  /** Runs one member; returns the reason why it ended. */
  async #life(): Promise<Error> {
    const { lookup, wanted } = this.#settings
    try {
      this.#startOffsets ??= await findStartOffsets(lookup, wanted, this.#topic, this.#group)
      if (this.#stopped !== null) return new Error('stopped')
      const member = this.#made()
      this.#member = member
      return await Promise.race([member.ended, member.start().then(() => member.ended)])
    } catch (error) {
      return error instanceof Error ? error : new Error(textOf(error))
    }
  }
  readonly #partitionMoved = (from: number, to: number): void =>
    this.#settings.log.warn({ topic: this.#topic, group: this.#group, from, to }, 'bus.partitionMoved')
  #made(): Member {
    const { options, clock, log, silenceMs } = this.#settings
    const member: Member = new Member({
      options,
      topic: this.#topic,
      group: this.#group,
      choose: this.#own?.choose ?? null,
      clock,
      log,
      silenceMs,
      joined: (partitions) => this.#joined(member, partitions),
      rebalancing: () => void this.#flush(),
      fetched: (fetched) => this.#fetched(member, fetched),
    })
    return member
  }

  #joined(member: Member, partitions: readonly number[]): void {
    const { wanted, attempted, log } = this.#settings
    for (const partition of this.#lanes.keys()) if (!partitions.includes(partition)) this.#give(partition)
    for (const partition of partitions) {
      const start = this.#startOf(partition)
      if (start !== null) member.seek(partition, start)
      // kafkajs keeps paused partitions over a rebalance, so the state is set again
      this.#press(member, partition)
    }
    this.#restarts++
    this.#awaited = false
    log.info({ topic: this.#topic, group: this.#group, partitions }, 'bus.joined')
    if (wanted.offsetStore !== undefined) for (const partition of this.#lanes.keys()) this.#storeOffset(partition)
    attempted(null)
    this.#first.resolve()
  }
  #startOf(partition: number): number | null {
    const lane = this.#lanes.get(partition)
    if (this.#settings.wanted.offsetStore !== undefined && lane !== undefined) return lane.next
    if (this.#known.has(partition)) return null
    return this.#startOffsets?.starts.get(partition) ?? null
  }
  #give(partition: number): void {
    const lane = this.#lanes.get(partition)!
    this.#lanes.delete(partition)
    this.#paused.delete(partition)
    this.#committed.delete(partition)
    void this.#gone(lane.close())
  }
  #gone(work: Promise<void>): Promise<void> {
    const noted: Promise<void> = work.finally(() => this.#leaving.delete(noted))
    this.#leaving.add(noted)
    return noted
  }

  #fetched(member: Member, { partition, messages, end, high }: Fetched): boolean {
    if (this.#stopped !== null || !member.assigned.includes(partition)) return false
    // the topic was deleted and created again, so its offsets begin anew
    if (high < (this.#lanes.get(partition)?.next ?? 0)) this.#give(partition)
    const lane = this.#lanes.get(partition) ?? this.#lane(partition)
    lane.put(
      messages.map((message) => ({ ...message, topic: this.#settings.wanted.topic })),
      end,
    )
    this.#press(member, partition)
    return true
  }
  #lane(partition: number): Lane {
    const { wanted, clock, retry, log } = this.#settings
    const failed = ({ key, offset }: Delivered, error: unknown): void =>
      log.warn({ topic: wanted.topic, group: wanted.group, key, partition, offset, reason: textOf(error) }, 'bus.again')
    const moved = (): void => (this.#lanes.get(partition) === lane ? this.#moved(partition) : undefined)
    const lane: Lane = new Lane({
      clock,
      window: Math.max(1, wanted.window ?? 1),
      retry,
      take: wanted.take,
      failed,
      moved,
    })
    this.#lanes.set(partition, lane)
    return lane
  }
  #press(member: Member, partition: number): void {
    const { count, bytes } = this.#lanes.get(partition)?.size ?? { count: 0, bytes: 0 }
    const was = this.#paused.has(partition)
    const share = was ? 0.5 : 1
    const { full: most } = this.#settings
    const full = count > share * most.count || bytes > share * most.bytes
    if (full) this.#paused.add(partition)
    else this.#paused.delete(partition)
    member.pause(partition, full)
  }

  #moved(partition: number): void {
    if (this.#member !== null && this.#paused.has(partition)) this.#press(this.#member, partition)
    if (this.#settings.wanted.offsetStore !== undefined) return this.#storeOffset(partition)
    this.#cancelCommit ??= this.#settings.clock.after(COMMIT_EVERY_MS, () => {
      this.#cancelCommit = null
      void this.#flush()
    })
  }
  #storeOffset(partition: number): void {
    if (partition !== this.#own?.current()) return
    const offset = this.#lanes.get(partition)!.position
    if (offset >= 0) this.#settings.wanted.offsetStore!.moved({ bus: this.#startOffsets!.bus, partition, offset })
  }
  /** Runs one commit at a time; the offsets of a failed commit are part of the next one. */
  #flush(): Promise<void> {
    const commit = async (): Promise<void> => {
      const places = [...this.#lanes].map(([at, { position }]) => [at, position] as const)
      const offsets = new Map(places.filter(([at, position]) => position > (this.#committed.get(at) ?? 0)))
      if (!(await this.#member?.commit(offsets))) return
      for (const [at, offset] of offsets) {
        this.#known.add(at)
        if (this.#lanes.has(at)) this.#committed.set(at, offset)
      }
    }
    if (this.#settings.wanted.offsetStore !== undefined) return Promise.resolve()
    this.#committing = (this.#committing ?? Promise.resolve()).then(commit)
    return this.#committing
  }

  async #stop(): Promise<void> {
    const { clock, stopTimeoutMs, wanted } = this.#settings
    // lets `stop` set `#stopped` first, so that no more messages are accepted
    await Promise.resolve()
    this.#first.reject(new Error('the bus is stopped'))
    this.#pauses.wake()
    const member = this.#member
    for (const partition of member?.assigned ?? []) member?.pause(partition, true)
    const lanes = [...this.#lanes.values()].map((lane) => lane.close())
    await endedWithin(clock, stopTimeoutMs, Promise.all([...lanes, ...this.#leaving]))
    this.#cancelCommit?.()
    await endedWithin(clock, stopTimeoutMs, this.#flush())
    await member?.leave()
    await endedWithin(clock, stopTimeoutMs, this.#ended!)
    if (wanted.offsetStore !== undefined && this.#restarts >= 0) await endedWithin(clock, stopTimeoutMs, this.#forget())
  }
  async #forget(): Promise<void> {
    for (let tries = 0; tries < DELETE_TRIES; tries++) {
      const reason = await this.#settings.lookup
        .asking((admin) => deleteGroups(admin, [this.#group]))
        .then(([gone]) => gone!.reason, reasonOf)
      if (reason === null) return
      this.#settings.log.info({ group: this.#group, reason }, 'kafka.groupStays')
      await this.#pauses.pause(BACKOFF.firstMs)
    }
  }
}
