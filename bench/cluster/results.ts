/** What a run on a cluster found. */
import type { Floor } from '../postgres.ts'
import type { Summary } from '../figures.ts'
import type { ClusterKill } from './kill.ts'
import type { Lag } from './lag.ts'
import type { Steady, Taken } from './measure.ts'

export type WholeResult = Taken & {
  readonly arqs: number
  readonly hostWork: boolean
  readonly lanes: number
  readonly floor: Floor
}
/** `rest`: CPU of all controls a second while nobody asks. */
export type ControlsResult = Taken & { readonly controls: number; readonly lanes: number; readonly restMs: number }
export type ListResult = { readonly arqs: number; readonly what: string; readonly found: Summary }

export type ClusterResults = {
  readonly whole: WholeResult[]
  readonly controls: ControlsResult[]
  readonly lists: ListResult[]
  readonly seeds: { readonly arqs: number; readonly said: string }[]
  steady: (Steady & { readonly arqs: number }) | null
  lag: Lag | null
  kill: ClusterKill | null
}
export const noClusterResults = (): ClusterResults => ({
  whole: [],
  controls: [],
  lists: [],
  seeds: [],
  steady: null,
  lag: null,
  kill: null,
})
