/**
 * Adds up how long accelerators were bound, by project, resource class and period. Whole milliseconds: nothing is
 * rounded. Pure.
 */
import type { ProjectId } from '../../vocabulary/identifiers.ts'

export const USAGE_PERIODS = ['total', 'month', 'day'] as const
export type UsagePeriod = (typeof USAGE_PERIODS)[number]

export type Binding = {
  readonly project_id: ProjectId | null
  readonly resource_class: string
  /** How many such bindings are equal to one accelerator. */
  readonly parts: number
  readonly from_at: number
  readonly until_at: number
}
export type UsageLine = {
  readonly project: ProjectId | null
  readonly resourceClass: string
  /** The part of the period that lies in the requested range, ms since the epoch; `until` is exclusive. */
  readonly from: number
  readonly until: number
  readonly deviceSeconds: number
  /** How many bindings contributed. */
  readonly bindings: number
}

/** The beginning of the month that ends at this moment, or contains it; in UTC. */
export const monthOf = (until: number): number => {
  const date = new Date(until - 1)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
}

/** The next beginning of a period after this moment, by the calendar in UTC. */
const nextBegin = (at: number, period: Exclude<UsagePeriod, 'total'>): number => {
  const date = new Date(at)
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
  return period === 'month' ? Date.UTC(year, month + 1, 1) : Date.UTC(year, month, day + 1)
}
/** The moments at which periods begin or end, from `from` to `until`. */
export const boundsOf = (from: number, until: number, period: UsagePeriod): readonly number[] => {
  const bounds = [from]
  if (period !== 'total') for (let at = nextBegin(from, period); at < until; at = nextBegin(at, period)) bounds.push(at)
  return [...bounds, until]
}

/** The interval that contains this moment, as the index of the bound at which it begins. */
const intervalAt = (bounds: readonly number[], at: number): number => {
  let [low, high] = [0, bounds.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (bounds[middle]! <= at) low = middle
    else high = middle - 1
  }
  return low
}

/** Sums are in halves of a millisecond, because two bindings may be parts of one accelerator. */
type Sum = {
  readonly project: ProjectId | null
  readonly resourceClass: string
  readonly at: number
  halves: number
  bindings: number
}

export const openTally = (bounds: readonly number[]) => {
  const [begin, end] = [bounds[0]!, bounds.at(-1)!]
  const sums = new Map<string, Sum>()
  return {
    add: ({
      project_id: project,
      resource_class: resourceClass,
      parts,
      from_at: from,
      until_at: until,
    }: Binding): void => {
      const [first, last] = [Math.max(from, begin), Math.min(until, end)]
      if (last <= first) return
      for (let at = intervalAt(bounds, first); at < bounds.length - 1 && bounds[at]! < last; at++) {
        const ms = Math.min(last, bounds[at + 1]!) - Math.max(first, bounds[at]!)
        const key = `${at} ${resourceClass} ${project ?? ''}`
        const sum = sums.get(key) ?? { project, resourceClass, at, halves: 0, bindings: 0 }
        sum.halves += (2 / parts) * ms
        sum.bindings += 1
        sums.set(key, sum)
      }
    },
    size: () => sums.size,
    /** Ordered by period, project and class. */
    lines: (): readonly UsageLine[] =>
      [...sums.values()]
        .toSorted(
          (one, other) =>
            one.at - other.at ||
            compared(one.project ?? '', other.project ?? '') ||
            compared(one.resourceClass, other.resourceClass),
        )
        .map(({ project, resourceClass, at, halves, bindings }) => ({
          project,
          resourceClass,
          from: bounds[at]!,
          until: bounds[at + 1]!,
          deviceSeconds: halves / 2000,
          bindings,
        })),
  }
}
const compared = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

export type UsageQuery = {
  /** ms since the epoch; null: the first day of the month of `until`. */
  readonly from: number | null
  /** ms since the epoch; null: now. */
  readonly until: number | null
  readonly period: UsagePeriod
  /** Counts only bindings of this project; null: of all projects that the caller may see. */
  readonly project: ProjectId | null
}
export type UsageReport = {
  readonly from: number
  readonly until: number
  /** Bindings that have not ended count up to this moment, or to `until` if that is earlier. */
  readonly asOf: number
  readonly lines: readonly UsageLine[]
}
