/** The recorded state of a deployable and of its attach handles. */
import type { Card } from '../../vocabulary/card.ts'
import type { Cleaned, HostCleaning, RequestedCleaning } from '../../vocabulary/cleaning.ts'
import type { DeployableKind } from '../../vocabulary/hardware.ts'
import type { DatedNote } from '../../vocabulary/operatorNote.ts'
import type {
  ArqUuid,
  DeployableName,
  DeployableUuid,
  DriverName,
  EntityKey,
  HandleUuid,
  ImageUuid,
  SlotUuid,
} from '../../vocabulary/identifiers.ts'
import type { Order } from '../../wire/orders.ts'
import type { Attribute, DeviceStatus, Identity, KnownHandle, Presence } from './messages.ts'
import type { Found } from './slotMessages.ts'
import type { HandleState } from './states.ts'

export type SlotHandle = KnownHandle & {
  readonly state: HandleState
  readonly arq: ArqUuid | null
  /** The order that the host has not answered yet. */
  readonly pending: Order | null
  /** When the pending order was given, ms since the epoch. */
  readonly pendingSince: number
  /** The ARQ that gave the handle up; set while the handle is releasing or quarantined. */
  readonly lastArq: ArqUuid | null
  /** How often the present release has failed. */
  readonly attempts: number
  /** The last complete report did not contain the handle. */
  readonly unseen: boolean
  /**
   * Set while only an operator may release the handle: an operator withheld it, or it was withheld because of a slot
   * that its host has prepared.
   */
  readonly quarantine?: DatedNote & { readonly found?: Found; readonly inDoubt?: true }
  /** Number of the last order to prepare the handle again after its host lost it. */
  readonly repeated?: number
  /** The host was ordered to prepare the handle and has not reported its release yet. */
  readonly prepared?: true
  /** The cleaning that the profile of the last request asks for; absent: none beyond that of the host. */
  readonly requestedCleaning?: RequestedCleaning
  /** Its host was ordered to clean it, and is not known to have done so (UNCLEAN-6). */
  readonly owesCleaning?: true
  /** The evidence of the last cleaning, whether it succeeded or failed. */
  readonly cleaned?: Cleaned
  /** Why its host could not carry out the last order to release it; absent: it could, or has not answered yet. */
  readonly releaseFailed?: { readonly reason: string; readonly at: number }
}
export type Deployable = Identity & {
  readonly exists: boolean
  readonly driver: DriverName
  readonly numAccelerators: number
  readonly driverName: string
  readonly hostWork: boolean
  readonly programmable: boolean
  readonly kind: DeployableKind | null
  /** Number of deployables that the driver reports below this one. */
  readonly nodes: number
  /** How the handles are cleaned between requests; absent: they are not cleaned. */
  readonly hostCleaning?: HostCleaning
  /** What its card says of itself, by which its host knows whether an order is for the card that it has there. */
  readonly card?: Card
  readonly attributes: readonly Attribute[]
  readonly handles: Readonly<Record<HandleUuid, SlotHandle>>
  readonly status: DeviceStatus
  readonly presence: Presence
  /** Why the device counts as failing; absent: it does not, as far as is known. */
  readonly failing?: string
  readonly bitstreamId: ImageUuid | null
  /** The last image that was recorded before the present one; absent: none. */
  readonly formerImage?: ImageUuid
  readonly program: { readonly image: ImageUuid; readonly order: Order; readonly since: number } | null
  readonly programFault: string | null
  /** Number of the last order given for any slot of the deployable. */
  readonly orders: number
  /** Number of the last order that may have written the card; absent: there was none. */
  readonly loads?: number
  readonly createdAt: number
  readonly updatedAt: number | null
  /** When the view row of the deployable last changed, and how often; grants and releases do not change it. */
  readonly describedAt: number | null
  readonly revision: number
}

/** The handle that an order or its result is about; undefined: none is known, or it is about the whole deployable. */
export const handleOf = ({ handles }: Pick<Deployable, 'handles'>, slot: SlotUuid): SlotHandle | undefined =>
  handles[slot as HandleUuid]

/** The name under which its host knows it. */
export const localNameOf = ({ name, localName = name }: Pick<Deployable, 'name' | 'localName'>): DeployableName =>
  localName

export const deployableKey = (uuid: DeployableUuid): EntityKey<'deployable'> => `deployable/${uuid}`

export const initial: Deployable = {
  exists: false,
  uuid: '',
  id: 0,
  name: '',
  rpUuid: '',
  deviceUuid: '',
  deviceId: 0,
  host: '',
  driver: '',
  vendor: '',
  numAccelerators: 0,
  driverName: '',
  hostWork: false,
  programmable: false,
  kind: null,
  nodes: 0,
  attributes: [],
  handles: {},
  status: 'enabled',
  presence: 'present',
  bitstreamId: null,
  program: null,
  programFault: null,
  orders: 0,
  createdAt: 0,
  updatedAt: null,
  describedAt: null,
  revision: 0,
}
