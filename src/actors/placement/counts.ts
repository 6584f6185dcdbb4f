/** What this process has done in Placement since its start. The metrics show it. */
import { PROVIDER_CHANGES, type ProviderChange, HOST_BLOCKERS } from './decider.ts'
import { PLACEMENT_ERRORS, type PlacementError } from './port.ts'

/**
 * How a pass has ended. `unchanged`: there was nothing to do; `superseded`: another process works on the host; `failed`: what is recorded
 * could not be read or written.
 */
export const PASS_OUTCOMES = ['unchanged', 'changed', ...HOST_BLOCKERS, 'superseded', 'failed'] as const
export type PassOutcome = (typeof PASS_OUTCOMES)[number]

export type PlacementCounts = {
  readonly passes: Record<PassOutcome, number>
  /** The time of all passes. */
  passMs: number
  readonly changes: Record<ProviderChange, number>
  /** How many hosts could be compared again after Placement could not be reached. */
  recovered: number
  /** Answers to passes that were no success. */
  readonly troubles: Record<PlacementError, number>
}
const zeros = <Name extends string>(names: readonly Name[]): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>
export const noPlacementCounts = (): PlacementCounts => ({
  passes: zeros(PASS_OUTCOMES),
  passMs: 0,
  recovered: 0,
  changes: zeros(PROVIDER_CHANGES),
  troubles: zeros(PLACEMENT_ERRORS),
})
