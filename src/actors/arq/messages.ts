/** What may be asked of an accelerator request, and what is recorded of it. */
import type {
  ArqUuid,
  DeployableUuid,
  HandleUuid,
  HostName,
  InstanceUuid,
  ProfileUuid,
  ProjectId,
  ResourceProviderUuid,
} from '../../identifiers.ts'
import type { OperatorNote } from '../../operatorNote.ts'

export type Group = Readonly<Record<string, string>>
export type Handle = {
  readonly uuid: HandleUuid
  readonly type: string
  readonly info: Readonly<Record<string, string>>
}
/** Where a bind leads, as recorded with its acceptance. */
export type Bond = {
  readonly hostname: HostName
  readonly deviceRpUuid: ResourceProviderUuid
  readonly instanceUuid: InstanceUuid
  readonly deployable: DeployableUuid
  /** The host that reports the device; Nova's `hostname` may be another name of it. */
  readonly host: HostName
  readonly handle: Handle
  /** Number of the order the host has to carry out first; null when there is nothing to do there. */
  readonly order: number | null
}

export type ArqCommand =
  | {
      readonly type: 'Create'
      readonly uuid: ArqUuid
      readonly projectId: ProjectId
      readonly profileUuid: ProfileUuid
      readonly profileName: string
      readonly groupId: number
      readonly group: Group
    }
  | { readonly type: 'Bind'; readonly bond: Bond; readonly projectId: ProjectId | null }
  | { readonly type: 'ReportBound'; readonly workMs: number | null }
  | { readonly type: 'ReportBindFailed'; readonly reason: string }
  | { readonly type: 'Unbind'; readonly forced?: OperatorNote }
  | { readonly type: 'ReportReleaseFailed'; readonly handle: HandleUuid; readonly reason: string }
  | { readonly type: 'ReportReleased'; readonly handle: HandleUuid }
  | { readonly type: 'Remove' }

export type ArqEvent =
  | {
      readonly type: 'ArqCreated'
      readonly uuid: ArqUuid
      readonly projectId: ProjectId
      readonly profileUuid: ProfileUuid
      readonly profileName: string
      readonly groupId: number
      readonly group: Group
    }
  | { readonly type: 'BindStarted'; readonly bond: Bond; readonly projectId: ProjectId | null }
  /** `workMs`: how long the host worked; null when it had nothing to do. */
  | { readonly type: 'Bound'; readonly workMs: number | null }
  | { readonly type: 'BindFailed'; readonly reason: string }
  /** `forced`: an operator ended it, and why. */
  | { readonly type: 'Unbound'; readonly was: Bond | null; readonly forced?: OperatorNote }
  | { readonly type: 'ReleaseFailed'; readonly reason: string }
  | { readonly type: 'Released' }
  | { readonly type: 'ArqRemoved'; readonly was: Bond | null }
