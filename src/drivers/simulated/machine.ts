/** A simulated machine: its devices and the look-ups on them. Pure. */
import type { ReportedDevice } from '../../hardware.ts'
import type { Effects } from './effects.ts'
import { canonicalInfo } from '../../pci.ts'

/** The position of a deployable. */
export type DeviceSlot = {
  readonly device: number
  readonly programmable: boolean
  readonly infos: ReadonlySet<string>
}
/** The devices of a simulated host, and the position of each deployable. */
export type Machine = { readonly devices: readonly ReportedDevice[]; readonly places: ReadonlyMap<string, DeviceSlot> }

export const machineOf = (devices: readonly ReportedDevice[]): Machine => ({
  devices,
  places: new Map(
    devices.flatMap(({ deployables }, device) =>
      deployables.map(({ name, programmable, handles }) => [
        name,
        { device, programmable, infos: new Set(handles.map(({ info }) => canonicalInfo(info))) },
      ]),
    ),
  ),
})

/** The device as it is reported after bitstreams are loaded. */
export const withBitstreams = (device: ReportedDevice, { loaded }: Effects): ReportedDevice => ({
  ...device,
  deployables: device.deployables.map((one) => {
    const bitstreamId = loaded[one.name]
    return one.programmable && bitstreamId !== undefined ? { ...one, bitstreamId } : one
  }),
})
