/** The commands and events of a deployable. It owns its attach handles and, for an FPGA, the content of the region. */
import type { Card } from '../../vocabulary/card.ts'
import type { Cleaned, HostCleaning, RequestedCleaning } from '../../vocabulary/cleaning.ts'
import type { DeployableKind, HandleType } from '../../vocabulary/hardware.ts'
import type {
  ArqUuid,
  AttributeUuid,
  DeployableName,
  DeployableUuid,
  DeviceUuid,
  DriverName,
  HandleUuid,
  HostName,
  ImageUuid,
  ResourceProviderUuid,
  SlotUuid,
} from '../../vocabulary/identifiers.ts'
import type { Order } from '../../wire/orders.ts'
import type { OperatorNote } from '../../vocabulary/operatorNote.ts'
import type { HandleAdminCommand, HandleAdminEvent } from './handleAdminMessages.ts'
import type { SlotCommand } from './slotMessages.ts'

export type Origin = 'driver' | 'operator' | 'bitstream'
export type Attribute = {
  readonly uuid: AttributeUuid
  readonly key: string
  readonly value: string
  readonly origin: Origin
  /** The attribute of the same deployable that this attribute describes. Absent: it describes the deployable itself. */
  readonly parent?: AttributeUuid
  readonly createdAt: number
}
/** A handle as the driver reported it, with the UUID that it keeps. */
export type KnownHandle = {
  readonly uuid: HandleUuid
  readonly type: HandleType
  readonly info: Readonly<Record<string, string>>
  readonly canonical: string
  /** For an SR-IOV virtual function: the address of its physical function, `dddd:bb:dd.f`. */
  readonly physfn?: string
  /** Handles with the same number form one accelerator (`units.ts`). */
  readonly set?: number
}
export type RelocatedHandle = Pick<KnownHandle, 'uuid' | 'info' | 'canonical' | 'physfn'>
/** The driver's description of a deployable; each changed report replaces it as a whole. */
export type Description = {
  /** Entry-point name of the driver that reports the deployable and carries out its orders. */
  readonly driver: DriverName
  readonly numAccelerators: number
  readonly driverName: string
  readonly hostWork: boolean
  readonly programmable: boolean
  readonly attributes: readonly Attribute[]
  readonly handles: readonly KnownHandle[]
  /** Absent: the driver does not name the kind; drivers up to release 0.2.0 never do. */
  readonly kind?: DeployableKind
  /** Number of deployables below this one; absent: none. */
  readonly nodes?: number
  /** How the handles are cleaned between requests; absent: they are not cleaned. */
  readonly cleaning?: HostCleaning
  /** What its card says of itself; absent: nothing that is known. */
  readonly card?: Card
  /** Present only if it has changed since it was recorded. `tree` null: the deployable is a root now. */
  readonly place?: { readonly tree: Tree | null; readonly rpUuid: ResourceProviderUuid }
}
/** The place of a deployable in the tree of its device (data-model R1); a root has none. */
export type Tree = {
  readonly parentUuid: DeployableUuid
  readonly parentId: number
  readonly rootUuid: DeployableUuid
  readonly rootId: number
}
export type Identity = {
  readonly uuid: DeployableUuid
  /** The integer id that REST shows with attributes of the deployable. */
  readonly id: number
  readonly name: DeployableName
  /** The provider of the deployable if it is a root, otherwise the provider of its root. */
  readonly rpUuid: ResourceProviderUuid
  readonly deviceUuid: DeviceUuid
  readonly deviceId: number
  readonly host: HostName
  readonly vendor: string
  readonly tree?: Tree
  /**
   * The name under which its host knows it now; absent: `name`. They differ where the card has moved, and where the
   * name of its address was taken when it came.
   */
  readonly localName?: DeployableName
}
export type Presence = 'present' | 'missing' | 'retired'
export const DEVICE_STATUSES = ['enabled', 'maintaining'] as const
export type DeviceStatus = (typeof DEVICE_STATUSES)[number]

/** Of the parts of a card: `in_use`: a request uses one; `not_released`: one is quarantined. */
export type HeldBelow = 'in_use' | 'not_released'

