/**
 * Cards that have fallen off their bus: the kernel still shows them, and they answer nothing. They are reported as not
 * usable: one that is not known yet is not offered, a known one is shown with what is measured of it.
 */
import type { ReportedDevice } from '../../vocabulary/hardware.ts'
import { jsonIn } from '../../vocabulary/jsonText.ts'
import { formatPciAddress, pciAddressOf } from '../../vocabulary/pci.ts'
import type { Driver, HostIo, LeftOut } from '../driver.ts'
import { answers } from './configSpace.ts'
import { addressInPath, pciFolder } from './sysfs.ts'

const REASON = 'it does not answer on its bus: its configuration space reads as ones'

export const withoutFallenOff = (driver: Driver, sysfsRoot: string): Driver => {
  const isGone = async (io: HostIo, info: unknown): Promise<LeftOut | null> => {
    const address = pciAddressOf(info)
    if (address === null) return null
    const own = formatPciAddress(address)
    if ((await answers(io, sysfsRoot, address)) === false) return { address: own, reason: REASON }
    // a virtual function has gone with its physical one, whatever the kernel still shows of it
    const above = addressInPath(await io.link(`${pciFolder(sysfsRoot)}/${own}/physfn`))
    const isAlone = above !== null && (await answers(io, sysfsRoot, above)) === false
    return isAlone ? { address: own, reason: `its physical function ${formatPciAddress(above)}: ${REASON}` } : null
  }
  const goneOf = async (io: HostIo, { controlPath, deployables }: ReportedDevice): Promise<readonly LeftOut[]> => {
    const infos = deployables.flatMap(({ handles }) => handles.map(({ info }) => info))
    const found = await Promise.all([jsonIn(controlPath.info), ...infos].map((info) => isGone(io, info)))
    return [...new Map(found.flatMap((one) => (one === null ? [] : [[one.address, one]]))).values()]
  }
  const looked = async (io: HostIo) => {
    const devices = await driver.discover(io)
    return Promise.all(devices.map(async (device) => ({ device, gone: await goneOf(io, device) })))
  }
  return {
    ...driver,
    discover: async (io) =>
      (await looked(io)).map(({ device, gone }) => (gone.length > 0 ? { ...device, stub: true } : device)),
    leftOut: async (io) => [...((await driver.leftOut?.(io)) ?? []), ...(await looked(io)).flatMap(({ gone }) => gone)],
    prepare: async (io, slot, signal) => {
      const gone = await isGone(io, slot.info)
      if (gone !== null) throw new Error(`slot ${slot.uuid}: ${gone.address} is not given to a guest: ${gone.reason}`)
      await driver.prepare(io, slot, signal)
    },
  }
}
