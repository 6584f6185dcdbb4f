/** The decider of a device: a physical card on a host, identified by its control path. */
import type { DeviceUuid, EntityKey, HostName } from '../../vocabulary/identifiers.ts'
import { type Decider, type Decision, accept, refuse } from '../runtime/decider.ts'
import type { DeviceStatus, Presence } from '../deployable/messages.ts'
import { type Row, type ViewChange, drop, put } from '../runtime/views.ts'

export type DeviceFacts = {
  /** Entry-point name of the driver that reports the device. */
  readonly driver: string
  readonly type: string
  readonly vendor: string
  readonly model: string
  readonly stdBoardInfo: string | null
  readonly vendorBoardInfo: string | null
  /** As reported. The host identifies the device by the canonical form of this path. */
  readonly controlPath: string
}
/** Why a device counts as failing, and since when, ms since the epoch. */
export type Failing = { readonly reason: string; readonly since: number }
export type DeviceIdentity = {
  readonly uuid: DeviceUuid
  readonly id: number
  readonly host: HostName
}

export type DeviceCommand =
  | { readonly type: 'Record'; readonly identity: DeviceIdentity; readonly facts: DeviceFacts }
  /**
   * `grown`: the same append records new deployables with the status of the device; the row of the device fences a
   * concurrent change of the status.
   */
  | { readonly type: 'Describe'; readonly facts: DeviceFacts; readonly grown: boolean }
  | { readonly type: 'SetStatus'; readonly status: DeviceStatus }
  /** `failing`: why the device counts as failing, in words; null: it does not. */
  | { readonly type: 'SetHealth'; readonly failing: string | null }
  | { readonly type: 'SetPresence'; readonly presence: Presence }
export type DeviceEvent =
  | { readonly type: 'DeviceRecorded'; readonly identity: DeviceIdentity; readonly facts: DeviceFacts }
  | { readonly type: 'DeviceDescribed'; readonly facts: DeviceFacts }
  | { readonly type: 'StatusSet'; readonly status: DeviceStatus }
  | { readonly type: 'HealthSet'; readonly failing: string | null }
  | { readonly type: 'PresenceSet'; readonly presence: Presence }

export type Device = DeviceIdentity & {
  readonly exists: boolean
  readonly facts: DeviceFacts
  readonly status: DeviceStatus
  readonly presence: Presence
  /** Absent: the device is not failing, as far as is known. */
  readonly failing?: Failing
  /** Set while it is missing, and while it is disabled, ms since the epoch. */
  readonly missingSince?: number
  readonly disabledSince?: number
  readonly createdAt: number
  readonly updatedAt: number | null
}
const NO_FACTS: DeviceFacts = {
  driver: '',
  type: '',
  vendor: '',
  model: '',
  stdBoardInfo: null,
  vendorBoardInfo: null,
  controlPath: '',
}
const initial: Device = {
  exists: false,
  uuid: '',
  id: 0,
  host: '',
  facts: NO_FACTS,
  status: 'enabled',
  presence: 'present',
  createdAt: 0,
  updatedAt: null,
}

const sameFacts = (one: DeviceFacts, other: DeviceFacts) =>
  (Object.keys(NO_FACTS) as (keyof DeviceFacts)[]).every((key) => one[key] === other[key])

const decide = (device: Device, command: DeviceCommand): Decision<DeviceEvent> => {
  if (command.type === 'Record') return device.exists ? accept() : accept({ ...command, type: 'DeviceRecorded' })
  // a retired device can only return
  if (!device.exists || (device.presence === 'retired' && command.type !== 'SetPresence'))
    return refuse({ kind: 'not_found', resource: 'device', id: device.uuid })
  switch (command.type) {
    case 'Describe':
      return sameFacts(device.facts, command.facts) && !command.grown
        ? accept()
        : accept({ type: 'DeviceDescribed', facts: command.facts })
    case 'SetStatus':
      return device.status === command.status ? accept() : accept({ type: 'StatusSet', status: command.status })
    case 'SetHealth':
      // a changed reason is not recorded, because the measurements show it
      return (device.failing === undefined) === (command.failing === null)
        ? accept()
        : accept({ type: 'HealthSet', failing: command.failing })
    case 'SetPresence':
      return device.presence === command.presence
        ? accept()
        : accept({ type: 'PresenceSet', presence: command.presence })
  }
}

const healthSet = (device: Device, reason: string | null, at: number): Device => {
  const { failing: _, ...rest } = device
  return { ...rest, ...(reason === null ? {} : { failing: { reason, since: at } }), updatedAt: at }
}

const statusSet = (device: Device, status: DeviceStatus, at: number): Device => {
  const { disabledSince: _, ...rest } = device
  return { ...rest, status, ...(status === 'enabled' ? {} : { disabledSince: at }), updatedAt: at }
}
const presenceSet = (device: Device, presence: Presence, at: number): Device => {
  const { missingSince: _, ...rest } = device
  return { ...rest, presence, ...(presence === 'missing' ? { missingSince: at } : {}), updatedAt: at }
}

const evolve = (device: Device, event: DeviceEvent, at: number): Device => {
  switch (event.type) {
    case 'DeviceRecorded':
      return { ...device, exists: true, ...event.identity, facts: event.facts, createdAt: at }
    case 'DeviceDescribed':
      return { ...device, facts: event.facts, updatedAt: at }
    case 'StatusSet':
      return statusSet(device, event.status, at)
    case 'HealthSet':
      return healthSet(device, event.failing, at)
    case 'PresenceSet':
      return presenceSet(device, event.presence, at)
    default:
      // an event of a later release, which this release ignores
      return device
  }
}

export const deviceRow = (device: Device): Row<'devices'> => ({
  uuid: device.uuid,
  id: device.id,
  type: device.facts.type,
  vendor: device.facts.vendor,
  model: device.facts.model,
  std_board_info: device.facts.stdBoardInfo,
  vendor_board_info: device.facts.vendorBoardInfo,
  hostname: device.host,
  status: device.status,
  presence: device.presence,
  driver: device.facts.driver,
  failing: device.failing?.reason ?? null,
  created_at: device.createdAt,
  updated_at: device.updatedAt,
})
export const isShown = (device: Device) => device.exists && device.presence !== 'retired'
const rows = (before: Device, after: Device): readonly ViewChange[] => {
  if (before === after) return []
  if (isShown(after)) return [put('devices', deviceRow(after))]
  return isShown(before) ? [drop('devices', before.uuid)] : []
}

export const device: Decider<Device, DeviceCommand, DeviceEvent, 'device'> = {
  kind: 'device',
  initial,
  decide,
  evolve,
  rows,
}
export const deviceKey = (uuid: DeviceUuid): EntityKey<'device'> => `device/${uuid}`
