/** What one unit costs: of a fact, a foreign order, a heartbeat, a bind, an ARQ that is there. */
import type { Cpu } from '../cluster/stand.ts'

export type Unit = {
  readonly what: string
  readonly count: number
  readonly perSecond: number
  /** Of one, what is used at rest taken off. */
  readonly cpu: Cpu
  /** Of one as text, without what the broker adds. */
  readonly bytes: number
}
/** Bytes, of the table and its indexes. */
export type Sizes = Readonly<Record<string, number>>
export type ScaleResults = {
  readonly units: Unit[]
  /**
   * Bytes that one bind, and one whole life (bound, unbound, deleted), leave behind: of each table that grew, and the
   * log of writes.
   */
  readonly growth: { readonly what: string; readonly count: number; readonly sizes: Sizes }[]
  present: {
    readonly arqs: number
    readonly hosts: number
    readonly seeded: string
    readonly rebuilt: string
    readonly sizes: Sizes
  } | null
}
export const noScaleResults = (): ScaleResults => ({ units: [], growth: [], present: null })
