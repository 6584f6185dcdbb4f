/** How long the last calls of one kind took. Old ones are forgotten, so the percentiles are those of the present. */
import type { WriteTimes } from '../../http/system.ts'

export type RecentTimes = {
  readonly add: (ms: number) => void
  /** Null: there was no call lately. */
  readonly read: () => WriteTimes | null
}
const KEPT = 1000
const WITHIN_MS = 15 * 60_000

/** `now`: ms since the epoch. */
export const recentTimes = (now: () => number): RecentTimes => {
  const kept: { readonly at: number; readonly ms: number }[] = []
  let next = 0
  return {
    add: (ms) => {
      kept[next] = { at: now(), ms }
      next = (next + 1) % KEPT
    },
    read: () => {
      const from = now() - WITHIN_MS
      const lately = kept.filter(({ at }) => at >= from)
      if (lately.length === 0) return null
      const took = lately.map(({ ms }) => ms).toSorted((one, other) => one - other)
      /** The smallest of them that is not exceeded by this share of all. */
      const at = (share: number): number => Math.round(took[Math.ceil(took.length * share) - 1]! * 100) / 100
      const since = lately.reduce((least, one) => Math.min(least, one.at), Number.POSITIVE_INFINITY)
      return { count: took.length, since, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) }
    },
  }
}
