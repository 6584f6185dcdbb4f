/**
 * Whether a PCI function is in use, as far as sysfs says it for certain.
 *
 * PCI-USE-1 a function that is bound to vfio-pci is in use while its enable count is above 0: vfio-pci enables a device
 *    when a process opens it, and disables it when the last one has closed it. Being bound alone is no use: functions
 *    are often kept there for guests to come;
 * PCI-USE-2 a function is in use while it has mediated devices. Who has made them is not asked: a driver that divides a
 *    function looks at each of them itself.
 */
import type { HostIo } from '../driver.ts'
import { readIfThere } from '../files.ts'
import { formatPciAddress, type PciAddress } from '../../pci.ts'
import { mdevTypes, mdevsOf } from './mdevFolder.ts'
import { pciFolder } from './sysfs.ts'

const VFIO = /\/vfio-pci$/

const mediatedOf = async (io: HostIo, sysfsRoot: string, address: PciAddress): Promise<string | null> => {
  for (const type of (await mdevTypes(io, sysfsRoot, address)) ?? []) {
    const [first] = await mdevsOf(io, { sysfsRoot, address, type })
    if (first !== undefined) return `mediated device ${first}`
  }
  return null
}

/** What uses the function, in words; null: nothing that sysfs shows. */
export const pciUser = async (io: HostIo, sysfsRoot: string, address: PciAddress): Promise<string | null> => {
  const folder = `${pciFolder(sysfsRoot)}/${formatPciAddress(address)}`
  if (VFIO.test((await io.link(`${folder}/driver`)) ?? '')) {
    const opened = Number.parseInt((await readIfThere(io, `${folder}/enable`)) ?? '0', 10)
    if (opened > 0) return 'a process has opened it through vfio-pci'
  }
  return mediatedOf(io, sysfsRoot, address)
}
