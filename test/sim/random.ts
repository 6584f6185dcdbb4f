/** Random numbers from a seed: the same seed and the same sequence of calls give the same results on every machine. */
import { orderedIds } from '../../src/vocabulary/clock.ts'
import type { Ids } from '../../src/vocabulary/clock.ts'

export type Random = {
  /** From 0 up to, not including, 1. */
  readonly unit: () => number
  readonly below: (end: number) => number
  readonly between: (from: number, to: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <Item>(items: readonly Item[]) => Item
  readonly bytes: (count: number) => Uint8Array
  /** An independent stream: calls on this one do not affect it. */
  readonly fork: (name: string) => Random
}

const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  return value >>> 0
}

/** Mulberry32: small, fast, and good enough to choose with. */
export const seeded = (seed: string): Random => {
  let state = hash(seed)
  const unit = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296
  }
  const below = (end: number): number => Math.floor(unit() * end)
  return {
    unit,
    below,
    between: (from, to) => from + below(to - from + 1),
    chance: (probability) => unit() < probability,
    pick: (items) => {
      if (items.length === 0) throw new Error('there is nothing to pick from')
      return items[below(items.length)]!
    },
    bytes: (count) => Uint8Array.from({ length: count }, () => below(256)),
    fork: (name) => seeded(`${seed}/${name}`),
  }
}

const uuidOf = (bytes: Uint8Array): string => {
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = Buffer.from(bytes).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

export const seededIds = (random: Random, now: () => number): Ids => ({
  uuid: () => uuidOf(random.bytes(16)),
  ordered: orderedIds(now, random.bytes),
})
