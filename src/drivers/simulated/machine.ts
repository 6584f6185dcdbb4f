/** A simulated machine: its devices and the look-ups on them. Pure. */
import type { ReportedDevice } from '../../vocabulary/hardware.ts'
import type { Effects } from './effects.ts'
import { canonicalInfo } from '../../vocabulary/pci.ts'
import { traitName } from '../names.ts'
import { FACTS } from './models.ts'

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

const VENDORS = new Map(FACTS.fpga.models.map(({ vendor, vendorName }) => [vendor, vendorName]))
type Reported = ReportedDevice['deployables'][number]

/** With the trait of what it does (data-model.md 9.2). */
const withFunction = (one: Reported, vendor: string, functionId: string): Reported => {
  const value = traitName('CUSTOM_FPGA_FUNCTION_ID', VENDORS.get(vendor) ?? vendor, functionId)
  const key = `trait${one.attributes.filter((attribute) => attribute.key.startsWith('trait')).length}`
  return { ...one, attributes: [...one.attributes, { key, value }] }
}

/** The device as it is reported after bitstreams are loaded. */
export const withBitstreams = (
  device: ReportedDevice,
  { loaded, functions = {}, facts = {} }: Effects,
): ReportedDevice => ({
  ...device,
  deployables: device.deployables.map((one) => {
    const [bitstreamId, functionId] = [loaded[one.name], functions[one.name]]
    if (!one.programmable || bitstreamId === undefined) return one
    const told = facts[one.name]
    const held = { ...one, bitstreamId, ...(told && { bitstream: told }) }
    return functionId === undefined ? held : withFunction(held, device.vendor, functionId)
  }),
})
