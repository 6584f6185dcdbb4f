/** The commands and events of a deployable. It owns its attach handles and, for an FPGA, the content of the region. */
import type { Cleaned, Cleaning } from '../../cleaning.ts'
import type { DeployableKind, HandleType } from '../../hardware.ts'
import type {
  ArqUuid,
  AttributeUuid,
  DeployableUuid,
  DeviceUuid,
  HandleUuid,
  HostName,
  ResourceProviderUuid,
  SlotUuid,
} from '../../identifiers.ts'
import type { Order } from '../../wire/orders.ts'
import type { OperatorNote } from '../../operatorNote.ts'
import type { HandleAdminCommand, HandleAdminEvent } from './handleAdminMessages.ts'
import type { SlotCommand } from './slotMessages.ts'

export type Origin = 'driver' | 'operator' | 'bitstream'
export type Attribute = {
  readonly uuid: AttributeUuid
  readonly key: string
  readonly value: string
  readonly origin: Origin
  /** The attribute of the same deployable that it describes. Absent: it describes the deployable itself. */
  readonly parent?: AttributeUuid
  readonly createdAt: number
}
/** A handle as the driver reported it, with the UUID that it keeps. */
export type KnownHandle = {
  readonly uuid: HandleUuid
  readonly type: HandleType
  readonly info: Readonly<Record<string, string>>
  readonly canonical: string
  /** Of an SR-IOV virtual function: the address of its physical function, `dddd:bb:dd.f`. */
  readonly physfn?: string
  /** Handles with the same number are one accelerator (`units.ts`). */
  readonly set?: number
}
/** What the driver reports of it; each changed report replaces all of it. */
export type Description = {
  /** Entry-point name of the driver that shows it, and carries out its orders. */
  readonly driver: string
  readonly numAccelerators: number
  readonly driverName: string
  readonly hostWork: boolean
  readonly programmable: boolean
  readonly attributes: readonly Attribute[]
  readonly handles: readonly KnownHandle[]
  /** Absent: it says nothing of it; releases up to 0.2.0 never do. */
  readonly kind?: DeployableKind
  /** How many deployables stand below it; absent: none. */
  readonly nodes?: number
  /** How its handles are cleaned between requests; absent: they are not. */
  readonly cleaning?: Cleaning
  /** Only where it has changed since it was recorded. `tree` null: it is a root now. */
  readonly place?: { readonly tree: Tree | null; readonly rpUuid: ResourceProviderUuid }
}
/** Where a deployable is in the tree of its device (data-model R1); a root has none. */
export type Tree = {
  readonly parentUuid: DeployableUuid
  readonly parentId: number
  readonly rootUuid: DeployableUuid
  readonly rootId: number
}
export type Identity = {
  readonly uuid: DeployableUuid
  /** Integer id, as REST shows it to attributes. */
  readonly id: number
  readonly name: string
  /** Its own or, of one that is no root, that of its root. */
  readonly rpUuid: ResourceProviderUuid
  readonly deviceUuid: DeviceUuid
  readonly deviceId: number
  readonly host: HostName
  readonly vendor: string
  readonly tree?: Tree
}
export type Presence = 'present' | 'missing' | 'retired'
export const DEVICE_STATUSES = ['enabled', 'maintaining'] as const
export type DeviceStatus = (typeof DEVICE_STATUSES)[number]

