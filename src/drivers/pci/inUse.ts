/**
 * Who uses a PCI function, as far as sysfs says it for certain.
 *
 * PCI-USE-1 a function that a driver for guests serves, as vfio-pci, is in use while its enable count is above 0: such
 *    a driver enables a device when a process opens it, and disables it when the last one has closed it. Being bound
 *    alone is no use: functions are often kept there for guests to come;
 * PCI-USE-2 a function is divided while it has mediated devices, or is a vGPU of NVIDIA's by itself. Who has made them
 *    is not asked: a driver that divides a function looks at each of them itself;
 * PCI-USE-3 what is in use of a virtual function is in use of its physical function.
 */
import type { HostIo } from '../driver.ts'
import { readIfThere } from '../files.ts'
import { formatPciAddress, type PciAddress } from '../../vocabulary/pci.ts'
import { mdevTypes, mdevsOf } from './mdevFolder.ts'
import { pciFolder, type PciFunction } from './sysfs.ts'

const mediatedOf = async (io: HostIo, sysfsRoot: string, address: PciAddress): Promise<string | null> => {
  for (const type of (await mdevTypes(io, sysfsRoot, address)) ?? []) {
    const [first] = await mdevsOf(io, { sysfsRoot, address, type })
    if (first !== undefined) return `mediated device ${first}`
  }
  return null
}
const vgpuOf = async (io: HostIo, folder: string): Promise<string | null> => {
  const type = ((await readIfThere(io, `${folder}/nvidia/current_vgpu_type`)) ?? '').trim()
  return type === '' || type === '0' ? null : `it is a vGPU of type ${type}`
}

type Look = (io: HostIo, sysfsRoot: string, found: PciFunction) => Promise<string | null>
/** PCI-USE-1 */
const openedBy: Look = async (io, sysfsRoot, found) => {
  if (!found.isForGuests) return null
  const text = await readIfThere(io, `${pciFolder(sysfsRoot)}/${formatPciAddress(found.address)}/enable`)
  return Number.parseInt(text ?? '0', 10) > 0 ? `a process has opened it through ${found.driver}` : null
}
/** PCI-USE-2 */
const dividedInto: Look = async (io, sysfsRoot, { address }) =>
  (await mediatedOf(io, sysfsRoot, address)) ?? vgpuOf(io, `${pciFolder(sysfsRoot)}/${formatPciAddress(address)}`)

/** Answers with the virtual functions of a function. A host may have thousands, so they are sorted out once. */
export const virtualIn = (all: readonly PciFunction[]): ((found: PciFunction) => readonly PciFunction[]) => {
  const virtual = all.filter(({ physfn }) => physfn !== null)
  const byPhysical = Map.groupBy(virtual, ({ physfn }) => formatPciAddress(physfn!))
  return ({ address }) => byPhysical.get(formatPciAddress(address)) ?? []
}
export const virtualOf = (found: PciFunction, all: readonly PciFunction[]): readonly PciFunction[] =>
  virtualIn(all)(found)

/** What uses the function, in words; null: nothing that sysfs shows. `all`: the functions of the host. */
export type Uses = {
  /** Itself, or a virtual function of it, is opened. */
  readonly opened: (found: PciFunction) => Promise<string | null>
  /** Itself, or a virtual function of it, is divided. */
  readonly divided: (found: PciFunction) => Promise<string | null>
}
export const usesIn = (io: HostIo, sysfsRoot: string, all: readonly PciFunction[]): Uses => {
  const virtual = virtualIn(all)
  const withVirtual =
    (look: Look): Uses['opened'] =>
    async (found) => {
      const own = await look(io, sysfsRoot, found)
      if (own !== null) return own
      for (const vf of virtual(found)) {
        const used = await look(io, sysfsRoot, vf)
        if (used !== null) return `its virtual function ${formatPciAddress(vf.address)}: ${used}`
      }
      return null
    }
  return { opened: withVirtual(openedBy), divided: withVirtual(dividedInto) }
}
