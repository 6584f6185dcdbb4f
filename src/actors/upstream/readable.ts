/**
 * What texts of upstream mean: UUIDs, the info of attach handles, the groups of profiles. Null: it cannot be read.
 * Pure.
 */
import { HANDLE_TYPES, type HandleType } from '../../vocabulary/hardware.ts'
import { jsonIn } from '../../vocabulary/jsonText.ts'
import { isRecord } from '../../vocabulary/record.ts'
import { storable, unstorable } from '../../vocabulary/text.ts'
import { canonicalUuid } from '../../vocabulary/uuid.ts'
import type { Groups } from '../profile/decider.ts'
import type { Notes } from './notes.ts'
import type { UpstreamRow, UpstreamTable, UpstreamTables } from './rows.ts'

export const uuidIn = (text: string | null): string | null => (text === null ? null : canonicalUuid(text))

/** Clients get strings only: numbers are written out, what is null says nothing. */
const stringsOf = (value: unknown): Readonly<Record<string, string>> | null => {
  if (!isRecord(value)) return null
  const members = Object.entries(value).filter(([, one]) => one !== null)
  const flat = members.every(([, one]) => ['string', 'number', 'boolean'].includes(typeof one))
  return flat ? Object.fromEntries(members.map(([key, one]) => [key, String(one)])) : null
}

const isHandleType = (text: string): text is HandleType => HANDLE_TYPES.some((type) => type === text)
export const attachingIn = ({ type, info }: { readonly type: string; readonly info: string }) => {
  const members = stringsOf(jsonIn(info))
  return members && Object.keys(members).length > 0 && isHandleType(type) ? { type, info: members } : null
}

export const groupsIn = (json: string): Groups | null => {
  const value = jsonIn(json)
  const list = isRecord(value) ? value['groups'] : undefined
  if (!Array.isArray(list) || list.length === 0) return null
  const groups = list.map(stringsOf)
  return groups.every((group) => group !== null) ? groups : null
}

const cleanRow = <Row extends UpstreamRow>(table: UpstreamTable, row: Row, notes: Notes): Row => {
  const broken = Object.entries(row).filter(([, value]) => typeof value === 'string' && unstorable(value) !== null)
  if (broken.length === 0) return row
  const names = broken.map(([name]) => name).join(', ')
  notes.repaired(table, row, 'text', `characters that no store takes are left out of ${names}`)
  return { ...row, ...Object.fromEntries(broken.map(([name, value]) => [name, storable(String(value))])) }
}
/** No store of ours takes a NUL, MariaDB does. */
export const cleaned = (tables: UpstreamTables, notes: Notes): UpstreamTables => {
  const clean = <Row extends UpstreamRow>(table: UpstreamTable, rows: readonly Row[]) =>
    rows.map((row) => cleanRow(table, row, notes))
  return {
    devices: clean('devices', tables.devices),
    controlpath_ids: clean('controlpath_ids', tables.controlpath_ids),
    deployables: clean('deployables', tables.deployables),
    attributes: clean('attributes', tables.attributes),
    attach_handles: clean('attach_handles', tables.attach_handles),
    device_profiles: clean('device_profiles', tables.device_profiles),
    extended_accelerator_requests: clean('extended_accelerator_requests', tables.extended_accelerator_requests),
  }
}