/** `deadline`: ms since the epoch; after it the result of the order is no longer waited for. */
export type DeployableCommand =
  | {
      readonly type: 'Record'
      readonly identity: Identity
      readonly description: Description
      readonly status: DeviceStatus
      readonly bitstreamId: string | null
    }
  | { readonly type: 'Describe'; readonly description: Description }
  /** `bitstreamId`: what the card says it holds, of one that was retired and is back. */
  | { readonly type: 'SetPresence'; readonly presence: Presence; readonly bitstreamId?: string | undefined }
  | { readonly type: 'SetStatus'; readonly status: DeviceStatus }
  /** Of its device: why it counts as bad, in words; null: it does not. */
  | { readonly type: 'SetHealth'; readonly failing: string | null }
  /** Of a root: something below it has come, has left, or stands elsewhere. */
  | { readonly type: 'TouchTree' }
  | {
      readonly type: 'Grant'
      readonly arq: ArqUuid
      readonly bitstream: string | null
      /** The image that its root is recorded with, where this is asked of a part of a card: its host compares it with the card. */
      readonly expects?: string | null | undefined
      readonly deadline: number
      readonly requestId: string
      readonly trace?: string | undefined
      /** This one and no other: an import records who has what already. */
      readonly handle?: HandleUuid | undefined
      /** All requests that are bound to this deployable together with this one, itself included; without them it is alone. */
      readonly mates?: readonly ArqUuid[] | undefined
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
      /** What the host has answered. An order of another type has the same number only if the journal has lost orders. */
      readonly order?: Order['type']
      readonly failed: string | null
      readonly final: boolean
      /** The evidence of the cleaning that followed a release. */
      readonly cleaned?: Cleaned | undefined
      readonly retryBy: number
    }
  | {
      readonly type: 'Program'
      readonly image: string
      readonly deadline: number
      readonly requestId: string
      readonly trace?: string | undefined
    }
  /** What the card says that it holds; null: nothing that is known. `mark`: of the deployable as it was compared (`imageMark`). */
  | { readonly type: 'ReadImage'; readonly image: string | null; readonly mark: string }
  | { readonly type: 'AddAttribute'; readonly attribute: Omit<Attribute, 'origin' | 'createdAt'> }
  | { readonly type: 'RemoveAttribute'; readonly uuid: AttributeUuid }
  /** A due time has come: releases that failed on the host are ordered once more, and a programming without an answer ends. */
  | { readonly type: 'Due'; readonly at: number; readonly deadline: number }
  | HandleAdminCommand
  | SlotCommand
  /**
   * The journal has lost rows. `events`: those of the lost rows of this deployable; `handles`: those of its handles that other lost rows
   * name. What follows: `rowsLost.ts`.
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
      readonly bitstreamId: string | null
    }
  | {
      readonly type: 'DeployableDescribed'
      readonly description: Description
      /** Quarantined handles that are not shown stay quarantined. Rows of releases up to 0.2.0 do not say it. */
      readonly quarantinedStay?: true
    }
  | { readonly type: 'PresenceSet'; readonly presence: Presence; readonly bitstreamId?: string }
  | { readonly type: 'StatusSet'; readonly status: DeviceStatus }
  | { readonly type: 'HealthSet'; readonly failing: string | null }
  /** Something below this root has changed. It changes nothing of the root itself but its revision: who decides on an outdated copy is fenced. */
  | { readonly type: 'TreeTouched' }
  /** `order` null: the device needs no work on its host. */
  | {
      readonly type: 'Granted'
      readonly handle: HandleUuid
      readonly arq: ArqUuid
      readonly order: Order | null
      /**
       * The ARQ has the handle already, and its host has lost it: why it is prepared again. It is this event, because releases up to
       * 0.2.0 would not count the number of its order otherwise.
       */
      readonly repeated?: string
    }
  | {
      readonly type: 'HandleReleased'
      readonly handle: HandleUuid
      readonly arq: ArqUuid
      readonly order: Order | null
    }
  | { readonly type: 'OrderDone'; readonly slot: HandleUuid; readonly number: number; readonly cleaned?: Cleaned }
  /** `again`: the release is ordered once more; null: the handle is quarantined. `cleaned`: it was released, and its cleaning has failed. */
  | {
      readonly type: 'OrderFailed'
      readonly slot: HandleUuid
      readonly number: number
      readonly reason: string
      readonly again: Order | null
      readonly cleaned?: Cleaned
    }
  | { readonly type: 'ProgramStarted'; readonly image: string; readonly order: Order }
  | { readonly type: 'Programmed'; readonly image: string; readonly number: number }
  | { readonly type: 'ProgramFailed'; readonly image: string; readonly number: number; readonly reason: string }
  /** The card was looked at, and holds something else than was recorded; null: nothing that is known. */
  | { readonly type: 'BitstreamRead'; readonly bitstreamId: string | null }
  | { readonly type: 'AttributeAdded'; readonly attribute: Omit<Attribute, 'createdAt'> }
  | { readonly type: 'AttributeRemoved'; readonly uuid: AttributeUuid }
  | HandleAdminEvent
