/**
 * The port through which the API learns what the running program knows of itself, of its surroundings and of its
 * configuration.
 */
import type { Outcome } from '../vocabulary/fault.ts'

/** Where the value of an option was set; each overrides those before it. */
export const OPTION_SOURCES = ['default', 'file', 'environment', 'argument'] as const
export type OptionInForce = {
  readonly key: string
  /** As an operator would write it; null: the option has no value. A secret is replaced by a word. */
  readonly value: unknown
  readonly source: (typeof OPTION_SOURCES)[number]
  /** The path of the file, or the name of the variable or the argument; null: the default. */
  readonly from: string | null
  readonly secret: boolean
}

export const NEIGHBOUR_STATES = ['in_use', 'absent', 'failing'] as const
export type NeighbourFacts = {
  readonly name: string
  readonly state: (typeof NEIGHBOUR_STATES)[number]
  /** Why it fails, or what is used; null: there is nothing to add. */
  readonly detail: string | null
}

export const POWER_LOSSES = ['last_commits', 'as_the_server_is_set', 'everything'] as const
/** Durations of the last writes to the journal by this process, in ms. */
export type WriteTimes = {
  readonly count: number
  /** When the first of them ended, ms since the epoch. */
  readonly since: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
}
export type Lag = {
  readonly topic: string
  readonly group: string
  readonly partition: number
  readonly messages: number
}
export type AuditFacts = {
  /** ms since the epoch. */
  readonly at: number
  readonly version: string
  readonly invariants: number
  readonly violations: number
  /** Names of the violated invariants. */
  readonly violated: readonly string[]
  readonly rows: number
  readonly seconds: number
  /** What was read besides the journal and its views, in words. */
  readonly sources: readonly string[]
}

export type SystemFacts = {
  /** When the process was asked, ms since the epoch. */
  readonly toldAt: number
  readonly process: {
    readonly program: 'start' | 'control'
    readonly machine: string
    readonly pid: number
    /** ms since the epoch. */
    readonly startedAt: number
  }
  readonly versions: {
    readonly accelerando: string
    readonly node: string
    /** The last migration that this program knows; null: the store has no schema. */
    readonly schema: string | null
    /** Migrations of a newer program. */
    readonly newer: readonly string[]
  }
  /** `powerLoss`: what is lost when the machine of the store loses its power. */
  readonly store: { readonly kind: string; readonly powerLoss: (typeof POWER_LOSSES)[number] }
  readonly neighbours: readonly NeighbourFacts[]
  readonly configuration: readonly OptionInForce[]
  readonly consumers: {
    readonly bus: 'kafka' | 'in_process'
    /** Null: the bus cannot be asked, as `problem` says. The largest come first, up to a limit. */
    readonly lags: readonly Lag[] | null
    readonly leftOut: number
    readonly problem: string | null
  }
  /** Null: this process has written nothing lately. */
  readonly writes: WriteTimes | null
  /** Null: no audit is recorded, or it cannot be read, as `auditProblem` says. */
  readonly audit: AuditFacts | null
  readonly auditProblem: string | null
}

export type File = { readonly name: string; readonly type: string; readonly content: Uint8Array<ArrayBuffer> }
export type SystemPort = {
  readonly facts: () => Promise<Outcome<SystemFacts>>
  /**
   * An archive for maintainers. `identity`: the headers that identify the caller, with whose rights the API is asked.
   * Faults: crowded (another one is being made), unavailable.
   */
  readonly supportBundle: (identity: Readonly<Record<string, string>>) => Promise<Outcome<File>>
}
