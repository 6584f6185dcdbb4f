/** The view rows of an accelerator request: one for itself, and one for each of its bindings that has ended. */
import { type Row, type ViewChange, drop, put } from '../runtime/views.ts'
import { classesOf, partsOf } from './groups.ts'
import type { Arq } from './state.ts'

/** The attach handle is shown only while the ARQ is Bound (rest-api 4.1). */
export const arqRow = (arq: Arq): Row<'arqs'> => {
  const bound = arq.status === 'Bound' ? arq.bond : null
  return {
    uuid: arq.uuid,
    state: arq.status,
    project_id: arq.projectId,
    profile_uuid: arq.profileUuid,
    profile_name: arq.profileName,
    profile_version: arq.profileVersion,
    group_id: arq.groupId,
    group: arq.group,
    hostname: arq.bond?.hostname ?? null,
    device_rp_uuid: arq.bond?.deviceRpUuid ?? null,
    instance_uuid: arq.bond?.instanceUuid ?? null,
    deployable_uuid: arq.bond?.deployable ?? null,
    handle_uuid: bound?.handle.uuid ?? null,
    handle_type: bound?.handle.type ?? null,
    handle_info: bound?.handle.info ?? null,
    reason: arq.reason,
    created_at: arq.createdAt,
    updated_at: arq.updatedAt,
  }
}
const shown = (arq: Arq) => arq.status !== 'Absent' && arq.status !== 'Gone'

/**
 * When the ARQ was bound; null: it is not bound. A bound ARQ does not change before its binding ends, so this is its
 * last change.
 */
export const boundSince = ({ state, updated_at: at }: Pick<Row<'arqs'>, 'state' | 'updated_at'>): number | null =>
  state === 'Bound' ? at : null
/** A binding as a row for usage reports. */
export const usageRow = (
  { uuid, project_id: project, group }: Pick<Row<'arqs'>, 'uuid' | 'project_id' | 'group'>,
  from: number,
  until: number,
): Row<'usage'> => ({
  id: `${uuid}/${from}`,
  arq_uuid: uuid,
  project_id: project,
  resource_class: classesOf(group).join(' '),
  parts: partsOf(group),
  from_at: from,
  until_at: Math.max(from, until),
})
/**
 * The usage row of a binding that this change ends. It must be written now, since the ARQ does not remember the binding
 * afterwards.
 */
const ended = (before: Arq, after: Arq): readonly ViewChange[] => {
  if (before.status !== 'Bound' || after.status === 'Bound') return []
  const row = arqRow(before)
  const from = boundSince(row)
  return from === null || after.updatedAt === null ? [] : [put('usage', usageRow(row, from, after.updatedAt))]
}

export const rows = (before: Arq, after: Arq): readonly ViewChange[] => {
  if (before === after) return []
  if (shown(after)) return [put('arqs', arqRow(after)), ...ended(before, after)]
  return shown(before) ? [drop('arqs', before.uuid), ...ended(before, after)] : []
}
