/** The API's answer about drift: the differences between hardware, records, Placement and Nova. */
import type {
  ArqUuid,
  DeployableUuid,
  HostName,
  InstanceUuid,
  ResourceProviderUuid,
} from '../../vocabulary/identifiers.ts'
import type { ProviderChange, ProviderState, HostBlocker } from '../placement/decider.ts'
import type { DifferenceUuid, DriftKind, Ignoring } from '../placement/ignored.ts'
import type { Reserving } from '../placement/wanted.ts'

export type DriftEntry = {
  /** Another one as soon as the difference says anything else (IGNORED-1). */
  readonly uuid: DifferenceUuid
  readonly kind: DriftKind
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
  /** How an operator ignores it; null: nobody does. */
  readonly ignored: Ignoring | null
}
/** A difference as a comparison finds it. `parts`: what its UUID is made of besides what it says. */
export type FoundDifference = Omit<DriftEntry, 'uuid' | 'ignored'> & { readonly parts: readonly string[] }
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

/** A decision of an operator to ignore a difference of a host. `until`: ms since the epoch. */
export type IgnoreWish = {
  readonly host: HostName
  readonly difference: DifferenceUuid
  readonly until: number
}
