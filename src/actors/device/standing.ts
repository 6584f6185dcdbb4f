/**
 * The one state of a device: the worst of what is known of it and of its host. Lists, pages, counts, capacity, metrics
 * and explanations show this one. Pure.
 */
import { type Host, hostRow, isSilent } from '../host/decider.ts'
import type { Row } from '../runtime/views.ts'
import { type Device, deviceRow } from './decider.ts'

/** The worst first. */
export const DEVICE_STATES = ['missing', 'failing', 'host_silent', 'disabled', 'enabled'] as const
export type DeviceState = (typeof DEVICE_STATES)[number]
export type Standing = {
  readonly state: DeviceState
  /** In words, as the end of a sentence about the device; null: it is enabled. */
  readonly reason: string | null
  /** Ms since the epoch; null: it is enabled, or a program that did not keep the moment has recorded it. */
  readonly since: number | null
}

type DeviceFacts = Pick<Row<'devices'>, 'presence' | 'failing' | 'status'>
type HostFacts = Pick<Row<'hosts'>, 'liveness' | 'out_of_service'>

const isInService = (host: HostFacts): boolean => host.out_of_service !== true && host.liveness !== 'removed'

/**
 * An operator who takes a host out of service wants its devices to leave, and may switch it off: there, neither a
 * device that is not reported nor silence counts.
 */
export const stateOf = ({ presence, failing, status }: DeviceFacts, host: HostFacts): DeviceState => {
  const inService = isInService(host)
  if (presence !== 'present' && inService) return 'missing'
  if (failing !== null) return 'failing'
  if (inService && isSilent(host.liveness)) return 'host_silent'
  return status === 'enabled' && inService ? 'enabled' : 'disabled'
}

export const standingOf = (device: Device, host: Host): Standing => {
  const place = hostRow(host)
  const state = stateOf(deviceRow(device), place)
  switch (state) {
    case 'missing':
      return { state, reason: 'its host does not report it any more', since: device.missingSince ?? null }
    case 'failing':
      return { state, reason: device.failing?.reason ?? null, since: device.failing?.since ?? null }
    case 'host_silent':
      return { state, reason: 'its host was not heard from', since: host.silentSince ?? null }
    case 'disabled':
      return isInService(place)
        ? { state, reason: 'an operator has disabled it', since: device.disabledSince ?? null }
        : { state, reason: 'its host is out of service', since: host.retired?.at ?? null }
    case 'enabled':
      return { state, reason: null, since: null }
  }
}
