/** The schema of one device, with its health. */
import * as v from 'valibot'
import { HANDLE_STATES } from '../actors/deployable/states.ts'
import { HEALTHS, QUANTITIES } from '../vocabulary/health.ts'
import { Device, Time, Uuid } from './schemas.ts'

const InHealth = v.object({
  state: v.pipe(
    v.picklist([...HEALTHS, 'unknown']),
    v.description('`bad`: it is not offered as soon as that is recorded (`since`). `unknown`: nothing was measured.'),
  ),
  reason: v.nullable(v.string()),
  since: v.pipe(v.nullable(Time), v.description('Since when it counts as bad.')),
  measured_at: v.nullable(Time),
  numbers: v.pipe(
    v.record(v.string(), v.number()),
    v.description(`By quantity: ${Object.keys(QUANTITIES).join(', ')}.`),
  ),
  held: v.pipe(
    v.array(
      v.object({
        deployable_uuid: Uuid,
        attach_handle_uuid: Uuid,
        state: v.picklist(HANDLE_STATES),
        arq_uuid: v.nullable(Uuid),
        instance_uuid: v.nullable(Uuid),
      }),
    ),
    v.description(
      'Its attach handles that are not free, and the accelerator requests that have them, as far as the caller may know of them.',
    ),
  ),
})
export const DeviceDetail = v.object({
  ...Device.entries,
  health: v.pipe(v.optional(InHealth), v.description('From 2.4.')),
})
