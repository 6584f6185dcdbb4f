/** The columns of accelerator requests, for all commands that show them. */
import { columnsOf, present } from '../output.ts'
import type { ApiFlags } from './api.ts'
import type { Arq } from './apiShapes.ts'

const HEADS = {
  device_profile_name: 'profile',
  project_id: 'project',
  hostname: 'host',
  instance_uuid: 'instance',
  device_rp_uuid: 'resource provider',
  attach_handle_uuid: 'attach handle',
  created_at: 'created',
}
export const DETAILS = columnsOf<Arq>(
  [
    'uuid',
    'state',
    'device_profile_name',
    'project_id',
    'hostname',
    'instance_uuid',
    'device_rp_uuid',
    'attach_handle_uuid',
    'created_at',
  ],
  HEADS,
)
export const LISTED = columnsOf<Arq>(
  ['uuid', 'state', 'device_profile_name', 'hostname', 'instance_uuid', 'created_at'],
  HEADS,
)
export const MEMBERS = columnsOf<Arq>(
  ['uuid', 'state', 'device_profile_name', 'hostname', 'device_rp_uuid', 'attach_handle_uuid'],
  HEADS,
)

export const showArq = (flags: ApiFlags, json: Arq): void =>
  present(flags, { document: json, rows: [json], columns: DETAILS, one: true })

export const COLLECTION = '/accelerator_requests'
export const arqPath = (uuid: string): string => `${COLLECTION}/${encodeURIComponent(uuid)}`
export type Arqs = { readonly arqs: readonly Arq[] }
