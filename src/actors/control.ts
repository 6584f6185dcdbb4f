/** The port through which the API queries and commands the actors. `src/http` knows nothing of its implementation. */
import type { Outcome } from '../vocabulary/fault.ts'
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
} from '../vocabulary/identifiers.ts'
import type { OperatorNote } from '../vocabulary/operatorNote.ts'
import type { ListedAs } from './host/standing.ts'
import type { Capacity } from './capacity/tally.ts'
import type { DeviceStatus } from './deployable/messages.ts'
import type { DeviceHealth } from './device/health.ts'
import type { DeviceState } from './device/standing.ts'
import type { HandleState } from './deployable/states.ts'
import type {
  Page,
  Listed,
  Binding,
  ProfileRow,
  ArqRow,
  DeviceRow,
  DeviceStanding,
  DeployableRow,
  AttributeRow,
  HostRow,
  HostDetail,
  IgnoredRow,
  Renaming,
} from './answers/rows.ts'
import type { DeadLetters } from './answers/deadLetters.ts'
import type { HostDrift, HostPassed, IgnoreWish } from './answers/drift.ts'
import type { Check, Explanation } from './explain/answer.ts'
import type { HandleDetail, HandleRow } from './answers/handleDetail.ts'
import type { HostChange, Impact } from './answers/impact.ts'
import type { OrphansCollected, OrphansListed } from './answers/orphan.ts'
import type { DifferenceUuid } from './placement/ignored.ts'
import type { ComparisonState } from './placement/comparison.ts'
import type { ProgramDetail, Programming } from './deployable/programming.ts'
import type { Caller } from './caller.ts'
import type { ProfileUpdate, Version } from './profile/decider.ts'
import type { Viewer } from './profile/usable.ts'
import type { DeliveriesAsked, Delivery, Overview } from './answers/tallied.ts'
import type { Timeline } from './answers/timelineSteps.ts'
import type { UsageQuery, UsageReport } from './usage/tally.ts'

export type { Caller }

export type { HandleDetail, HandleRow } from './answers/handleDetail.ts'
export type * from './answers/rows.ts'

type Answer<Value> = Promise<Outcome<Value>>

/** Questions about an earlier moment. More faults: conflict (too long ago, or too much to read), unavailable. */
export type Past = {
  readonly profiles: Pick<Control['profiles'], 'list' | 'byUuid' | 'byName'>
  readonly arqs: Pick<Control['arqs'], 'list' | 'get' | 'timeline'>
  /** Measurements of the past are not known. */
  readonly devices: Pick<Control['devices'], 'list' | 'get' | 'health' | 'standings'>
  /** The state of the deployables in Placement in the past is not known either. */
  readonly deployables: Pick<Control['deployables'], 'list' | 'get' | 'inPlacement'>
  readonly hosts: Pick<Control['hosts'], 'list' | 'get'>
}

