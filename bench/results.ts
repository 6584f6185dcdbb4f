/** What a run found. */
import type { Summary } from './figures.ts'
import type { Killed } from './kill.ts'
import type { StoreKind } from './options.ts'
import type { Floor } from './postgres.ts'
import type { Memory } from './proc.ts'
import type { Unchanged } from './report.ts'

type At = { readonly store: StoreKind; readonly arqs: number }
export type BindResult = At & {
  readonly hostWork: boolean
  readonly lanes: number
  readonly found: Summary
  /** Measured just before and after, on the same server; null: there is no PostgreSQL. */
  readonly floor: Floor | null
}
export type RequestResult = At & {
  readonly what: 'POST' | 'GET by instance'
  readonly lanes: number
  readonly found: Summary
}
export type StartResult = {
  readonly store: StoreKind
  readonly folder: string
  readonly readyMs: readonly number[]
  readonly cpuMs: readonly number[]
}
export type KillResult = At & { readonly found: Killed }
export type MemoryResult = { readonly what: string; readonly found: Memory }

export type Results = {
  readonly binds: BindResult[]
  readonly requests: RequestResult[]
  readonly starts: StartResult[]
  readonly kills: KillResult[]
  /** As the command tells them. */
  readonly seeds: (At & { readonly said: string })[]
  readonly rebuilds: (At & { readonly said: string })[]
  readonly memory: MemoryResult[]
  unchanged: Unchanged | null
}

export const noResults = (): Results => ({
  binds: [],
  requests: [],
  starts: [],
  kills: [],
  seeds: [],
  rebuilds: [],
  memory: [],
  unchanged: null,
})
