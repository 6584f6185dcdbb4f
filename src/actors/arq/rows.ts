/** The view row of an accelerator request. */
import { type Row, type ViewChange, drop, put } from '../runtime/views.ts'
import type { Arq } from './state.ts'

/** The attach handle is shown only while Bound (rest-api 4.1). */
export const arqRow = (arq: Arq): Row<'arqs'> => {
  const bound = arq.status === 'Bound' ? arq.bond : null
  return {
    uuid: arq.uuid,
    state: arq.status,
    project_id: arq.projectId,
    profile_uuid: arq.profileUuid,
    profile_name: arq.profileName,
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

export const rows = (before: Arq, after: Arq): readonly ViewChange[] => {
  if (before === after) return []
  if (shown(after)) return [put('arqs', arqRow(after))]
  return shown(before) ? [drop('arqs', before.uuid)] : []
}
