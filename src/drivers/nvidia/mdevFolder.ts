/** The kernel's interface for mediated devices of one function and type (drivers.md 4.2). Creating and removing are idempotent. */
import { codeOf, messageOf } from '../../errorText.ts'
import { formatPciAddress, type PciAddress } from '../../pci.ts'
import type { HostIo } from '../driver.ts'
import { readIfThere } from '../files.ts'
import { pciFolder } from '../pci/sysfs.ts'

export type MdevType = {
  /** What people call it, such as `GRID T4-2B`. */
  readonly name: string
  /** How many more can be made now. */
  readonly available: number
  /** How many there can be at most; null: the kernel does not say it. */
  readonly max: number | null
  /** UUIDs of those that exist. */
  readonly made: readonly string[]
}

const listed = async (io: HostIo, folder: string): Promise<readonly string[] | null> => {
  try {
    return await io.list(folder)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

const typesFolder = (sysfsRoot: string, address: PciAddress): string =>
  `${pciFolder(sysfsRoot)}/${formatPciAddress(address)}/mdev_supported_types`
const typeFolder = (sysfsRoot: string, address: PciAddress, type: string): string =>
  `${typesFolder(sysfsRoot, address)}/${type}`

/** The types that the function can be divided into; null: it cannot be divided into mediated devices. */
export const mdevTypes = (io: HostIo, sysfsRoot: string, address: PciAddress): Promise<readonly string[] | null> =>
  listed(io, typesFolder(sysfsRoot, address))

/** Throws when the kernel's files do not hold what they must. The type must be one of `mdevTypes`. */
export const readMdevType = async (
  io: HostIo,
  sysfsRoot: string,
  address: PciAddress,
  type: string,
): Promise<MdevType> => {
  const folder = typeFolder(sysfsRoot, address, type)
  const text = (await io.read(`${folder}/available_instances`)).trim()
  if (!/^\d{1,6}$/.test(text))
    throw new Error(`${folder}/available_instances: must be a number, is '${text.slice(0, 40)}'`)
  const description = (await readIfThere(io, `${folder}/description`)) ?? ''
  const [, max = null] = /\bmax_instance=(\d{1,6})\b/.exec(description) ?? []
  return {
    name: ((await readIfThere(io, `${folder}/name`)) ?? type).trim() || type,
    available: Number(text),
    max: max === null ? null : Number(max),
    made: await mdevsOf(io, sysfsRoot, address, type),
  }
}

/** UUIDs of those that exist of the type. */
export const mdevsOf = async (
  io: HostIo,
  sysfsRoot: string,
  address: PciAddress,
  type: string,
): Promise<readonly string[]> => (await listed(io, `${typeFolder(sysfsRoot, address, type)}/devices`)) ?? []

export const createMdev = async (
  io: HostIo,
  sysfsRoot: string,
  address: PciAddress,
  type: string,
  uuid: string,
): Promise<void> => {
  const folder = typeFolder(sysfsRoot, address, type)
  const isThere = async () => (await mdevsOf(io, sysfsRoot, address, type)).includes(uuid)
  if (await isThere()) return
  try {
    await io.write(`${folder}/create`, uuid)
  } catch (error) {
    // whoever was faster made what is wanted; with another type or parent the name is taken by something else
    if (codeOf(error) !== 'EEXIST' || !(await isThere()))
      throw new Error(`mediated device ${uuid} of ${type} at ${formatPciAddress(address)}: ${messageOf(error)}`, {
        cause: error,
      })
  }
}

/** Also when there is no such device, function or type. */
export const removeMdev = async (
  io: HostIo,
  sysfsRoot: string,
  address: PciAddress,
  type: string,
  uuid: string,
): Promise<void> => {
  try {
    await io.write(`${typeFolder(sysfsRoot, address, type)}/devices/${uuid}/remove`, '1')
  } catch (error) {
    // ENODEV: it went away meanwhile
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENODEV') return
    throw new Error(`mediated device ${uuid} of ${type} at ${formatPciAddress(address)}: ${messageOf(error)}`, {
      cause: error,
    })
  }
}
