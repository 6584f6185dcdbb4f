/**
 * The columns of upstream's tables, and the meaning of their texts (data-model 2). Columns that older releases lack may
 * be absent.
 */
import * as v from 'valibot'
import type { UpstreamTable } from '../../actors/upstream/rows.ts'

const int = v.pipe(v.string(), v.regex(/^-?\d{1,15}$/), v.transform(Number))
const maybeInt = v.nullable(int)
/** Upstream's longest column on MariaDB has 65,535 bytes; PostgreSQL sets no limit. */
const TEXT_MAX = 1_000_000
const text = v.pipe(v.string(), v.maxLength(TEXT_MAX))
const maybeText = v.nullable(text)
const lateText = v.optional(maybeText, null)
/** A boolean: MariaDB returns 1, PostgreSQL t; NULL counts as false. */
const flag = v.pipe(
  maybeText,
  v.transform((said) => said === '1' || said === 't'),
)
/** A moment without a time zone, in UTC. MariaDB may contain 0000-00-00, which is no moment. */
const moment = v.pipe(
  maybeText,
  v.transform((said) => {
    const at = said === null ? Number.NaN : Date.parse(`${said.replace(' ', 'T')}Z`)
    return Number.isNaN(at) ? null : at
  }),
)

const BASE = { id: int, uuid: text, created_at: moment, updated_at: moment }
type Base = { id: number; uuid: string; created_at: number | null; updated_at: number | null }
const base = ({ id, uuid, created_at: createdAt, updated_at: updatedAt }: Base) => ({ id, uuid, createdAt, updatedAt })

const DeviceRow = v.pipe(
  v.object({
    ...BASE,
    type: text,
    vendor: text,
    model: text,
    std_board_info: maybeText,
    vendor_board_info: maybeText,
    hostname: text,
    status: lateText,
    device_state: lateText,
  }),
  v.transform((row) => ({
    ...base(row),
    type: row.type,
    vendor: row.vendor,
    model: row.model,
    stdBoardInfo: row.std_board_info,
    vendorBoardInfo: row.vendor_board_info,
    hostname: row.hostname,
    status: row.status,
    state: row.device_state,
  })),
)
const ControlPathRow = v.pipe(
  v.object({ ...BASE, device_id: int, cpid_info: text }),
  v.transform((row) => ({ ...base(row), deviceId: row.device_id, info: row.cpid_info })),
)
const DeployableRow = v.pipe(
  v.object({
    ...BASE,
    parent_id: maybeInt,
    root_id: maybeInt,
    name: text,
    num_accelerators: int,
    device_id: int,
    rp_uuid: maybeText,
    driver_name: maybeText,
    bitstream_id: maybeText,
  }),
  v.transform((row) => ({
    ...base(row),
    parentId: row.parent_id,
    rootId: row.root_id,
    name: row.name,
    numAccelerators: row.num_accelerators,
    deviceId: row.device_id,
    rpUuid: row.rp_uuid,
    driverName: row.driver_name,
    bitstreamId: row.bitstream_id,
  })),
)
const AttributeRow = v.pipe(
  v.object({ ...BASE, deployable_id: int, key: text, value: text }),
  v.transform((row) => ({ ...base(row), deployableId: row.deployable_id, key: row.key, value: row.value })),
)
const HandleRow = v.pipe(
  v.object({ ...BASE, deployable_id: int, in_use: flag, attach_type: text, attach_info: text }),
  v.transform((row) => ({
    ...base(row),
    deployableId: row.deployable_id,
    inUse: row.in_use,
    type: row.attach_type,
    info: row.attach_info,
  })),
)
const ProfileRow = v.pipe(
  v.object({ ...BASE, name: text, profile_json: text, description: lateText }),
  v.transform((row) => ({ ...base(row), name: row.name, json: row.profile_json, description: row.description })),
)
const ArqRow = v.pipe(
  v.object({
    ...BASE,
    project_id: maybeText,
    state: text,
    device_profile_id: int,
    device_profile_group_id: int,
    hostname: maybeText,
    device_rp_uuid: maybeText,
    instance_uuid: maybeText,
    attach_handle_id: maybeInt,
    deployable_id: maybeInt,
  }),
  v.transform((row) => ({
    ...base(row),
    projectId: row.project_id,
    state: row.state,
    profileId: row.device_profile_id,
    groupId: row.device_profile_group_id,
    hostname: row.hostname,
    rpUuid: row.device_rp_uuid,
    instanceUuid: row.instance_uuid,
    handleId: row.attach_handle_id,
    deployableId: row.deployable_id,
  })),
)

export const TABLES = {
  devices: DeviceRow,
  controlpath_ids: ControlPathRow,
  deployables: DeployableRow,
  attributes: AttributeRow,
  attach_handles: HandleRow,
  device_profiles: ProfileRow,
  extended_accelerator_requests: ArqRow,
} as const satisfies Record<UpstreamTable, v.GenericSchema>
