/** What is recorded of a deployable and of its attach handles. */
import type { Cleaned, Cleaning } from '../../cleaning.ts'
import type { DeployableKind } from '../../hardware.ts'
import type { DatedNote } from '../../operatorNote.ts'
import type { ArqUuid, DeployableUuid, EntityKey } from '../../identifiers.ts'
import type { Order } from '../../wire/orders.ts'
import type { Attribute, DeviceStatus, Identity, KnownHandle, Presence } from './messages.ts'
import type { Found } from './slotMessages.ts'
import type { HandleState } from './states.ts'

export type SlotHandle = KnownHandle & {
  readonly state: HandleState
  readonly arq: ArqUuid | null
  /** The order its host has not answered yet. */
  readonly pending: Order | null
  /** When that order was given. */
  readonly pendingSince: number
  /** The ARQ that gave it up, while releasing or quarantined. */
  readonly lastArq: ArqUuid | null
  /** How often the release under way has failed. */
  readonly attempts: number
  /** The last complete report did not contain it. */
  readonly unseen: boolean
  /** It is withheld until an operator releases it, by an operator or because of what its host has prepared. */
  readonly quarantine?: DatedNote & { readonly found?: Found; readonly inDoubt?: true }
  /** Number of the last order that prepares anew what its host has lost. */
  readonly repeated?: number
  /** Its host was ordered to prepare it, and has not said yet that it is released. */
  readonly prepared?: true
  /** The evidence of its last cleaning, done or failed. */
  readonly cleaned?: Cleaned
}
export type Deployable = Identity & {
  readonly exists: boolean
  readonly driver: string
  readonly numAccelerators: number
  readonly driverName: string
  readonly hostWork: boolean
  readonly programmable: boolean
  readonly kind: DeployableKind | null
  /** How many deployables its driver shows below it. */
  readonly nodes: number
  /** How its handles are cleaned between requests; absent: they are not. */
  readonly cleaning?: Cleaning
  readonly attributes: readonly Attribute[]
  readonly handles: Readonly<Record<string, SlotHandle>>
  readonly status: DeviceStatus
  readonly presence: Presence
  /** Why its device counts as bad; absent: it does not, as far as is known. */
  readonly failing?: string
  readonly bitstreamId: string | null
  readonly program: { readonly image: string; readonly order: Order; readonly since: number } | null
  readonly programFault: string | null
  /** Number of the last order given for any of its slots. */
  readonly orders: number
  /** Number of the last of them that may have written the card; absent: none may. */
  readonly loads?: number
  readonly createdAt: number
  readonly updatedAt: number | null
  /** When its view row last changed, and how often; grants and releases do not count. */
  readonly describedAt: number | null
  readonly revision: number
}

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
