/**
 * The simulated broker: the in-process bus with delays, duplicates, reordering, rebalances and failed publishes, as the
 * seed says.
 */
import type { TopicMessage } from '../../src/audit/evidence.ts'
import type { Mangle } from '../../src/bus/inProcess/cursor.ts'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import { partitionOf } from '../../src/bus/murmur2.ts'
import type { Bus, ConsumeOptions, Consumer, Delivered } from '../../src/bus/port.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import type { Random } from './random.ts'
import type { Life, Schedule } from './schedule.ts'
import type { Snare } from './snare.ts'
import type { Tap } from './tap.ts'

export type Network = {
  /** Strength of the disturbances, from 0 to 1. */
  unrest: number
  /** Probability that a publish fails, from 0 to 1. */
  mischief: number
  readonly life: Life
  readonly seenBy: (life: Life) => Bus
  /** Starts a rebalance of all groups: paused members do not rejoin, and messages in progress are redelivered. */
  readonly rebalance: () => void
  /** Publishes directly to the bus, without recording the message. */
  readonly poison: (record: BusRecord) => void
  /** All messages ever stored, in order of offset. */
  readonly stored: readonly TopicMessage[]
}
type Member = { readonly life: Life; readonly options: ConsumeOptions; consumer: Consumer | null }

const PARTITIONS = 12
const PUBLISH_TIMEOUT_MS = 8000
/** The delay of a late message; shorter than the grace period that relays rely on. */
const LATE_MS = 25_000
/** The number of last messages that are redelivered to the next owner of a partition. */
const CHUNK = 12
const ENDLESS = { count: Infinity, bytes: Infinity }

/** Periodic messages, which say nothing about open work. */
const isIdle = ({ value }: Pick<BusRecord, 'value'>): boolean => value.includes('"type":"Heartbeat"')

/** Records the messages of the topics as they are stored. */
const openRecord = (generation: number) => {
  const stored: TopicMessage[] = []
  const ends = new Map<string, number>()
  const note = ({ topic, key, value, tombstone }: BusRecord): void => {
    const partition = generation * PARTITIONS + partitionOf(key, PARTITIONS)
    const offset = ends.get(`${topic}/${partition}`) ?? 0
    ends.set(`${topic}/${partition}`, offset + 1)
    const place = { topic, partition, offset, key }
    if (tombstone) return void stored.push({ ...place, id: null, type: null, position: null, time: null, body: null })
    const { id, type, position = null, time, data } = JSON.parse(value)
    stored.push({ ...place, id, type, position, time: Date.parse(time), body: data })
  }
  return { stored, note }
}

const mangleOf =
  (random: Random, disturbance: { readonly unrest: number }): Mangle =>
  (candidates) => {
    const late = random.chance(0.02 + disturbance.unrest * 0.3)
    const again = random.chance(0.1 + disturbance.unrest * 0.3)
    // most repeats follow soon; some come when everything has moved on
    const latest = random.chance(0.6) ? 3000 : 120_000
    return {
      index: random.below(candidates.length),
      ...(late ? { delayMs: random.below(50 + disturbance.unrest * 8000) } : {}),
      ...(again ? { againAfterMs: random.below(latest) } : {}),
    }
  }

type Ports = {
  readonly schedule: Schedule
  readonly random: Random
  readonly snare: Snare
  readonly tap: Tap
  /** Nothing is repeated, delayed or reordered unless somebody says so. */
  readonly calm: boolean
  /** Which it is, after so many that were lost. */
  readonly generation: number
}

export const openNetwork = ({ schedule, random, snare, tap, calm, generation }: Ports): Network => {
  const server = schedule.life('bus')
  const disturbance = { unrest: 0, mischief: 0 }
  const delayMs = (): number => (random.chance(0.2) ? random.below(5) : 0)
  const { stored, note } = openRecord(generation)
  const bus = inProcessBus({
    clock: schedule.clockOf(server),
    ...(calm ? {} : { mangle: mangleOf(random, disturbance) }),
    partitions: PARTITIONS,
    // so that what is published is stored at once
    room: { room: ENDLESS, retain: ENDLESS },
  })
  const members = new Set<Member>()
  const recent: Delivered[] = []

  let round = 0

  const store = async (batch: readonly BusRecord[]): Promise<void> => {
    await bus.publish(batch)
    for (const record of batch) note(record)
  }
  const publish = async (life: Life, batch: readonly BusRecord[]): Promise<void> => {
    await snare.pass(life, 'publish')
    const fate = random.chance(disturbance.mischief) ? random.pick(['refused', 'untold', 'late'] as const) : 'well'
    const work = fate === 'refused' ? () => Promise.reject(new Error('the broker refuses')) : () => store(batch)
    const wait = fate === 'late' ? () => random.below(LATE_MS) : delayMs
    const sent = schedule.across(life, server, wait, work)
    sent.catch(() => {})
    await snare.pass(life, 'published')
    await schedule.within(life, PUBLISH_TIMEOUT_MS, sent, 'the broker does not answer')
    if (fate === 'untold') throw new Error('the answer of the broker is lost')
  }
  const send = (life: Life, batch: readonly BusRecord[]): Promise<void> =>
    batch.every(isIdle) ? publish(life, batch) : tap.pass(life, 'publish', () => publish(life, batch))
  const join = async (member: Member, mine: number): Promise<void> => {
    if (mine === round && member.life.alive && members.has(member)) member.consumer = await bus.consume(member.options)
  }
  const rebalance = (): void => {
    const mine = ++round
    for (const group of new Set([...members].map(({ options }) => options.group))) bus.kill(group)
    const there = [...members].filter(({ life }) => life.alive && !life.parked)
    // whoever is asked first gets the first partitions
    for (let left = there.length; left > 0; left--) {
      const [member] = there.splice(random.below(left), 1)
      schedule.soon(server, () => void join(member!, mine))
    }
    if (members.size === 0) return
    const heir = random.pick([...members])
    for (const message of recent.splice(0, random.below(CHUNK))) heir.options.take(message, () => false).catch(() => {})
  }
  const seenBy = (life: Life): Bus => {
    const consumers = new Set<Consumer>()
    const leave = (): void => {
      for (const consumer of consumers) void consumer.stop()
      for (const member of members) if (member.life === life && members.delete(member)) void member.consumer?.stop()
    }
    life.mourners.add(() => schedule.soon(server, leave))
    const consume: Bus['consume'] = (options) =>
      schedule.across(life, server, delayMs, async () => {
        // a consumer that dies has not taken what it had in hand: that comes again
        const take: typeof options.take = (message, stepAside) => {
          if (options.offsetStore === undefined && recent.push(message) > CHUNK) recent.shift()
          const taken = (): Promise<void> =>
            schedule.across(server, life, delayMs, () => options.take(message, stepAside))
          return isIdle(message) ? taken() : tap.pass(life, 'deliver', taken)
        }
        const member: Member = { life, options: { ...options, take }, consumer: null }
        if (options.offsetStore === undefined) members.add(member)
        const consumer = await bus.consume(member.options)
        if (options.offsetStore === undefined) member.consumer = consumer
        else consumers.add(consumer)
        if (!life.alive) leave()
        const stop = (): Promise<void> => {
          members.delete(member)
          return (member.consumer ?? consumer).stop()
        }
        return { stop: () => schedule.across(life, server, delayMs, stop) }
      })
    return { publish: (batch) => send(life, batch), consume, stop: async () => {} }
  }
  const poison = (record: BusRecord): void => schedule.soon(server, () => void bus.publish([record]))
  return Object.assign(disturbance, { life: server, seenBy, rebalance, poison, stored })
}
