/**
 * What every driver does that hands whole PCI functions to guests: a bind changes nothing on the host, so there is
 * little to do.
 */
import { type PciAddress, formatPciAddress, pciAddressOf, pciInfo } from '../../pci.ts'
import type { ReportedHandle } from '../../hardware.ts'
import type { Driver, HostIo, InUse, Slot } from '../driver.ts'
import { pciUser } from './inUse.ts'
import { isPresent, type PciFunction } from './sysfs.ts'

/** The attach handle of a function, with its physical function if it is a virtual one. */
export const passedHandle = ({ address, physfn }: Pick<PciFunction, 'address' | 'physfn'>): ReportedHandle => ({
  type: 'PCI',
  info: pciInfo(address),
  ...(physfn ? { physfn: formatPciAddress(physfn) } : {}),
})

/** Neutron's ports name the network; Nova reads it from the handle. Null: the function is in none. */
export const withNetwork = (info: ReportedHandle['info'], network: string | null): ReportedHandle['info'] =>
  network === null ? info : { ...info, physical_network: network }

/** The function that a slot attaches. Throws when the slot is none of a PCI function, or the host does not have it. */
export const presentFunction = async (io: HostIo, sysfsRoot: string, slot: Slot): Promise<PciAddress> => {
  const address = pciAddressOf(slot.info)
  if (slot.type !== 'PCI' || address === null) throw new Error(`slot ${slot.uuid}: info must be a PCI address`)
  if (!(await isPresent(io, sysfsRoot, address)))
    throw new Error(`slot ${slot.uuid}: no PCI device ${formatPciAddress(address)} on ${io.hostname}`)
  return address
}

export type PassThrough = Required<Pick<Driver, 'prepare' | 'release' | 'inUse'>> & {
  /** The functions that are offered now; the driver says so with each discovery. */
  readonly offer: (functions: readonly PciAddress[]) => void
}
export const passThrough = (sysfsRoot: string): PassThrough => {
  let offered: readonly PciAddress[] = []
  return {
    offer: (functions) => void (offered = functions),
    prepare: async (io, slot, signal) => {
      signal.throwIfAborted()
      await presentFunction(io, sysfsRoot, slot)
    },
    release: async () => {},
    inUse: async (io) => {
      const used: InUse[] = []
      for (const address of offered) {
        const by = await pciUser(io, sysfsRoot, address)
        if (by !== null) used.push({ type: 'PCI', info: pciInfo(address), by })
      }
      return used
    },
  }
}
