/** Which PCI functions of this machine the whitelist offers, and of each other one why it does not. */
import { formatPciAddress } from '../../vocabulary/pci.ts'
import type { HostIo } from '../driver.ts'
import { findInterfaces } from './interfaces.ts'
import { chooseFunctions } from './sriov.ts'
import { type PciFunction, readPciFunctions } from './sysfs.ts'
import { type WhitelistEntry, matchesEntry } from './whitelist.ts'
import { entryFor } from './whitelistHint.ts'

export type SeenFunction = {
  readonly found: PciFunction
  /** The first entry of the whitelist that takes the function; null: it is not offered. */
  readonly entry: WhitelistEntry | null
  /** Why it is not offered although an entry takes it. */
  readonly leftOut: string | null
}
export type ScannedDevice = {
  readonly address: string
  readonly vendor_id: string
  readonly product_id: string
  readonly class: string
  readonly class_name: string
  readonly offered: boolean
  /** Why it is not offered. */
  readonly reason: string | null
  /** The whitelist entry that would offer it; null when it is offered already. */
  readonly whitelist_entry: ReturnType<typeof entryFor> | null
}

export type Verdicts = {
  readonly driverEnabled: boolean
  readonly whitelistSet: boolean
  /** By address, why `pci_driver` or a control leaves out what the whitelist takes. */
  readonly reasons?: ReadonlyMap<string, string>
  /** By address, why no entry offers a function. */
  readonly kept?: ReadonlyMap<string, string>
  /** Why `pci_driver` offers nothing at all; null: it did not fail. */
  readonly failure?: string | null
}

/** Base classes as the PCI Code and ID Assignment Specification names them. */
const CLASS_NAMES: Readonly<Record<string, string>> = {
  '00': 'unclassified',
  '01': 'storage',
  '02': 'network',
  '03': 'display',
  '04': 'multimedia',
  '05': 'memory',
  '06': 'bridge',
  '07': 'communication',
  '08': 'system',
  '09': 'input',
  '0a': 'docking station',
  '0b': 'processor',
  '0c': 'serial bus',
  '0d': 'wireless',
  '0e': 'intelligent I/O',
  '0f': 'satellite',
  '10': 'encryption',
  '11': 'signal processing',
  '12': 'accelerator',
  '13': 'instrumentation',
  '40': 'coprocessor',
  ff: 'unassigned',
}

/** Every PCI function with what the whitelist says about it. Throws when the bus cannot be read. */
export const seenFunctions = async (
  io: HostIo,
  sysfsRoot: string,
  whitelist: readonly WhitelistEntry[],
): Promise<readonly SeenFunction[]> => {
  const functions = await readPciFunctions(io, sysfsRoot)
  const devnames = whitelist.flatMap(({ devname }) => devname ?? [])
  const interfaces = await findInterfaces(io, sysfsRoot, devnames)
  return chooseFunctions(
    functions.map((found) => ({
      found,
      entry: whitelist.find((one) => matchesEntry(one, found, interfaces)) ?? null,
    })),
  )
}

/** As an operator is shown them. */
export const scannedDevices = (
  seen: readonly SeenFunction[],
  { driverEnabled, whitelistSet, reasons = new Map(), kept = new Map(), failure = null }: Verdicts,
): readonly ScannedDevice[] =>
  seen.map(({ found, entry, leftOut }) => {
    const address = formatPciAddress(found.address)
    const stays = kept.get(address)
    const reason = !driverEnabled
      ? 'pci_driver is not in enabled_drivers'
      : !whitelistSet
        ? 'no whitelist is set'
        : entry === null
          ? 'no whitelist entry takes it'
          : (leftOut ?? failure ?? reasons.get(address) ?? null)
    return {
      address,
      ...entryFor(found),
      class: found.class,
      class_name: CLASS_NAMES[found.class.slice(0, 2)] ?? 'other',
      offered: reason === null,
      reason: reason === null ? null : (stays ?? reason),
      whitelist_entry: entry === null && stays === undefined ? entryFor(found) : null,
    }
  })
