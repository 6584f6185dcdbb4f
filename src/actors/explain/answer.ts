/** The API's answer about why hosts do or do not fit the groups of a device profile: its codes and its shape. */
import type { DeployableUuid, DeviceUuid, HostName, ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import { type GrantRule, GRANT_RULES } from '../deployable/granting.ts'
import { type Mismatch, MISMATCHES } from '../arq/groups.ts'

/**
 * `bind`: a bind is refused. `work`: a bind is accepted, but nobody knows whether the host can serve it. `placement`:
 * Placement does not offer the host.
 */
export const STOPS = ['bind', 'work', 'placement'] as const
export type Stop = (typeof STOPS)[number]

export const OBSTACLE_CODES = [
  ...MISMATCHES,
  ...GRANT_RULES,
  'image',
  'several_classes',
  'host_silent',
  'host_retired',
  'placement_capacity',
  'placement_pending',
  'placement_conflict',
  'no_compute_node',
  'not_in_candidates',
  'node_not_eligible',
  'not_together',
  'no_device',
] as const
export type ObstacleCode = Mismatch['rule'] | GrantRule | (typeof OBSTACLE_CODES)[number]

export type Obstacle = {
  readonly code: ObstacleCode
  /** The obstacle in words, as the end of a sentence about the device or the host. */
  readonly reason: string
  /** The change that would remove the obstacle, as an imperative sentence. */
  readonly change: string
  /** What the obstacle prevents; never empty. */
  readonly stops: readonly Stop[]
}
export type JudgedDevice = {
  readonly deployable: DeployableUuid
  readonly device: DeviceUuid
  readonly provider: ResourceProviderUuid
  readonly name: string
  /** Empty: the device fits the group if no other group is asked for. */
  readonly obstacles: readonly Obstacle[]
}
export type JudgedGroup = {
  readonly group: number
  readonly fits: boolean
  /** The nearest devices first, at most `DEVICES_SHOWN`. */
  readonly devices: readonly JudgedDevice[]
  readonly leftOut: number
}
export type JudgedHost = {
  readonly host: HostName
  readonly fits: boolean
  /** Whether a bind of all groups on this host would be accepted. */
  readonly bind: boolean
  /**
   * Whether Placement offers the host for all groups together; null: no Placement is configured, or it could not be
   * asked.
   */
  readonly placement: boolean | null
  /** Obstacles of the host as a whole. */
  readonly obstacles: readonly Obstacle[]
  readonly groups: readonly JudgedGroup[]
}
/** A host and a device that would fit with the fewest changes. */
export type NearestMiss = {
  readonly host: HostName
  readonly deployable: DeployableUuid
  readonly name: string
  readonly obstacles: readonly Obstacle[]
}
export type GroupSummary = {
  readonly group: number
  /** How many accelerator requests the group makes. */
  readonly arqs: number
  /** How many devices have no obstacle. */
  readonly devices: number
  /** How many devices each rule excludes. A device that several rules exclude counts for each of them. */
  readonly removed: Readonly<Partial<Record<ObstacleCode, number>>>
  /** Null: a device fits, or there are no devices. */
  readonly nearest: NearestMiss | null
}
export const WARNING_CODES = ['not_attached', 'alternatives_not_read'] as const
/** A warning: it prevents nothing, but is probably not what was meant. */
export type Warning = {
  readonly code: (typeof WARNING_CODES)[number]
  readonly group: number
  readonly reason: string
  readonly change: string
}
export const PLACEMENT_ASKED = ['asked', 'not_configured', 'unreachable'] as const
export type Explanation = {
  /** Whether any host fits. */
  readonly fits: boolean
  readonly hostsChecked: number
  readonly devicesChecked: number
  readonly hostsFitting: number
  readonly placement: (typeof PLACEMENT_ASKED)[number]
  readonly groups: readonly GroupSummary[]
  readonly warnings: readonly Warning[]
  /** The hosts that fit come first, then the nearest ones. */
  readonly hosts: readonly JudgedHost[]
  readonly hostsLeftOut: number
}
export type Check = {
  readonly groups: readonly Readonly<Record<string, string>>[]
  /** The only host to check; null: all hosts are checked. */
  readonly host: HostName | null
  /** The maximal number of hosts to show. */
  readonly limit: number
}
/** For one host and one group, at most this many devices are shown. */
export const DEVICES_SHOWN = 16
export const HOSTS_SHOWN = { usual: 20, most: 100 } as const
