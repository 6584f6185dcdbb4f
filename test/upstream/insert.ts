/**
 * Upstream's rows as statements, with the columns that an import does not read. Foreign keys are off: damage breaks
 * them.
 */
import type { UpstreamTables } from '../../src/actors/upstream/rows.ts'

export type Insert = {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}
const moment = (ms: number | null): string | null =>
  ms === null ? null : new Date(ms).toISOString().slice(0, 19).replace('T', ' ')

/** Column -> member of the row. */
const COLUMNS = {
  devices: {
    type: 'type',
    vendor: 'vendor',
    model: 'model',
    std_board_info: 'stdBoardInfo',
    vendor_board_info: 'vendorBoardInfo',
    hostname: 'hostname',
    status: 'status',
    device_state: 'state',
  },
  controlpath_ids: { device_id: 'deviceId', cpid_info: 'info' },
  deployables: {
    parent_id: 'parentId',
    root_id: 'rootId',
    name: 'name',
    num_accelerators: 'numAccelerators',
    device_id: 'deviceId',
    rp_uuid: 'rpUuid',
    driver_name: 'driverName',
    bitstream_id: 'bitstreamId',
  },
  attributes: { deployable_id: 'deployableId', key: 'key', value: 'value' },
  attach_handles: { deployable_id: 'deployableId', in_use: 'inUse', attach_type: 'type', attach_info: 'info' },
  device_profiles: { name: 'name', profile_json: 'json', description: 'description' },
  extended_accelerator_requests: {
    project_id: 'projectId',
    state: 'state',
    device_profile_id: 'profileId',
    device_profile_group_id: 'groupId',
    hostname: 'hostname',
    device_rp_uuid: 'rpUuid',
    instance_uuid: 'instanceUuid',
    attach_handle_id: 'handleId',
    deployable_id: 'deployableId',
  },
} as const satisfies Record<keyof UpstreamTables, Readonly<Record<string, string>>>
/** Columns that have to have a value, and mean nothing to an import. */
const MORE: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  controlpath_ids: { cpid_type: 'PCI' },
  attach_handles: { cpid_id: 1 },
  extended_accelerator_requests: { substate: 'Initial' },
}

export const insertsOf = (tables: UpstreamTables): readonly Insert[] =>
  (Object.keys(COLUMNS) as (keyof UpstreamTables)[]).map((table) => {
    const [named, more] = [COLUMNS[table], MORE[table] ?? {}]
    return {
      table,
      columns: ['id', 'uuid', 'created_at', 'updated_at', ...Object.keys(named), ...Object.keys(more)],
      rows: tables[table].map((row) => [
        row.id,
        row.uuid,
        moment(row.createdAt),
        moment(row.updatedAt),
        ...Object.values(named).map((member: string) => Reflect.get(row, member) as unknown),
        ...Object.values(more),
      ]),
    }
  })
