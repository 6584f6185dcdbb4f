/** What this process has done in Placement since its start. The metrics show it. */
import { DEEDS, type Deed, TROUBLES } from './decider.ts'
import { PLACEMENT_TROUBLES, type PlacementTrouble } from './port.ts'

/**
 * How a pass has ended. `unchanged`: there was nothing to do; `superseded`: another process works on the host; `failed`: what is recorded
 * could not be read or written.
 */
export const PASS_OUTCOMES = ['unchanged', 'changed', ...TROUBLES, 'superseded', 'failed'] as const
export type PassOutcome = (typeof PASS_OUTCOMES)[number]

export type PlacementCounts = {
  readonly passes: Record<PassOutcome, number>
  /** The time of all passes. */
  passMs: number
  readonly changes: Record<Deed, number>
  /** How many hosts could be compared again after Placement could not be reached. */
  recovered: number
  /** Answers to passes that were no success. */
  readonly troubles: Record<PlacementTrouble, number>
}
const zeros = <Name extends string>(names: readonly Name[]): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>
export const noPlacementCounts = (): PlacementCounts => ({
  passes: zeros(PASS_OUTCOMES),
  passMs: 0,
  recovered: 0,
  changes: zeros(DEEDS),
  troubles: zeros(PLACEMENT_TROUBLES),
})
