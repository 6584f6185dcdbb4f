/** The one state of a device, as answers about attach handles show it. */
import * as v from 'valibot'
import { DEVICE_STATES } from '../actors/device/standing.ts'
import type { HandleDetail } from '../actors/control.ts'
import { time } from './render.ts'

export const DeviceOfHandle = v.pipe(
  v.object({
    uuid: v.pipe(v.string(), v.uuid()),
    state: v.picklist(DEVICE_STATES),
    state_reason: v.nullable(v.string()),
    state_since: v.nullable(v.pipe(v.string(), v.description('ISO 8601, UTC, whole seconds.'))),
  }),
  v.description(
    'Its device, with the worst of what is known of that. The handle is granted only while that is `enabled`.',
  ),
)
export const deviceOfHandleBody = ({ uuid, state, reason, since }: HandleDetail['device']) => ({
  uuid,
  state,
  state_reason: reason,
  state_since: since === null ? null : time(since),
})
