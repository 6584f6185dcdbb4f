/** The schema of the answer about why hosts do or do not fit a device profile. */
import * as v from 'valibot'
import { OBSTACLE_CODES, PLACEMENT_ASKED, STOPS, WARNING_CODES } from '../actors/explain/answer.ts'

const Uuid = v.pipe(v.string(), v.uuid())
const Obstacle = v.object({
  code: v.picklist(OBSTACLE_CODES),
  reason: v.pipe(v.string(), v.description('What is the case, as the end of a sentence about the device or the host.')),
  change: v.pipe(v.string(), v.description('What would have to change.')),
  stops: v.pipe(
    v.array(v.picklist(STOPS)),
    v.description(
      'What it keeps from happening. bind: a bind is accepted; work: the host carries it out; placement: Nova is shown the host.',
    ),
  ),
})
const device = { deployable_uuid: Uuid, name: v.string(), obstacles: v.array(Obstacle) }
const Host = v.object({
  host: v.string(),
  fits: v.boolean(),
  bind: v.pipe(v.boolean(), v.description('A bind of all groups would be accepted.')),
  placement: v.pipe(
    v.nullable(v.boolean()),
    v.description('Placement offers it for all groups together; null: it is not known.'),
  ),
  obstacles: v.array(Obstacle),
  groups: v.array(
    v.object({
      group: v.number(),
      fits: v.boolean(),
      devices: v.pipe(
        v.array(v.object({ ...device, device_uuid: Uuid, device_rp_uuid: Uuid })),
        v.description('The nearest first.'),
      ),
      left_out: v.number(),
    }),
  ),
})
export const Explanation = v.object({
  profile: v.nullable(v.object({ uuid: Uuid, name: v.string() })),
  fits: v.pipe(v.boolean(), v.description('At least one host fits.')),
  hosts_checked: v.number(),
  devices_checked: v.number(),
  hosts_fitting: v.number(),
  placement: v.picklist(PLACEMENT_ASKED),
  groups: v.array(
    v.object({
      group: v.number(),
      arqs: v.pipe(v.number(), v.description('How many accelerator requests it makes.')),
      devices: v.pipe(v.number(), v.description('How many devices have no obstacle.')),
      removed: v.pipe(
        v.record(v.string(), v.number()),
        v.description('How many devices have which obstacle; a device counts for each of its obstacles.'),
      ),
      nearest: v.nullable(v.object({ ...device, host: v.string() })),
    }),
  ),
  warnings: v.pipe(
    v.optional(
      v.array(v.object({ code: v.picklist(WARNING_CODES), group: v.number(), reason: v.string(), change: v.string() })),
    ),
    v.description('What keeps nothing from happening, and is hardly what was meant.'),
  ),
  hosts: v.pipe(v.array(Host), v.description('Those that fit first, then the nearest.')),
  hosts_left_out: v.number(),
})