/** `deadline`: ms since the epoch; the result of the order is not awaited any longer. */
export type DeployableCommand =
  | {
      readonly type: 'Record'
      readonly identity: Identity
      readonly description: Description
      readonly status: DeviceStatus
      readonly bitstreamId: ImageUuid | null
    }
  | { readonly type: 'Describe'; readonly description: Description }
  /** `bitstreamId`: the image that the card reports; it is recorded when a retired deployable returns. */
  | { readonly type: 'SetPresence'; readonly presence: Presence; readonly bitstreamId?: ImageUuid | undefined }
  /**
   * Its card is at another address, or at none. `localName`: the name under which its host knows it from now on;
   * `handles`: those whose info or physical function changes.
   */
  | { readonly type: 'Relocate'; readonly localName: DeployableName; readonly handles: readonly RelocatedHandle[] }
  | { readonly type: 'SetStatus'; readonly status: DeviceStatus }
  /** `failing`: why the device of the deployable counts as failing, in words; null: it does not. */
  | { readonly type: 'SetHealth'; readonly failing: string | null }
  /** For a root: a deployable below it has come, has left, or has another place. */
  | { readonly type: 'TouchTree' }
  | {
      readonly type: 'Grant'
      readonly arq: ArqUuid
      readonly bitstream: ImageUuid | null
      /** For a request to a part of a card: the recorded image of the root, which the host compares with the card. */
      readonly expects?: ImageUuid | null | undefined
      /** For a request to a whole card whose former parts are still held: it must not be programmed now. */
      readonly heldBelow?: HeldBelow
      readonly deadline: number
      readonly requestId: string
      readonly trace?: string | undefined
      /** Grants this handle and no other. Used by an import, which records who has which handle already. */
      readonly handle?: HandleUuid | undefined
      /** All requests, including this one, that are bound to this deployable together; absent: only this one. */
      readonly mates?: readonly ArqUuid[] | undefined
      /** The cleaning that the profile of the request asks for; absent: none beyond that of the host. */
      readonly requestedCleaning?: RequestedCleaning | undefined
    }
  | {
      readonly type: 'Release'
      readonly arq: ArqUuid
      readonly deadline: number
      readonly trace?: string | undefined
    }
  /** A host's answer to an order of this deployable. */
  | {
      readonly type: 'Answer'
      readonly slot: SlotUuid
      readonly number: number
      /**
       * The type of the order that the host has answered. Only after the journal has lost orders can an order of
       * another type have the same number.
       */
      readonly order?: Order['type']
      readonly failed: string | null
      readonly final: boolean
      /** The evidence of the cleaning that followed a release. */
      readonly cleaned?: Cleaned | undefined
      readonly retryBy: number
    }
  | {
      readonly type: 'Program'
      readonly image: ImageUuid
      readonly deadline: number
      readonly requestId: string
      readonly trace?: string | undefined
    }
  /**
   * `image`: the image that the card reports; null: no known image. `mark`: the mark of the deployable when it was
   * compared (`imageMark`).
   */
  | { readonly type: 'ReadImage'; readonly image: ImageUuid | null; readonly mark: string }
  | { readonly type: 'AddAttribute'; readonly attribute: Omit<Attribute, 'origin' | 'createdAt'> }
  | { readonly type: 'RemoveAttribute'; readonly uuid: AttributeUuid }
  /** A due time has come: failed releases are ordered once more, and programming without an answer ends. */
  | { readonly type: 'Due'; readonly at: number; readonly deadline: number }
  | HandleAdminCommand
  | SlotCommand
  /**
   * The journal has lost rows. `events`: the events of this deployable in the lost rows; `handles`: its handles that
   * other lost rows name. The consequences are in `rowsLost.ts`.
   */
  | ({
      readonly type: 'RowsLost'
      readonly events: readonly DeployableEvent[]
      readonly handles: readonly HandleUuid[]
    } & OperatorNote)

export type DeployableEvent =
  | {
      readonly type: 'DeployableRecorded'
      readonly identity: Identity
      readonly description: Description
      readonly status: DeviceStatus
      readonly bitstreamId: ImageUuid | null
    }
  | {
      readonly type: 'DeployableDescribed'
      readonly description: Description
      /**
       * Quarantined handles that the report does not contain stay quarantined. Absent in rows of releases up to 0.2.0.
       */
      readonly quarantinedStay?: true
    }
  /** `retry`: releases that failed while the card was away are due again. Absent in rows of releases up to 0.3.0. */
  | {
      readonly type: 'PresenceSet'
      readonly presence: Presence
      readonly bitstreamId?: ImageUuid
      readonly retry?: true
    }
  | { readonly type: 'Relocated'; readonly localName: DeployableName; readonly handles: readonly RelocatedHandle[] }
  | { readonly type: 'StatusSet'; readonly status: DeviceStatus }
  | { readonly type: 'HealthSet'; readonly failing: string | null }
  /**
   * A deployable below this root has changed. Only the revision of the root rises, so that a decision on an outdated
   * copy of the root is fenced.
   */
  | { readonly type: 'TreeTouched' }
  /** `order` null: the device needs no work on its host. */
  | {
      readonly type: 'Granted'
      readonly handle: HandleUuid
      readonly arq: ArqUuid
      readonly order: Order | null
      /**
       * Why the handle is prepared again for the ARQ that has it: its host has lost it. The event is a `Granted`,
       * because releases up to
       * 0.2.0 count order numbers only in events of types that they know.
       */
      readonly repeated?: string
      /** The cleaning that the profile of the request asks for when the handle is given up (UNCLEAN-4). */
      readonly cleaning?: RequestedCleaning
    }
  | {
      readonly type: 'HandleReleased'
      readonly handle: HandleUuid
      readonly arq: ArqUuid
      readonly order: Order | null
    }
  | { readonly type: 'OrderDone'; readonly slot: HandleUuid; readonly number: number; readonly cleaned?: Cleaned }
  /**
   * `again`: the next order for the release; null: the handle is quarantined. `cleaned`: the release succeeded, but its
   * cleaning failed. `released`: the release succeeded, and its host says nothing of a cleaning.
   */
  | {
      readonly type: 'OrderFailed'
      readonly slot: HandleUuid
      readonly number: number
      readonly reason: string
      readonly again: Order | null
      readonly cleaned?: Cleaned
      readonly released?: true
    }
  | { readonly type: 'ProgramStarted'; readonly image: ImageUuid; readonly order: Order }
  | { readonly type: 'Programmed'; readonly image: ImageUuid; readonly number: number }
  | { readonly type: 'ProgramFailed'; readonly image: ImageUuid; readonly number: number; readonly reason: string }
  /** The host looked at the card and found another image than the recorded one; null: no known image. */
  | { readonly type: 'BitstreamRead'; readonly bitstreamId: ImageUuid | null }
  | { readonly type: 'AttributeAdded'; readonly attribute: Omit<Attribute, 'createdAt'> }
  | { readonly type: 'AttributeRemoved'; readonly uuid: AttributeUuid }
  | HandleAdminEvent