/** Every UUID that is passed in is canonical (lower case, dashed); `http` has checked the syntax. */
export type Control = {
  readonly profiles: {
    readonly list: (names: readonly string[] | null, page: Page, viewer?: Viewer) => Answer<Listed<ProfileRow>>
    readonly byUuid: (uuid: ProfileUuid, viewer?: Viewer) => Answer<ProfileRow>
    readonly byName: (name: string, viewer?: Viewer) => Answer<ProfileRow>
    /** The profile with this UUID, in any spelling, or else the one with this name. */
    readonly find: (selector: string, viewer?: Viewer) => Answer<ProfileRow>
    /** The last `VERSIONS_KEPT` versions, oldest first. Faults: not_found. */
    readonly versions: (uuid: ProfileUuid) => Answer<readonly Version[]>
    /**
     * Makes a new version, enables and disables versions, and sets which projects see the profile; all of it or
     * nothing. Existing ARQs do not change. Faults: not_found, conflict (there is a newer version than `ifVersion`),
     * invalid (no such version).
     */
    readonly update: (caller: Caller, uuid: ProfileUuid, change: ProfileUpdate, reason: string) => Answer<ProfileRow>
    /** Whom this change would affect, and whether it would be refused. Writes nothing. Faults: not_found, invalid. */
    readonly updateImpact: (caller: Caller, uuid: ProfileUuid, change: ProfileUpdate, reason: string) => Answer<Impact>
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
    /** Whom the removal of these profiles would affect. Writes nothing. Faults: not_found. */
    readonly impact: (selectors: readonly string[]) => Answer<Impact>
    /** Selects profiles by names or UUIDs; removes all or none. Faults: not_found, conflict (in use). */
    readonly remove: (caller: Caller, selectors: readonly string[]) => Answer<null>
    /** Explains why hosts do or do not fit these groups (in canonical form). Faults: not_found (host). */
    readonly check: (asked: Check) => Answer<Explanation>
    /** Changes all of these profiles or none; ARQs keep their groups. Faults: conflict (one has changed meanwhile). */
    readonly regroup: (caller: Caller, changes: readonly Renaming[], reason: string) => Answer<null>
  }
  readonly arqs: {
    /** Returns the ARQs in the order of the groups. Faults: not_found (profile), invalid. */
    readonly create: (caller: Caller, profileName: string) => Answer<readonly ArqRow[]>
    /**
     * Returns what the caller may see (rest-api 9.5): the own project; everything for an administrator, or for a
     * service request by instance.
     */
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
    /** Binds all or none (rest-api 4.5 steps 12-19, 8.4). Resolves when the acceptance is recorded. */
    readonly bind: (caller: Caller, bindings: readonly Binding[]) => Answer<null>
    readonly unbind: (caller: Caller, uuids: readonly ArqUuid[]) => Answer<null>
    /** Deletes all that exist, then answers not_found for the others. Only a service request may delete a bound ARQ. */
    readonly remove: (caller: Caller, uuids: readonly ArqUuid[]) => Answer<null>
    readonly removeByInstance: (caller: Caller, instance: InstanceUuid) => Answer<null>
    readonly timeline: (caller: Caller, uuid: ArqUuid) => Answer<Timeline>
    /** Unbinds where instance or host will not return. An ARQ that is not bound stays as it is. Faults: not_found. */
    readonly forceUnbind: (caller: Caller, uuid: ArqUuid, note: OperatorNote) => Answer<ArqRow>
  }
  /** Faults: conflict (Nova cannot be asked, or does not show the servers of all projects). */
  readonly orphans: {
    /** Asks Nova about the servers of the ARQs created after `after`, oldest first. Fault: invalid (marker). */
    readonly list: (after: ArqUuid | null) => Answer<OrphansListed>
    /** Asks Nova twice, some seconds apart, and deletes the ARQs of the instances that Nova does not know. */
    readonly collect: (caller: Caller, instances: readonly InstanceUuid[]) => Answer<OrphansCollected>
  }
  readonly devices: {
    readonly list: (
      filter: {
        readonly type?: string
        readonly vendor?: string
        readonly hostname?: HostName
        readonly status?: string
        /** True: only devices that count as failing; false: only the others. */
        readonly failing?: boolean
        readonly state?: DeviceState
      },
      page: Page,
    ) => Answer<Listed<DeviceRow>>
    readonly get: (uuid: DeviceUuid) => Answer<DeviceRow>
    readonly health: (caller: Caller, uuid: DeviceUuid) => Answer<DeviceHealth>
    /** The state of each of these devices, in the same order. */
    readonly standings: (rows: readonly DeviceRow[]) => Answer<readonly DeviceStanding[]>
    readonly setStatus: (caller: Caller, uuid: DeviceUuid, status: DeviceStatus) => Answer<null>
    /** Whom disabling the device would affect. Writes nothing. */
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
    /** The state of each of these deployables in Placement, in the same order; null: it is not shown there. */
    readonly inPlacement: (rows: readonly DeployableRow[]) => Answer<readonly (ComparisonState | null)[]>
    /** Of programmable deployables: the loaded image, the one being loaded, and the result of the last attempt. */
    readonly programming: (page: Page) => Answer<Listed<Programming>>
    /** One of them, with who uses it, what could be loaded, and whether it could now. Changes nothing. */
    readonly programDetail: (caller: Caller, uuid: DeployableUuid) => Answer<ProgramDetail>
    /**
     * Waits for at most `programWaitMs`; `finished` false: it is still running. Faults: not_found, conflict (not
     * programmable, in use, no image store), unavailable (host), device_failure.
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
    /** `parent`: the attribute that it describes. Faults: invalid (deployable_id, parent_uuid, key), exists(key). */
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
    /** `as`: only hosts that are listed as this; an operator's decision counts more than liveness. */
    readonly list: (page: Page, as?: ListedAs) => Answer<Listed<HostRow>>
    readonly get: (caller: Caller, name: HostName) => Answer<HostDetail>
    /** Nothing of it is offered any more; a device leaves the inventory once none of its handles is in use. */
    readonly retire: (caller: Caller, name: HostName, note: OperatorNote) => Answer<HostDetail>
    /**
     * Has the host look at its hardware and report at once, and waits some seconds for the answer, which is then
     * `probe` of the host. Faults: not_found, conflict (it cannot be asked), crowded (it was asked a moment ago).
     */
    readonly probe: (caller: Caller, name: HostName) => Answer<HostDetail>
    readonly restore: (caller: Caller, name: HostName, note: OperatorNote) => Answer<HostDetail>
    /** Accepts the waiting key. `key`: the one that the operator has compared. Faults: conflict (another or no key). */
    readonly approve: (caller: Caller, name: HostName, note: OperatorNote, key: string | null) => Answer<HostDetail>
    /** `key` replaces the present key of the host; null: the next key that the host shows counts as its first. */
    readonly rekey: (caller: Caller, name: HostName, note: OperatorNote, key: string | null) => Answer<HostDetail>
    /** Whom this change would affect. Writes nothing. */
    readonly impact: (caller: Caller, name: HostName, change: HostChange) => Answer<Impact>
    /** `force`: ARQs that are bound on the host are unbound first. Faults: conflict (in use). */
    readonly remove: (caller: Caller, name: HostName, note: OperatorNote, force: boolean) => Answer<null>
  }
  /** ARQs that the caller may not see (rest-api 9.5) are left out of the answers. */
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
    /** Has the host clean it again. Faults: conflict (held, missing, an order is under way, no cleaning command). */
    readonly clean: (caller: Caller, uuid: HandleUuid, note: OperatorNote) => Answer<HandleDetail>
  }
  /** Differences of hardware, records and Placement. Faults: conflict (no Placement), not_found (host). */
  readonly drift: {
    /**
     * By host name; `name` null: all hosts. `nova`: with the servers as Nova shows them. `ordered`: with the repairs
     * that only `heal` makes. Writes nothing.
     */
    readonly list: (name: HostName | null, page: Page, nova?: boolean, ordered?: boolean) => Answer<Listed<HostDrift>>
    /**
     * One pass over each host, which repairs the differences in Placement. Differences that remain are shown only by a
     * later `list`.
     */
    readonly heal: (caller: Caller, name: HostName | null, page?: Page) => Answer<Listed<HostPassed>>
    /** The differences that are ignored now, of one host or of all. */
    readonly ignored: (host: HostName | null, page: Page) => Answer<Listed<IgnoredRow>>
    /** Also one whose ignoring an operator has ended, until its term is over. Faults: not_found. */
    readonly ignoredOne: (uuid: DifferenceUuid) => Answer<IgnoredRow>
    /** Compares the host first. Faults: invalid (until), not_found (the difference), conflict (a pass repairs it). */
    readonly ignore: (caller: Caller, wish: IgnoreWish, note: OperatorNote) => Answer<IgnoredRow>
    /** Repeating it is harmless. Faults: not_found. */
    readonly unignore: (caller: Caller, uuid: DifferenceUuid, note: OperatorNote) => Answer<IgnoredRow>
  }
  /**
   * How long accelerators were bound: by all projects for an administrator, otherwise by the caller's project. Faults:
   * invalid.
   */
  readonly usage: (caller: Caller, asked: UsageQuery) => Answer<UsageReport>
  /** Each process counts at most once in five seconds. */
  readonly capacity: () => Answer<Capacity>
  /** Each process counts at most once a second, and less often where counting takes long; `countedAt` says when. */
  readonly overview: () => Answer<Overview>
  /** Ordered by the moment of the next attempt, or at which delivery ended, earliest first. Fault: invalid (marker). */
  readonly deliveries: (page: DeliveriesAsked) => Answer<Listed<Delivery>>
  /**
   * Tells Nova once more how all binds of the instance ended; events that Nova has not taken yet are sent at once.
   * Faults: not_found (no bind of the instance has ended), bad_state (a bind is under way), conflict (no Nova is
   * configured).
   */
  readonly resendDelivery: (caller: Caller, instance: InstanceUuid, note: OperatorNote) => Answer<Delivery>
  readonly deadLetters: DeadLetters
  /**
   * Answers about the moment `at`, ms since the epoch. Each answer is computed from the journal when it is asked for.
   */
  readonly asOf: (at: number, by?: Caller) => Past
  /** For `/readyz`: the reason why this process is not ready; null: it is ready. */
  readonly notReady: () => string | null
}
