/**
 * The rows of a database of upstream Cyborg, as whoever read them passes them on (data-model 2). Nothing in them is
 * trusted.
 */

export type UpstreamRow = {
  readonly id: number
  readonly uuid: string
  /** ms since the epoch. */
  readonly createdAt: number | null
  readonly updatedAt: number | null
}
export type DeviceRow = UpstreamRow & {
  readonly type: string
  readonly vendor: string
  readonly model: string
  readonly stdBoardInfo: string | null
  readonly vendorBoardInfo: string | null
  readonly hostname: string
  readonly status: string | null
  /** Whether upstream was cleaning it; null: releases that do not clean. */
  readonly state: string | null
}
export type ControlPathRow = UpstreamRow & { readonly deviceId: number; readonly info: string }
export type DeployableRow = UpstreamRow & {
  readonly parentId: number | null
  readonly rootId: number | null
  readonly name: string
  readonly numAccelerators: number
  readonly deviceId: number
  readonly rpUuid: string | null
  readonly driverName: string | null
  readonly bitstreamId: string | null
}
export type AttributeRow = UpstreamRow & {
  readonly deployableId: number
  readonly key: string
  readonly value: string
}
export type HandleRow = UpstreamRow & {
  readonly deployableId: number
  readonly inUse: boolean
  readonly type: string
  readonly info: string
}
export type ProfileRow = UpstreamRow & {
  readonly name: string
  readonly json: string
  readonly description: string | null
}
export type ArqRow = UpstreamRow & {
  readonly projectId: string | null
  readonly state: string
  readonly profileId: number
  readonly groupId: number
  readonly hostname: string | null
  readonly rpUuid: string | null
  readonly instanceUuid: string | null
  readonly handleId: number | null
  readonly deployableId: number | null
}

/** The tables by their names upstream; each list is ordered by id. */
export type UpstreamTables = {
  readonly devices: readonly DeviceRow[]
  readonly controlpath_ids: readonly ControlPathRow[]
  readonly deployables: readonly DeployableRow[]
  readonly attributes: readonly AttributeRow[]
  readonly attach_handles: readonly HandleRow[]
  readonly device_profiles: readonly ProfileRow[]
  readonly extended_accelerator_requests: readonly ArqRow[]
}
export type UpstreamTable = keyof UpstreamTables
