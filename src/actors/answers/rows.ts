/** What the API pages through, and the rows that it answers with. */
import type {
  ArqUuid,
  DeviceUuid,
  HostName,
  InstanceUuid,
  ProfileUuid,
  ProjectId,
  ResourceProviderUuid,
} from '../../vocabulary/identifiers.ts'
import type { DatedNote } from '../../vocabulary/operatorNote.ts'
import type { PlaybookRun } from '../../wire/playbooks.ts'
import type { HandleState } from '../deployable/states.ts'
import type { DeviceHealth } from '../device/health.ts'
import type { Standing } from '../device/standing.ts'
import type { LastReport } from '../host/lastReport.ts'
import type { Probe } from '../host/probing.ts'
import type { PageCursor } from '../runtime/ports.ts'
import type { Row } from '../runtime/views.ts'

/** `limit` absent: all rows, because Nova and tempest follow no links. */
export type Page = {
  readonly limit?: number
  readonly marker?: string
  readonly sort?: string
  readonly descending?: boolean
  /**
   * The place where an earlier page of the same list ended. It replaces the marker, and works even when that row has
   * been deleted since.
   */
  readonly after?: PageCursor
}
/**
 * `next`: where the next page begins; null: this is the last page. An unknown marker gives the fault `invalid` with
 * field `marker`.
 */
export type Listed<R> = { readonly items: readonly R[]; readonly next: PageCursor | null }

export type Binding = {
  readonly arq: ArqUuid
  readonly hostname: HostName
  readonly deviceRpUuid: ResourceProviderUuid
  readonly instanceUuid: InstanceUuid
  readonly projectId?: ProjectId
}

export type ProfileRow = Row<'profiles'>
export type ArqRow = Row<'arqs'>
export type DeviceRow = Row<'devices'>
/** `held`: how many requests hold a part of it. */
export type DeviceStanding = Standing & { readonly held: number }
export type DeployableRow = Row<'deployables'>
export type AttributeRow = Row<'attributes'>
/** A difference that is ignored. */
export type IgnoredRow = Row<'ignored_drift'>
/** Who took the host out of service, why and when; null: it is in service. */
export type Retired = DatedNote | null
export type HostRow = Row<'hosts'> & {
  readonly last_seen_at: number | null
  readonly retired: Retired
  /** The key that the host's reports are signed with; null: no key is known. */
  readonly public_key: string | null
  /** The key that waits for an operator's approval. */
  readonly offered_key: string | null
}
export type HostDetail = HostRow & {
  /** Its devices by their one state; a state that none has is left out. */
  readonly devices: Readonly<Record<string, number>>
  readonly handles: Readonly<Record<HandleState, number>>
  /** The ARQs that hold handles of the host, as far as the caller may see them. */
  readonly arqs: readonly ArqUuid[]
  /** The last playbook run of each driver. */
  readonly playbooks: readonly PlaybookRun[]
  /** The last question for a report at once; null: it was never asked. */
  readonly probe: Probe | null
  /** The last report of which something is recorded; null: none is. */
  readonly lastReport: LastReport | null
  /** Orders that it has not answered, and since when the oldest waits. */
  readonly orders: { readonly waiting: number; readonly since: number | null }
  /** What was measured last, of the devices of which something was. */
  readonly measured: readonly ({ readonly device: DeviceUuid } & NonNullable<DeviceHealth['measured']>)[]
}
export type Renaming = {
  readonly uuid: ProfileUuid
  readonly name: string
  /** The groups as the caller read them: if they have changed since, the profile is not changed. */
  readonly was: ProfileRow['groups']
  readonly groups: readonly Readonly<Record<string, string>>[]
}
