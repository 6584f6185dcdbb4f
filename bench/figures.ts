/** Numbers from many: quantiles, and how they are written. Pure. */
import type { Measured } from './tasks.ts'

export const quantile = (sorted: readonly number[], q: number): number =>
  sorted.length === 0 ? Number.NaN : sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]!
export const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

export type Spread = { readonly mean: number; readonly p50: number; readonly p99: number }
export const spread = (values: readonly number[]): Spread => {
  const sorted = values.toSorted((a, b) => a - b)
  return { mean: meanOf(values), p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) }
}

/** Rounds of one measurement, taken together. */
export type Summary = {
  readonly count: number
  readonly perSecond: number
  /** CPU of the program for each, the database's own process not counted. */
  readonly serverCpuMs: number
  readonly databaseCpuMs: number
  readonly generatorCpuMs: number
  readonly stages: Readonly<Record<string, Spread>>
  readonly failures: readonly string[]
}
export const summary = (rounds: readonly Measured[]): Summary => {
  const names = [...new Set(rounds.flatMap(({ stages }) => Object.keys(stages)))]
  const stages = Object.fromEntries(names.map((name) => [name, rounds.flatMap((round) => round.stages[name] ?? [])]))
  const count = stages['whole']?.length ?? 0
  const sum = (of: (round: Measured) => number): number => rounds.reduce((total, round) => total + of(round), 0)
  return {
    count,
    perSecond: (count * 1000) / sum(({ tookMs }) => tookMs),
    serverCpuMs: sum(({ serverCpuMs }) => serverCpuMs) / count,
    databaseCpuMs: sum(({ databaseCpuMs = 0 }) => databaseCpuMs) / count,
    generatorCpuMs: sum(({ ownCpuMs }) => ownCpuMs) / count,
    stages: Object.fromEntries(names.map((name) => [name, spread(stages[name]!)])),
    failures: rounds.flatMap(({ failures }) => failures),
  }
}

/** Three digits that matter. */
export const digits = (value: number): string => {
  if (!Number.isFinite(value)) return '-'
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2)
}
export const ratio = (value: number, base: number): string => `${digits(value / base)}x`

export type Table = {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}
export const markdown = ({ title, head, rows }: Table): string =>
  [`### ${title}`, '', ...[head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`), ''].join(
    '\n',
  )
