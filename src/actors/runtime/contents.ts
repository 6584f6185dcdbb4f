/** The types of those view columns whose content is more specific than their kind, by the name of the column. */
import type {
  ArqUuid,
  AttributeUuid,
  BootId,
  DeployableUuid,
  DeviceUuid,
  EntityKey,
  HandleUuid,
  HostName,
  InstanceUuid,
  ProfileUuid,
  ProjectId,
  ResourceProviderUuid,
  SlotUuid,
} from '../../vocabulary/identifiers.ts'
import type { DatedNote } from '../../vocabulary/operatorNote.ts'
import type { Order } from '../../wire/orders.ts'

type Texts = Readonly<Record<string, string>>
type Drivers = Readonly<Record<string, { readonly status: 'ok' | 'failed'; readonly error: string | null }>>
/** Columns that have the same content in every view. */
type Contents = {
  aliases: readonly HostName[]
  arq_uuid: ArqUuid
  body: Order
  boot_id: BootId
  deployable_uuid: DeployableUuid
  device_rp_uuid: ResourceProviderUuid
  device_uuid: DeviceUuid
  entity: EntityKey
  group: Texts
  groups: readonly Texts[]
  handle_info: Texts
  handle_uuid: HandleUuid
  hostname: HostName
  instance_uuid: InstanceUuid
  profile_uuid: ProfileUuid
  project_id: ProjectId
  projects: readonly ProjectId[]
  rp_uuid: ResourceProviderUuid
  slot: SlotUuid
}
/** The type of the column `uuid` in each view. */
type OwnContents = {
  arqs: { uuid: ArqUuid }
  attributes: { uuid: AttributeUuid }
  deployables: { uuid: DeployableUuid }
  devices: { uuid: DeviceUuid }
  handles: { uuid: HandleUuid }
  hosts: { name: HostName; drivers: Drivers }
  ignored_drift: { provider_uuid: ResourceProviderUuid; consumer_uuid: InstanceUuid; ended: DatedNote }
  profiles: { uuid: ProfileUuid }
}
export type ContentsOf<View extends string> = Contents & (View extends keyof OwnContents ? OwnContents[View] : unknown)
