/** The API's answer about drift: the differences between hardware, records, Placement and Nova. */
import type { ArqUuid, DeployableUuid, HostName, InstanceUuid, ResourceProviderUuid } from '../../identifiers.ts'
import type { ProviderChange, ProviderState, HostBlocker } from '../placement/decider.ts'
import type { Reserving } from '../placement/wanted.ts'

export const DRIFT_KINDS = [
  'hardware',
  'provider',
  'allocation_without_arq',
  'arq_without_allocation',
  'nova_device',
  'server',
] as const
export type DriftEntry = {
  readonly kind: (typeof DRIFT_KINDS)[number]
  readonly provider: ResourceProviderUuid
  readonly name: string
  readonly deployable: DeployableUuid | null
  /** The changes that a pass over the host would make to the provider. */
  readonly repairs: readonly ProviderChange[]
  readonly state: ProviderState | null
  readonly reason: string | null
  /** The reasons why units of the provider are reserved. */
  readonly reserving: readonly Reserving[]
  /** An instance that has an allocation but no bound ARQ, or a bound ARQ but no allocation. */
  readonly consumer: InstanceUuid | null
  readonly arqs: readonly ArqUuid[]
}
export type HostDrift = {
  readonly host: HostName
  /** The resource provider of the compute node, as the last pass found it. */
  readonly root: ResourceProviderUuid | null
  /** When the last pass over the host ended, ms since the epoch. */
  readonly checkedAt: number | null
  readonly trouble: HostBlocker | null
  readonly entries: readonly DriftEntry[]
}

/**
 * `ended`: whether the pass over the host has ended; false: another control worked on the host for as long as was
 * waited for.
 */
export type HostPassed = { readonly host: HostName; readonly ended: boolean }
/** What is said of a host after a repair: nothing differs there now; something does; another control worked on it. */
export const HEAL_OUTCOMES = ['in_step', 'left', 'busy'] as const
