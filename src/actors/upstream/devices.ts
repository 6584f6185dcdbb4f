/** The devices of upstream with what belongs to each, put together from the tables. Nothing is chosen yet. */
import { DEVICE_TYPES } from '../../vocabulary/hardware.ts'
import type { DeployableUuid, DeviceUuid, HostName, ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import { canonicalInfo } from '../../vocabulary/pci.ts'
import { ownValue } from '../../vocabulary/record.ts'
import { rpUuidOf } from '../../vocabulary/rpUuid.ts'
import type { KnownHandle } from '../deployable/messages.ts'
import { canonicalHandle } from '../inventory/digest.ts'
import type { Notes } from './notes.ts'
import { attachingIn, uuidIn } from './readable.ts'
import type { AttributeRow, DeployableRow, DeviceRow, HandleRow, UpstreamRow, UpstreamTables } from './rows.ts'

/** An attach handle that can be read. */
export type UpstreamHandle = { readonly row: HandleRow; readonly known: KnownHandle }
/** A deployable with its handles and attributes. */
export type UpstreamDeployable = {
  readonly row: DeployableRow
  readonly uuid: DeployableUuid
  readonly rpUuid: ResourceProviderUuid
  readonly handles: readonly UpstreamHandle[]
  readonly attributes: readonly AttributeRow[]
}
export type UpstreamDevice = {
  readonly row: DeviceRow
  readonly uuid: DeviceUuid
  readonly host: HostName
  /** Text of its control path as upstream has it; null: it has none. */
  readonly controlPath: string | null
  readonly deployables: readonly UpstreamDeployable[]
}

export const canonicalOf = ({ controlPath }: UpstreamDevice): string | null =>
  controlPath === null ? null : canonicalInfo(controlPath)

/** Devices with an attach handle that is in use but whose row is missing or unreadable. */
export const doubtfulDevices = (tables: UpstreamTables, devices: readonly UpstreamDevice[]): ReadonlySet<number> => {
  const live = boundHandles(tables)
  const known = new Set(tables.attach_handles.map(({ id }) => id))
  const readable = devices.flatMap(({ deployables }) => deployables.flatMap(({ handles }) => handles))
  const read = new Set(readable.map(({ row }) => row.id))
  const broken = tables.attach_handles.filter(({ id, inUse }) => !read.has(id) && (inUse || live.has(id)))
  const lost = tables.extended_accelerator_requests.filter(
    ({ state, handleId }) => state === 'Bound' && (handleId === null || !known.has(handleId)),
  )
  const parts = new Set([...broken, ...lost].map(({ deployableId }) => deployableId))
  // includes deployables that cannot be read themselves
  return new Set(tables.deployables.filter(({ id }) => parts.has(id)).map(({ deviceId }) => deviceId))
}

/** The attach handles that requests are bound to, by id. */
export type Live = ReadonlySet<number>
export const boundHandles = ({ extended_accelerator_requests: arqs }: UpstreamTables): Live =>
  new Set(arqs.flatMap(({ state, handleId }) => (state === 'Bound' && handleId !== null ? [handleId] : [])))

/** Whether a guest may use it: a request is bound to it, or upstream marked it. */
export const isUsed = ({ row }: UpstreamHandle, live: Live): boolean => row.inUse || live.has(row.id)

const handleOf = (row: HandleRow, notes: Notes): readonly UpstreamHandle[] => {
  const [uuid, attaching] = [uuidIn(row.uuid), attachingIn(row)]
  if (uuid === null || attaching === null) {
    notes.leftOut(
      'attach_handles',
      row,
      'value',
      uuid === null ? 'uuid is not a UUID' : 'attach_info or type is not a known one',
    )
    return []
  }
  return [{ row, known: { uuid, ...attaching, canonical: canonicalHandle(attaching) } }]
}

const deployableOf = (
  row: DeployableRow,
  notes: Notes,
  rows: { readonly handles: readonly HandleRow[]; readonly attributes: readonly AttributeRow[] },
): readonly UpstreamDeployable[] => {
  const uuid = uuidIn(row.uuid)
  if (uuid === null || row.name === '') {
    notes.leftOut('deployables', row, 'value', uuid === null ? 'uuid is not a UUID' : 'it has no name')
    return []
  }
  const { attributes } = rows
  const rpUuid = uuidIn(row.rpUuid) ?? rpUuidOf(row.name)
  return [{ row, uuid, rpUuid, handles: rows.handles.flatMap((handle) => handleOf(handle, notes)), attributes }]
}

/** Device types that Cyborg added after its commit 24e13c6, and the type under which our API shows each. */
const LATER_TYPES: Readonly<Record<string, (typeof DEVICE_TYPES)[number]>> = { MDEV: 'GPU', PCI: 'GPU', NVME: 'SSD' }
const isType = (text: string): boolean => DEVICE_TYPES.some((type) => type === text)
const typed = (row: DeviceRow, notes: Notes): DeviceRow => {
  const type = ownValue(LATER_TYPES, row.type)
  if (type === undefined) return row
  notes.repaired('devices', row, 'type', `its type is ${type} instead of ${row.type}`)
  return { ...row, type }
}
const faultOf = ({ uuid, type, hostname }: DeviceRow): string | null => {
  if (uuidIn(uuid) === null) return 'uuid is not a UUID'
  if (!isType(type)) return `type '${type}' is none of ${DEVICE_TYPES.join(', ')}`
  return hostname === '' ? 'it has no hostname' : null
}

const by = <Row extends UpstreamRow>(rows: readonly Row[], owner: (row: Row) => number) => {
  const grouped = Map.groupBy(rows, owner)
  return (id: number): readonly Row[] => grouped.get(id) ?? []
}
/** Rows whose owner is not there; foreign keys forbid them, unless somebody switched them off. */
const orphans = <Row extends UpstreamRow>(
  rows: readonly Row[],
  owner: (row: Row) => number,
  owners: readonly UpstreamRow[],
) => {
  const known = new Set(owners.map(({ id }) => id))
  return rows.filter((row) => !known.has(owner(row)))
}

export const devicesIn = (tables: UpstreamTables, notes: Notes): readonly UpstreamDevice[] => {
  const { devices, deployables, attach_handles: handles, attributes, controlpath_ids: paths } = tables
  const pathsOf = by(paths, ({ deviceId }) => deviceId)
  const deployablesOf = by(deployables, ({ deviceId }) => deviceId)
  const handlesOf = by(handles, ({ deployableId }) => deployableId)
  const attributesOf = by(attributes, ({ deployableId }) => deployableId)
  for (const row of orphans(deployables, ({ deviceId }) => deviceId, devices))
    notes.leftOut('deployables', row, 'orphan', `device ${row.deviceId} does not exist`)
  for (const row of orphans(handles, ({ deployableId }) => deployableId, deployables))
    notes.leftOut('attach_handles', row, 'orphan', `deployable ${row.deployableId} does not exist`)
  for (const row of orphans(attributes, ({ deployableId }) => deployableId, deployables))
    notes.leftOut('attributes', row, 'orphan', `deployable ${row.deployableId} does not exist`)
  return devices.flatMap((given): UpstreamDevice[] => {
    const row = typed(given, notes)
    const fault = faultOf(row)
    if (fault !== null) {
      notes.leftOut('devices', row, 'value', fault)
      return []
    }
    const [path, ...others] = pathsOf(row.id)
    for (const other of others)
      notes.leftOut('controlpath_ids', other, 'W17', `device ${row.uuid} is known by control path ${path!.id}`)
    const own = deployablesOf(row.id).flatMap((one) =>
      deployableOf(one, notes, { handles: handlesOf(one.id), attributes: attributesOf(one.id) }),
    )
    return [{ row, uuid: uuidIn(row.uuid)!, host: row.hostname, controlPath: path?.info ?? null, deployables: own }]
  })
}
