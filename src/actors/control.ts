/** The port through which the API queries and commands the actors. Nothing behind it is known to `src/http`. */
import type { PlaybookRun } from '../wire/playbooks.ts'
import type { Outcome } from '../fault.ts'
import type {
  ArqUuid,
  AttributeUuid,
  DeployableUuid,
  DeviceUuid,
  HandleUuid,
  HostName,
  ImageUuid,
  InstanceUuid,
  ProfileUuid,
  ProjectId,
  ResourceProviderUuid,
} from '../identifiers.ts'
import type { DatedNote, OperatorNote } from '../operatorNote.ts'
import type { Token } from '../token.ts'
import type { Capacity } from './capacity/tally.ts'
import type { DeviceStatus } from './deployable/messages.ts'
import type { DeviceHealth } from './device/health.ts'
import type { HandleState } from './deployable/states.ts'
import type { HostDrift } from './answers/drift.ts'
import type { Check, Explanation } from './explain/answer.ts'
import type { HandleDetail, HandleRow } from './answers/handleDetail.ts'
import type { HostChange, Impact } from './answers/impact.ts'
import type { OrphansCollected, OrphansListed } from './answers/orphan.ts'
import type { Standing } from './placement/standing.ts'
import type { Programming } from './deployable/programming.ts'
import type { ProfileUpdate, Version } from './profile/decider.ts'
import type { Viewer } from './profile/usable.ts'
import type { PageCursor } from './runtime/ports.ts'
import type { Row } from './runtime/views.ts'
import type { Delivery, Overview } from './answers/tallied.ts'
import type { Timeline } from './answers/timelineSteps.ts'
import type { UsageAsked, UsageReport } from './usage/tally.ts'

export type Caller = {
  readonly userId: string
  /** Never empty: a request without a project is refused before it comes here. */
  readonly projectId: ProjectId
  readonly isAdmin: boolean
  /** Carries a valid service token with the service role (rest-api 9.4). */
  readonly isService: boolean
  /** For answers about the caller, nothing else. */
  readonly names?: Token['names']
  readonly requestId: string
  /** `traceparent` of the request, when its trace is recorded. */
  readonly trace?: string
  /** When the request is answered 503 at the latest, by the monotonic clock: what is not recorded by then is not recorded at all. */
  readonly notAfter?: number
}

/** `limit` absent: everything, as Nova and tempest follow no links. */
export type Page = {
  readonly limit?: number
  readonly marker?: string
  readonly sort?: string
  readonly descending?: boolean
  /** Where an earlier page of the same list ended; counts instead of a marker, and also when that row was deleted since. */
  readonly after?: PageCursor
}
/** `next`: where the next page begins; null: no rows are left after the last one. Unknown marker: fault `invalid`, field `marker`. */
export type Listed<R> = { readonly items: readonly R[]; readonly next: PageCursor | null }

export type Binding = {
  readonly arq: ArqUuid
  readonly hostname: HostName
  readonly deviceRpUuid: ResourceProviderUuid
  readonly instanceUuid: InstanceUuid
  readonly projectId?: ProjectId
}

type Answer<Value> = Promise<Outcome<Value>>
export type ProfileRow = Row<'profiles'>
export type ArqRow = Row<'arqs'>
export type DeviceRow = Row<'devices'>
export type DeployableRow = Row<'deployables'>
export type AttributeRow = Row<'attributes'>
/** Who took it out of service, why and when; null: it is in service. */
type Retired = DatedNote | null
export type HostRow = Row<'hosts'> & {
  readonly last_seen_at: number | null
  readonly retired: Retired
  /** The key that its reports are signed with; null: as far as is known they are not. */
  readonly public_key: string | null
  /** The key that waits for an operator. */
  readonly offered_key: string | null
}
export type HostDetail = HostRow & {
  readonly handles: Readonly<Record<HandleState, number>>
  /** The ARQs that hold one of them, as far as the caller may know of them. */
  readonly arqs: readonly ArqUuid[]
  /** The last playbook of each driver. */
  readonly playbooks: readonly PlaybookRun[]
}
export type { HandleDetail, HandleRow } from './answers/handleDetail.ts'
export type Renaming = {
  readonly uuid: ProfileUuid
  readonly name: string
  /** The groups as the caller read them: when they have changed since, nothing is changed. */
  readonly was: ProfileRow['groups']
  readonly groups: readonly Readonly<Record<string, string>>[]
}

