/** The argument `as_of`: a route that has it answers as it would have answered at that moment. */
import type { Caller, Control } from '../actors/control.ts'
import { moment } from './query.ts'

export const AS_OF = {
  as_of: moment(
    'As it was at this moment, by the clock of the control that decided it; a moment that lies in the future counts as now. What was measured and how it stood in Placement is not known of the past.',
  ),
} as const

/**
 * Returns the control that answers: the present one, unless the query names a past moment. `now`: ms since the epoch.
 */
export const controlFor = (
  control: Control,
  { as_of: at }: Readonly<Record<string, unknown>>,
  now: number,
  caller: Caller,
): Control => {
  // a future moment, which a caller with a fast clock may send, is answered with the present state
  if (typeof at !== 'number' || at >= now) return control
  const past = control.asOf(at, caller)
  return {
    ...control,
    profiles: { ...control.profiles, ...past.profiles },
    arqs: { ...control.arqs, ...past.arqs },
    devices: { ...control.devices, ...past.devices },
    deployables: { ...control.deployables, ...past.deployables },
    hosts: { ...control.hosts, ...past.hosts },
  }
}
