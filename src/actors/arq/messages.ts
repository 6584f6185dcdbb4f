/** The commands and events of an accelerator request. */
import type { HandleType } from '../../hardware.ts'
import type {
  ArqUuid,
  DeployableUuid,
  HandleUuid,
  HostName,
  ImageUuid,
  InstanceUuid,
  ProfileUuid,
  ProjectId,
  ResourceProviderUuid,
} from '../../identifiers.ts'
import type { OperatorNote } from '../../operatorNote.ts'

export type Group = Readonly<Record<string, string>>
export type Handle = {
  readonly uuid: HandleUuid
  readonly type: HandleType
  readonly info: Readonly<Record<string, string>>
}
/** The target of a bind, recorded when it is accepted. */
export type Bond = {
  readonly hostname: HostName
  readonly deviceRpUuid: ResourceProviderUuid
  readonly instanceUuid: InstanceUuid
  readonly deployable: DeployableUuid
  /** The host that reports the device; Nova's `hostname` may be another name of it. */
  readonly host: HostName
  readonly handle: Handle
  /** Number of the order that the host has to carry out first; null when the host has nothing to do. */
  readonly order: number | null
  /** The image that the card has to hold; its host loads it first when the card holds another one. Absent: none, or a bind of a release before 0.3.0. */
  readonly image?: ImageUuid
}

/** What is known of a request when it is created. */
type Creation = {
  readonly uuid: ArqUuid
  /** Null: of an import, where upstream did not know it. */
  readonly projectId: ProjectId | null
  readonly profileUuid: ProfileUuid
  readonly profileName: string
  /** The version of the profile that the group is from; absent: an import, or made by a release that knew no versions. */
  readonly profileVersion?: number
  readonly groupId: number
  readonly group: Group
}

export type ArqCommand =
  | ({ readonly type: 'Create' } & Creation)
  | { readonly type: 'Bind'; readonly bond: Bond; readonly projectId: ProjectId | null }
  | { readonly type: 'ReportBound'; readonly workMs: number | null }
  | { readonly type: 'ReportBindFailed'; readonly reason: string }
  | { readonly type: 'Unbind'; readonly forced?: OperatorNote }
  | { readonly type: 'ReportReleaseFailed'; readonly handle: HandleUuid; readonly reason: string }
  | { readonly type: 'ReportReleased'; readonly handle: HandleUuid }
  | { readonly type: 'Remove' }

export type ArqEvent =
  | ({ readonly type: 'ArqCreated' } & Creation)
  | { readonly type: 'BindStarted'; readonly bond: Bond; readonly projectId: ProjectId | null }
  /** `workMs`: how long the host worked; null when it had nothing to do. */
  | { readonly type: 'Bound'; readonly workMs: number | null }
  | { readonly type: 'BindFailed'; readonly reason: string }
  /** `forced`: the operator who ended it, and the reason. */
  | { readonly type: 'Unbound'; readonly was: Bond | null; readonly forced?: OperatorNote }
  | { readonly type: 'ReleaseFailed'; readonly reason: string }
  | { readonly type: 'Released' }
  | { readonly type: 'ArqRemoved'; readonly was: Bond | null }
