/** Reads the PCI functions of a host from sysfs. */
import { messageOf } from '../../vocabulary/errorText.ts'
import type { HostIo } from '../driver.ts'
import {
  comparePci,
  formatPciAddress,
  hexNumber,
  hexText,
  parsePciAddress,
  type PciAddress,
} from '../../vocabulary/pci.ts'

export type PciFunction = {
  readonly address: PciAddress
  /** Four hex digits, lower case. */
  readonly vendor: string
  readonly product: string
  /** Six hex digits: base class, subclass, programming interface. */
  readonly class: string
  /** The physical function, if this is a virtual one. */
  readonly physfn: PciAddress | null
  /** Maximum number of virtual functions; 0 when it is not an SR-IOV physical function. */
  readonly totalVfs: number
  /** The kernel driver that is bound to it now, and the only one that may bind (`driver_override`). */
  readonly driver: string | null
  readonly driverOverride: string | null
  /** Its driver hands it to guests: `vfio-pci`, or one of the drivers for single kinds of cards that do the same. */
  readonly isForGuests: boolean
  /** Its IOMMU group: guests get the functions of a group together. */
  readonly group: string | null
}

/** The folder with one entry for each PCI function. */
export const pciFolder = (sysfsRoot: string): string => `${sysfsRoot}/bus/pci/devices`

/** The innermost PCI address in a sysfs path, or null. */
export const addressInPath = (path: string | null): PciAddress | null =>
  (path ?? '')
    .split('/')
    .map(parsePciAddress)
    .findLast((address) => address !== null) ?? null

const lastPart = (path: string | null): string | null => path?.split('/').at(-1) || null

/**
 * Names differ (`mlx5_vfio_pci`, `nvgrace-gpu-vfio-pci`), and newer kernels show a folder. NVIDIA's own driver has that
 * folder on virtual functions that are vGPUs, which it goes on serving.
 */
const servesGuests = (driver: string | null, files: readonly string[]): boolean =>
  driver !== null && (driver.includes('vfio') || (files.includes('vfio-dev') && !files.includes('nvidia')))

const readHex = async (io: HostIo, path: string, digits: number): Promise<string> => {
  const text = (await io.read(path)).trim()
  const value = hexNumber(text)
  if (value === null || value >= 16 ** digits)
    throw new Error(`${path}: must hold at most ${digits} hex digits, holds '${text}'`)
  return hexText(value, digits)
}

const readFunction = async (io: HostIo, folder: string, address: PciAddress): Promise<PciFunction> => {
  const files = await io.list(folder)
  const optional = async (name: string) => (files.includes(name) ? (await io.read(`${folder}/${name}`)).trim() : '')
  const override = await optional('driver_override')
  const driver = lastPart(await io.link(`${folder}/driver`))
  return {
    address,
    vendor: await readHex(io, `${folder}/vendor`, 4),
    product: await readHex(io, `${folder}/device`, 4),
    class: await readHex(io, `${folder}/class`, 6),
    physfn: addressInPath(await io.link(`${folder}/physfn`)),
    totalVfs: Number.parseInt(await optional('sriov_totalvfs'), 10) || 0,
    driver,
    // The kernel prints `(null)` when nothing is set.
    driverOverride: override === '' || override === '(null)' ? null : override,
    isForGuests: servesGuests(driver, files),
    group: lastPart(await io.link(`${folder}/iommu_group`)),
  }
}

/** Whether the function is present on the host now. */
export const isPresent = async (io: HostIo, sysfsRoot: string, address: PciAddress): Promise<boolean> =>
  (await io.list(pciFolder(sysfsRoot))).some((name) => name.toLowerCase() === formatPciAddress(address))

/** The error of a read that fails, as with `EIO`, does not say which file it was. */
const namingFolder = (error: unknown, folder: string): unknown => {
  const text = messageOf(error)
  return text.includes(folder) ? error : new Error(`${folder}: ${text}`, { cause: error })
}
const readAll = async (io: HostIo, sysfsRoot: string): Promise<readonly PciFunction[]> => {
  const functions: PciFunction[] = []
  for (const name of await io.list(pciFolder(sysfsRoot))) {
    const address = parsePciAddress(name)
    if (address === null) continue
    const folder = `${pciFolder(sysfsRoot)}/${name}`
    try {
      functions.push(await readFunction(io, folder, address))
    } catch (error) {
      if (await isPresent(io, sysfsRoot, address)) throw namingFolder(error, folder)
    }
  }
  return functions.toSorted((one, other) => comparePci(one.address, other.address))
}

/** Reads that have not begun yet. */
const waiting = new WeakMap<HostIo, Map<string, Promise<readonly PciFunction[]>>>()

/**
 * Every PCI function of the host, ordered by address. Throws when one cannot be read: only a function that was
 * unplugged in the meantime may be left out. Drivers that ask at the same time share one read; it begins after all of
 * them have asked.
 */
export const readPciFunctions = (io: HostIo, sysfsRoot: string): Promise<readonly PciFunction[]> => {
  const reads = waiting.get(io) ?? new Map<string, Promise<readonly PciFunction[]>>()
  waiting.set(io, reads)
  const shared = reads.get(sysfsRoot)
  if (shared !== undefined) return shared
  const read = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    reads.delete(sysfsRoot)
    return readAll(io, sysfsRoot)
  })
  reads.set(sysfsRoot, read)
  return read
}
