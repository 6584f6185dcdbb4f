/**
 * Whether what is recorded of a deployable fits into one message, so that whoever reads the topics learns all of it.
 * Pure.
 *
 * FACTS-1 a device is refused if the description of one of its deployables, as it would be recorded, is too long for a
 *    message; its host and the other devices are not;
 * FACTS-2 only the length of the description depends on the report; a message has room for everything else.
 */
import type { ReportedDeployable, ReportedDevice } from '../../vocabulary/hardware.ts'
import { MESSAGE_MAX_BYTES } from '../../wire/message.ts'
import { descriptionOf } from './describe.ts'

/** For the envelope of the message, and for the identity of the deployable: names of a few hundred characters each. */
const BESIDE_BYTES = 16 * 1024
export const DESCRIPTION_MAX_BYTES = MESSAGE_MAX_BYTES - BESIDE_BYTES

const UUID = '00000000-0000-4000-8000-000000000000'
const NOTHING = { handles: {}, attributes: [] }
const PLACE = { tree: { parentUuid: UUID, parentId: 1e9, rootUuid: UUID, rootId: 1e9 }, rpUuid: UUID }
const recordedBytes = (driver: string, one: ReportedDeployable): number => {
  const facts = { nodes: 1000, units: 0, place: PLACE }
  return Buffer.byteLength(JSON.stringify(descriptionOf(NOTHING, driver, one, () => UUID, facts)))
}

/**
 * Beyond what was reported, an attach handle is recorded with a UUID and its canonical form, an attribute with UUIDs
 * and a time.
 */
const [GROWTH, EACH_BYTES] = [4, 200]
/** More than what is recorded of so short a deployable could ever be: it need not be made to be measured. */
const isSmall = (one: ReportedDeployable, reportedBytes: number): boolean =>
  GROWTH * reportedBytes + EACH_BYTES * (one.handles.length + one.attributes.length) <= DESCRIPTION_MAX_BYTES

/**
 * Why readers of the topics could not be told of the device; null: they can. `reportedBytes`: at least the length of
 * what is reported of it.
 */
export const untellable = (driver: string, { deployables }: ReportedDevice, reportedBytes: number): string | null => {
  for (const one of deployables) {
    if (isSmall(one, reportedBytes)) continue
    const bytes = recordedBytes(driver, one)
    if (bytes > DESCRIPTION_MAX_BYTES)
      return `deployable ${one.name} with ${one.handles.length} attach handles and ${one.attributes.length} attributes would take ${bytes} bytes of a message, at most ${DESCRIPTION_MAX_BYTES} are allowed`
  }
  return null
}
