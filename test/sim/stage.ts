/** What faults work on: the parts of a world. */
import type { Process } from './control.ts'
import type { SimKeystone } from './keystone.ts'
import type { Machine } from './machine.ts'
import type { Network } from './network.ts'
import type { SimNova } from './nova.ts'
import type { SimPlacement } from './placement.ts'
import type { Random } from './random.ts'
import type { Life, Schedule } from './schedule.ts'
import type { Snare } from './snare.ts'
import type { SimStore } from './store.ts'

export type Pause = { readonly from: number; to: number }
export type Stage = {
  readonly schedule: Schedule
  readonly random: Random
  /** The life that injects the faults; it is never killed. */
  readonly life: Life
  readonly processes: readonly Process[]
  readonly machines: readonly Machine[]
  readonly network: () => Network
  /** Replaces the bus by a new, empty one. */
  readonly loseBus: () => void
  readonly store: SimStore
  readonly snare: Snare
  readonly nova: SimNova
  /** Null: this cloud has none. */
  readonly placement: SimPlacement | null
  /** Null: callers need no token. */
  readonly keystone: SimKeystone | null
  readonly now: () => number
  readonly pauses: Pause[]
  /** The clock of a control was set wrong during the run. */
  haveStrayed: boolean
  /** A host has reported what belongs to another one. */
  haveLied: boolean
  /** Until then every process runs on: the database is about to lose rows, or has lost some that only they can name. */
  witnessesUntilMs: number
  /** The operator's program that adopts what the database holds. */
  readonly adopt: () => Promise<void>
  readonly say: (line: string) => void
}
export type Fault = (stage: Stage) => void

export const later = ({ schedule, life }: Stage, ms: number, run: () => void): void =>
  void schedule.after(life, ms, run)
/** A process that knows what the database has lost must not die with it: what it knew, nobody could name. */
export const mayStop = ({ schedule, witnessesUntilMs }: Stage): boolean => schedule.elapsed() >= witnessesUntilMs

/** Until then no deadline need be kept. */
export const pause = (stage: Stage, ms: number): void => {
  const from = stage.now()
  stage.pauses.push({ from, to: from + ms })
}
