/**
 * Simulated: how many answers a broker gives to hosts that each read a whole partition, by hosts, partitions and
 * orders. Seeded, so the same each time.
 */
import { partitionOf } from '../../src/bus/murmur2.ts'

export type Cloud = { readonly hosts: number; readonly partitions: number; readonly ordersPerSecond: number }
export type Fanout = Cloud & {
  /** Hosts on the fullest partition, to the mean. */
  readonly skew: number
  /** Answers with orders in them; those that end an idle poll come besides. */
  readonly answersPerSecond: number
  /** Orders that a host reads, its own among them. */
  readonly readPerHost: number
  /** Orders that all hosts read. */
  readonly readPerSecond: number
}

/** The relay publishes orders in rounds: those of one round and partition reach a host in one answer. */
const ROUND_MS = 5
const SECONDS = 300

/** Mulberry32. */
const seeded = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

export const fanout = (cloud: Cloud, seed = 1): Fanout => {
  const { hosts, partitions, ordersPerSecond } = cloud
  const random = seeded(seed)
  const homes = Array.from({ length: hosts }, (_, at) => partitionOf(`compute-${at}.example.org`, partitions))
  const readers = Array.from({ length: partitions }, () => 0)
  for (const home of homes) readers[home]!++
  let [answers, read, round] = [0, 0, -1]
  let touched = new Set<number>()
  // exponential gaps: orders come as they like
  for (let at = 0; at < SECONDS * 1000; at += (-Math.log(1 - random()) * 1000) / ordersPerSecond) {
    if (Math.floor(at / ROUND_MS) !== round) touched = new Set()
    round = Math.floor(at / ROUND_MS)
    const home = homes[Math.floor(random() * hosts)]!
    if (!touched.has(home)) answers += readers[home]!
    touched.add(home)
    read += readers[home]!
  }
  return {
    ...cloud,
    skew: Math.max(...readers) / (hosts / partitions),
    answersPerSecond: answers / SECONDS,
    readPerHost: read / SECONDS / hosts,
    readPerSecond: read / SECONDS,
  }
}

const HOSTS = [1000, 10_000]
const PARTITIONS = [12, 48, 120, 240]
const ORDERS = [24, 120]
export const fanouts = (): readonly Fanout[] =>
  HOSTS.flatMap((hosts) =>
    ORDERS.flatMap((ordersPerSecond) => PARTITIONS.map((partitions) => fanout({ hosts, partitions, ordersPerSecond }))),
  )
