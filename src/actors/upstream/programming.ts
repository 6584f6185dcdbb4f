/**
 * The deployables whose card may hold another image than upstream recorded: a bind that was to load one never ended
 * (W2), or failed while the agent may have gone on (W10). Pure.
 */
import { bitstreamOf } from '../arq/groups.ts'
import { groupsIn, uuidIn } from './readable.ts'
import type { DeployableRow, UpstreamTables } from './rows.ts'

const UNSUCCESSFUL: ReadonlySet<string> = new Set(['BindStarted', 'BindFailed'])

/** Whether an unsuccessful bind may have loaded something into it, or below or above it. */
export const openProgramming = (tables: UpstreamTables): ((row: DeployableRow) => boolean) => {
  const loads = new Map(
    tables.device_profiles.map(({ id, json }) => [
      id,
      (groupsIn(json) ?? []).map(bitstreamOf).map(({ image, search }) => image !== null || search !== null),
    ]),
  )
  const named = tables.extended_accelerator_requests
    .filter(({ state, profileId, groupId }) => UNSUCCESSFUL.has(state) && loads.get(profileId)?.[groupId] === true)
    .flatMap(({ deployableId, rpUuid }) => [deployableId, uuidIn(rpUuid)])
  const asked = new Set(named.filter((one) => one !== null))
  // the one that was asked for may be a root, and the image recorded with another deployable of its device
  const devices = new Set(
    tables.deployables
      .filter(({ id, rpUuid }) => asked.has(id) || asked.has(uuidIn(rpUuid) ?? ''))
      .map(({ deviceId }) => deviceId),
  )
  return ({ deviceId }) => devices.has(deviceId)
}