/** What can be asked of an earlier moment. Faults besides: conflict (too long ago, or too much), unavailable. */
export type Past = {
  readonly profiles: Pick<Control['profiles'], 'list' | 'byUuid' | 'byName'>
  readonly arqs: Pick<Control['arqs'], 'list' | 'get'>
  /** Nothing that was measured is known of the past. */
  readonly devices: Pick<Control['devices'], 'list' | 'get' | 'health'>
  /** Nor how they stood in Placement. */
  readonly deployables: Pick<Control['deployables'], 'list' | 'get' | 'inPlacement'>
  readonly hosts: Pick<Control['hosts'], 'list' | 'get'>
}

/** Every uuid handed in is canonical (lower case, dashed); syntax has been checked by http. */
export type Control = {
  readonly profiles: {
    readonly list: (names: readonly string[] | null, page: Page, viewer?: Viewer) => Answer<Listed<ProfileRow>>
    readonly byUuid: (uuid: ProfileUuid, viewer?: Viewer) => Answer<ProfileRow>
    readonly byName: (name: string, viewer?: Viewer) => Answer<ProfileRow>
    /** Oldest first, the last `VERSIONS_KEPT`. Faults: not_found. */
    readonly versions: (uuid: ProfileUuid) => Answer<readonly Version[]>
    /**
     * Makes a new version, enables and disables versions, says who sees the profile: all of it or nothing. ARQs keep what they have.
     * Faults: not_found, conflict (there is a newer version than `ifVersion`), invalid (no such version).
     */
    readonly update: (caller: Caller, uuid: ProfileUuid, change: ProfileUpdate, reason: string) => Answer<ProfileRow>
    /** Faults: exists(name), exists(uuid). Groups are already in canonical form. */
    readonly create: (
      caller: Caller,
      profile: {
        readonly uuid?: ProfileUuid
        readonly name: string
        readonly description: string | null
        readonly groups: readonly Readonly<Record<string, string>>[]
      },
    ) => Answer<ProfileRow>
    /** Whom the removal of these would concern. Writes nothing. Faults: not_found. */
    readonly impact: (selectors: readonly string[]) => Answer<Impact>
    /** Names or uuids, all or none. Faults: not_found, conflict (in use). */
    readonly remove: (caller: Caller, selectors: readonly string[]) => Answer<null>
    /** Why hosts do or do not fit these groups, which are in canonical form. Writes nothing. Faults: not_found (host). */
    readonly check: (asked: Check) => Answer<Explanation>
    /** All or none; ARQs keep the groups they were made with. Faults: conflict (one was changed or deleted meanwhile). */
    readonly regroup: (caller: Caller, changes: readonly Renaming[], reason: string) => Answer<null>
  }
  readonly arqs: {
    /** In group order. Faults: not_found (profile), invalid. */
    readonly create: (caller: Caller, profileName: string) => Answer<readonly ArqRow[]>
    /** Visibility (rest-api 9.5) is applied here: own project, or all for admin, or all for a service request by instance. */
    readonly list: (
      caller: Caller,
      query: {
        readonly instance?: InstanceUuid
        readonly uuids?: readonly ArqUuid[]
        readonly resolvedOnly?: boolean
        readonly state?: string
        readonly project?: ProjectId
      },
      page: Page,
    ) => Answer<Listed<ArqRow>>
    readonly get: (caller: Caller, uuid: ArqUuid) => Answer<ArqRow>
    /** All or none (rest-api 4.5 steps 12-19, 8.4). Resolves when the acceptance is recorded. */
    readonly bind: (caller: Caller, bindings: readonly Binding[]) => Answer<null>
    readonly unbind: (caller: Caller, uuids: readonly ArqUuid[]) => Answer<null>
    /** Deletes all known ones, then not_found naming the unknown. A bound one needs a service request. */
    readonly remove: (caller: Caller, uuids: readonly ArqUuid[]) => Answer<null>
    readonly removeByInstance: (caller: Caller, instance: InstanceUuid) => Answer<null>
    readonly timeline: (caller: Caller, uuid: ArqUuid) => Answer<Timeline>
    /** Unbinds by an operator's decision, for an instance or host that will not return. Does nothing where nothing is bound. Faults: not_found. */
    readonly forceUnbind: (caller: Caller, uuid: ArqUuid, note: OperatorNote) => Answer<ArqRow>
  }
  /** Faults: conflict (Nova cannot be asked, or does not show all servers). */
  readonly orphans: {
    /** Asks Nova about the servers of the requests that follow `after`, in the order of their creation. Fault `invalid`: marker. */
    readonly list: (after: ArqUuid | null) => Answer<OrphansListed>
    /** Asks twice, some seconds apart, and deletes the requests of those that Nova does not know. */
    readonly collect: (caller: Caller, instances: readonly InstanceUuid[]) => Answer<OrphansCollected>
  }
  readonly devices: {
    readonly list: (
      filter: {
        readonly type?: string
        readonly vendor?: string
        readonly hostname?: HostName
        readonly status?: string
        /** Only those that count as bad, or only the others. */
        readonly failing?: boolean
      },
      page: Page,
    ) => Answer<Listed<DeviceRow>>
    readonly get: (uuid: DeviceUuid) => Answer<DeviceRow>
    readonly health: (caller: Caller, uuid: DeviceUuid) => Answer<DeviceHealth>
    readonly setStatus: (caller: Caller, uuid: DeviceUuid, status: DeviceStatus) => Answer<null>
    /** Whom it would concern if the device was disabled. Writes nothing. */
    readonly impact: (uuid: DeviceUuid) => Answer<Impact>
  }
  readonly deployables: {
    readonly list: (
      filter: {
        readonly name?: string
        readonly deviceId?: number
        readonly deviceUuid?: DeviceUuid
        readonly rpUuid?: ResourceProviderUuid
      },
      page: Page,
    ) => Answer<Listed<DeployableRow>>
    readonly get: (uuid: DeployableUuid) => Answer<DeployableRow>
    /** How each of these stands in Placement, in their order; null: nothing of it is shown there. */
    readonly inPlacement: (rows: readonly DeployableRow[]) => Answer<readonly (Standing | null)[]>
    /** Of those that may be programmed: what is loaded, what is being loaded, how the last try ended. */
    readonly programming: (page: Page) => Answer<Listed<Programming>>
    /**
     * Waits for at most `programWaitMs`; `finished` false: still running. Faults: not_found, conflict (not programmable, in use, no
     * image store), unavailable (host), device_failure.
     */
    readonly program: (
      caller: Caller,
      uuid: DeployableUuid,
      imageUuid: ImageUuid,
    ) => Answer<{ readonly deployable: DeployableRow; readonly finished: boolean }>
  }
  readonly attributes: {
    readonly list: (
      filter: { readonly deployableId?: number; readonly key?: string },
      page: Page,
    ) => Answer<Listed<AttributeRow>>
    readonly get: (uuid: AttributeUuid) => Answer<AttributeRow>
    /** `parent`: the attribute that it describes. Faults: invalid (deployable_id, parent_uuid: no such one; key), exists(key). */
    readonly create: (
      caller: Caller,
      deployable: number | DeployableUuid,
      key: string,
      value: string,
      parent?: AttributeUuid,
    ) => Answer<AttributeRow>
    readonly remove: (caller: Caller, uuid: AttributeUuid) => Answer<null>
  }
  /** Each command may be repeated without harm. */
  readonly hosts: {
    readonly list: (page: Page, liveness?: string) => Answer<Listed<HostRow>>
    readonly get: (caller: Caller, name: HostName) => Answer<HostDetail>
    /** Nothing on it is offered any more; each device leaves the inventory as soon as none of its handles is in use. */
    readonly retire: (caller: Caller, name: HostName, note: OperatorNote) => Answer<HostDetail>
    readonly restore: (caller: Caller, name: HostName, note: OperatorNote) => Answer<HostDetail>
    /** Accepts the key of a host that waits; `key`: the one that the operator compared. Faults: conflict (none waits, another one). */
    readonly approve: (caller: Caller, name: HostName, note: OperatorNote, key: string | null) => Answer<HostDetail>
    /** `key` replaces the host's present key; null: the next one that it shows counts as its first. */
    readonly rekey: (caller: Caller, name: HostName, note: OperatorNote, key: string | null) => Answer<HostDetail>
    /** Whom that change would concern. Writes nothing. */
    readonly impact: (caller: Caller, name: HostName, change: HostChange) => Answer<Impact>
    /** Faults: conflict (in use). `force`: ARQs bound on it are unbound first. */
    readonly remove: (caller: Caller, name: HostName, note: OperatorNote, force: boolean) => Answer<null>
  }
  /** ARQs that the caller may not know of (rest-api 9.5) are shown as if there were none. */
  readonly handles: {
    readonly list: (
      caller: Caller,
      filter: { readonly state?: HandleState; readonly hostname?: HostName; readonly deployable_uuid?: DeployableUuid },
      page: Page,
    ) => Answer<Listed<HandleRow>>
    readonly get: (caller: Caller, uuid: HandleUuid) => Answer<HandleDetail>
    /** Faults: conflict (held, missing). */
    readonly quarantine: (caller: Caller, uuid: HandleUuid, note: OperatorNote) => Answer<HandleDetail>
    /** The operator confirms that the handle is clean. Faults: conflict (held, being released, missing). */
    readonly release: (caller: Caller, uuid: HandleUuid, note: OperatorNote) => Answer<HandleDetail>
    /** Its host is to clean it once more. Faults: conflict (held, its host at work on it, missing, no command for it). */
    readonly clean: (caller: Caller, uuid: HandleUuid, note: OperatorNote) => Answer<HandleDetail>
  }
  /** How far hardware, records and Placement agree. Faults: conflict (no Placement is configured), not_found (host). */
  readonly drift: {
    /** In the order of the hosts' names of record; `name` null: all. `nova`: with what Nova shows of the servers. Writes nothing. */
    readonly list: (name: HostName | null, page: Page, nova?: boolean) => Answer<Listed<HostDrift>>
    /** Repairs what Placement shows otherwise. Resolves when each host was looked at. */
    readonly heal: (caller: Caller, name: HostName | null) => Answer<null>
  }
  /** How long accelerators were bound: to anybody, or, for who is no administrator, to the own project. Faults: invalid. */
  readonly usage: (caller: Caller, asked: UsageAsked) => Answer<UsageReport>
  /** Counted at most once in five seconds by each process. */
  readonly capacity: () => Answer<Capacity>
  /** Counted at most once a second by each process: it may be that old. */
  readonly overview: () => Answer<Overview>
  /** Those whose next try is due first come first. Fault `invalid`: marker. */
  readonly deliveries: (page: { readonly limit: number; readonly marker?: InstanceUuid }) => Answer<Listed<Delivery>>
  /**
   * Nova is told of all ends of the instance's binds once more, and at once of those that it has not taken. Faults: not_found
   * (nothing of the instance has ended), bad_state (a bind is under way), conflict (no Nova is configured).
   */
  readonly resend: (caller: Caller, instance: InstanceUuid, note: OperatorNote) => Answer<Delivery>
  /** `at`: ms since the epoch. What is asked of it is folded from the journal when it is asked. */
  readonly asOf: (at: number) => Past
  /** For `/readyz`: null when ready, otherwise the reason why not. */
  readonly notReady: () => string | null
}
