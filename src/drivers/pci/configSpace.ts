/**
 * Whether a PCI function still answers on its bus. The kernel remembers what a function is, also of one that has fallen
 * off: only its configuration space, which then reads as ones, tells it.
 */
import { formatPciAddress, type PciAddress } from '../../vocabulary/pci.ts'
import type { HostIo } from '../driver.ts'
import { pciFolder } from './sysfs.ts'

/** The standard header. The first four bytes of a virtual function are always ones, so they alone prove nothing. */
const HEADER_BYTES = 64
const ENOUGH_BYTES = 16

export const CONFIG_FILE = 'config'
/** Null: the host does not say it. */
export const answers = async (io: HostIo, sysfsRoot: string, address: PciAddress): Promise<boolean | null> => {
  const path = `${pciFolder(sysfsRoot)}/${formatPciAddress(address)}/${CONFIG_FILE}`
  const header = await io.head(path, HEADER_BYTES).catch(() => new Uint8Array())
  return header.length < ENOUGH_BYTES ? null : header.some((byte) => byte !== 0xff)
}
