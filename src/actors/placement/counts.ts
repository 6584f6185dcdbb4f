/** Counters of what this process has done in Placement since its start. The metrics show them. */
import { PROVIDER_CHANGES, type ProviderChange, HOST_BLOCKERS } from './decider.ts'
import { PLACEMENT_ERRORS, type PlacementError } from './port.ts'

/**
 * The result of a pass. `unchanged`: there was nothing to do; `superseded`: another process works on the host;
 * `failed`: the records could not be read or written.
 */
export const PASS_OUTCOMES = ['unchanged', 'changed', ...HOST_BLOCKERS, 'superseded', 'failed'] as const
export type PassOutcome = (typeof PASS_OUTCOMES)[number]

export type PlacementCounts = {
  readonly passes: Record<PassOutcome, number>
  /** The duration of all passes together, in milliseconds. */
  passMs: number
  readonly changes: Record<ProviderChange, number>
  /** Number of hosts that could be compared again after Placement was unreachable. */
  recovered: number
  /** Failed answers of Placement to passes. */
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
