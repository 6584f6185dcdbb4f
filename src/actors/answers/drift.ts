/** What differs between hardware, records, Placement and Nova, as it is answered. */
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
  /** What a pass over the host would do to it. */
  readonly repairs: readonly ProviderChange[]
  readonly state: ProviderState | null
  readonly reason: string | null
  /** Why units of the provider are reserved. */
  readonly reserving: readonly Reserving[]
  /** The instance that has an allocation, or a bound accelerator request, without the other. */
  readonly consumer: InstanceUuid | null
  readonly arqs: readonly ArqUuid[]
}
export type HostDrift = {
  readonly host: HostName
  /** The provider of the compute node, as of the last pass. */
  readonly root: ResourceProviderUuid | null
  /** When the last pass over it ended. */
  readonly checkedAt: number | null
  readonly trouble: HostBlocker | null
  readonly entries: readonly DriftEntry[]
}
