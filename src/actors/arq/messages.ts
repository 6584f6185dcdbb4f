/** The commands and events of an accelerator request. */
import type { HandleType } from '../../vocabulary/hardware.ts'
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
} from '../../vocabulary/identifiers.ts'
import type { OperatorNote } from '../../vocabulary/operatorNote.ts'

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
  /** The host that reports the device. `hostname` may be another name of this host, which Nova uses. */
  readonly host: HostName
  readonly handle: Handle
  /** Number of the order that the host must carry out first; null: the host has nothing to do. */
  readonly order: number | null
  /**
   * The image that the card must hold; the host loads it if necessary. Absent: none was asked for, or a release before
   * 0.3.0 wrote the bind.
   */
  readonly image?: ImageUuid
}

/** The facts about an ARQ that are known when it is created. */
type Creation = {
  readonly uuid: ArqUuid
  /** Null: the ARQ was imported, and upstream Cyborg did not know its project. */
  readonly projectId: ProjectId | null
  readonly profileUuid: ProfileUuid
  readonly profileName: string
  /**
   * The profile version that the group comes from; absent: the ARQ was imported, or made by a release without versions.
   */
  readonly profileVersion?: number
  readonly groupId: number
  readonly group: Group
}

export type Relocation = { readonly handle: HandleUuid; readonly info: Handle['info'] }
export type ArqCommand =
  | ({ readonly type: 'Create' } & Creation)
  | { readonly type: 'Bind'; readonly bond: Bond; readonly projectId: ProjectId | null }
  | { readonly type: 'ReportBound'; readonly workMs: number | null }
  | { readonly type: 'ReportBindFailed'; readonly reason: string }
  | { readonly type: 'Unbind'; readonly forced?: OperatorNote }
  | { readonly type: 'ReportReleaseFailed'; readonly handle: HandleUuid; readonly reason: string }
  | { readonly type: 'ReportReleased'; readonly handle: HandleUuid }
  | { readonly type: 'Remove'; readonly orphan?: true }
  /** The card of its handle is at another address, or at none. */
  | ({ readonly type: 'Relocate' } & Relocation)

export type ArqEvent =
  | ({ readonly type: 'ArqCreated' } & Creation)
  | { readonly type: 'BindStarted'; readonly bond: Bond; readonly projectId: ProjectId | null }
  /** `workMs`: how many milliseconds the host worked; null: it had nothing to do. */
  | { readonly type: 'Bound'; readonly workMs: number | null }
  | { readonly type: 'BindFailed'; readonly reason: string }
  /** `forced`: the operator who ended the binding, and the reason. */
  | { readonly type: 'Unbound'; readonly was: Bond | null; readonly forced?: OperatorNote }
  | { readonly type: 'ReleaseFailed'; readonly reason: string }
  | { readonly type: 'Released' }
  | ({ readonly type: 'HandleRelocated' } & Relocation)
  /** `orphan`: it was deleted because Nova does not know its server. */
  | { readonly type: 'ArqRemoved'; readonly was: Bond | null; readonly orphan?: true }
