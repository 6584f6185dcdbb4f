/**
 * A database as upstream Cyborg leaves it: healthy rows, and each damage of agent-and-conductor 12 that rows can show.
 */
import type {
  ArqRow,
  AttributeRow,
  ControlPathRow,
  DeployableRow,
  DeviceRow,
  HandleRow,
  ProfileRow,
  UpstreamTables,
} from '../../src/actors/upstream/rows.ts'
import { rpUuidOf } from '../../src/vocabulary/rpUuid.ts'

export const CREATED = Date.parse('2025-03-01T10:00:00Z')
export const CHANGED = Date.parse('2025-03-02T11:00:00Z')
const kinds = { device: 1, path: 2, deployable: 3, attribute: 4, handle: 5, profile: 6, arq: 7, instance: 8 }
/** The same row has the same UUID in each run. */
export const uuidOf = (kind: keyof typeof kinds, id: number): string =>
  `${String(kinds[kind]).padStart(8, '0')}-0000-4000-8000-${String(id).padStart(12, '0')}`

const row = (kind: keyof typeof kinds, id: number) => ({
  id,
  uuid: uuidOf(kind, id),
  createdAt: CREATED + id * 1000,
  updatedAt: null,
})
export const deviceRow = (id: number, more: Partial<DeviceRow> = {}): DeviceRow => ({
  ...row('device', id),
  type: 'GPU',
  vendor: '10de',
  model: '20f1',
  stdBoardInfo: '{"product_id": "20f1", "controller": null}',
  vendorBoardInfo: 'miss_vb_info',
  hostname: 'compute-1',
  status: 'enabled',
  state: 'available',
  ...more,
})
/** Upstream's own spelling. */
export const pciText = (bus: string, device = '00', fn = '0'): string =>
  `{"bus": "${bus}", "device": "${device}", "domain": "0000", "function": "${fn}"}`
/** Info of the n-th mediated device of a function (drivers.md 1.4). */
export const mdevText = (bus: string, n: number, type = 'nvidia-223'): string =>
  `{"asked_type": "${type}", "bus": "${bus}", "device": "00", "domain": "0000", "function": "0", "vgpu_mark": "${type}_${n}"}`
export const pathRow = (id: number, deviceId: number, info: string): ControlPathRow => ({
  ...row('path', id),
  deviceId,
  info,
})
export const deployableRow = (
  id: number,
  deviceId: number,
  name: string,
  more: Partial<DeployableRow> = {},
): DeployableRow => ({
  ...row('deployable', id),
  parentId: null,
  rootId: null,
  name,
  numAccelerators: 1,
  deviceId,
  rpUuid: rpUuidOf(name),
  driverName: 'NVIDIA',
  bitstreamId: null,
  ...more,
})
export const attributeRow = (id: number, deployableId: number, key: string, value: string): AttributeRow => ({
  ...row('attribute', id),
  deployableId,
  key,
  value,
})
export const handleRow = (
  id: number,
  deployableId: number,
  info: string,
  more: Partial<HandleRow> = {},
): HandleRow => ({
  ...row('handle', id),
  deployableId,
  inUse: false,
  type: 'PCI',
  info,
  ...more,
})
export const profileRow = (id: number, name: string, more: Partial<ProfileRow> = {}): ProfileRow => ({
  ...row('profile', id),
  name,
  json: '{"groups": [{"resources:CUSTOM_PCI": "1", "trait:OWNER_CYBORG": "required"}]}',
  description: null,
  ...more,
})
export const arqRow = (id: number, more: Partial<ArqRow> = {}): ArqRow => ({
  ...row('arq', id),
  updatedAt: CHANGED + id * 1000,
  projectId: 'a0000000000000000000000000000001',
  state: 'Initial',
  profileId: 1,
  groupId: 0,
  hostname: null,
  rpUuid: null,
  instanceUuid: null,
  handleId: null,
  deployableId: null,
  ...more,
})

/** One device with one deployable and one handle, all with the same id, at bus `id`. */
export type Simple = { readonly host: string; readonly bus: string }
export const nameOf = ({ host, bus }: Simple): string => `${host}_0000:${bus}:00.0`
export const simple = (id: number, place: Simple, inUse = false): Partial<UpstreamTables> => ({
  devices: [deviceRow(id, { hostname: place.host })],
  controlpath_ids: [pathRow(id, id, pciText(place.bus))],
  deployables: [deployableRow(id, id, nameOf(place))],
  attributes: [
    attributeRow(id * 10, id, 'rc', 'CUSTOM_PCI'),
    attributeRow(id * 10 + 1, id, 'trait0', 'OWNER_CYBORG'),
    attributeRow(id * 10 + 2, id, 'trait1', 'CUSTOM_PCI_NVIDIA'),
  ],
  attach_handles: [handleRow(id, id, pciText(place.bus), { inUse })],
})
/** Bound to the handle, deployable and instance with these ids. */
export const boundRow = (id: number, handleId: number, name: string, more: Partial<ArqRow> = {}): ArqRow =>
  arqRow(id, {
    state: 'Bound',
    hostname: name.slice(0, name.indexOf('_')),
    rpUuid: rpUuidOf(name),
    instanceUuid: uuidOf('instance', id),
    handleId,
    deployableId: handleId,
    ...more,
  })

const EMPTY: UpstreamTables = {
  devices: [],
  controlpath_ids: [],
  deployables: [],
  attributes: [],
  attach_handles: [],
  device_profiles: [],
  extended_accelerator_requests: [],
}
const join = <Row extends { readonly id: number }>(parts: readonly (readonly Row[] | undefined)[]): readonly Row[] =>
  parts.flatMap((part) => part ?? []).toSorted((one, other) => one.id - other.id)
export const tablesOf = (...parts: readonly Partial<UpstreamTables>[]): UpstreamTables => ({
  ...EMPTY,
  devices: join(parts.map(({ devices }) => devices)),
  controlpath_ids: join(parts.map((part) => part.controlpath_ids)),
  deployables: join(parts.map(({ deployables }) => deployables)),
  attributes: join(parts.map(({ attributes }) => attributes)),
  attach_handles: join(parts.map((part) => part.attach_handles)),
  device_profiles: join(parts.map((part) => part.device_profiles)),
  extended_accelerator_requests: join(parts.map((part) => part.extended_accelerator_requests)),
})
export const profiles = { device_profiles: [profileRow(1, 'gpu')] }
