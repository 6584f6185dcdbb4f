/** The deployables of a device. */
import type { DeviceUuid, EntityKey } from '../../vocabulary/identifiers.ts'
import { deployableKey } from '../../actors/deployable/state.ts'
import type { Host } from '../../actors/host/decider.ts'

/** The UUIDs of the deployables as the host's record lists them. */
export const partsOf = ({ devices }: Host, uuid: DeviceUuid): readonly EntityKey<'deployable'>[] =>
  Object.values(devices).flatMap((held) =>
    held.uuid === uuid ? Object.values(held.deployables).map(deployableKey) : [],
  )
