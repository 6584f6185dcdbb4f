/**
 * The kernel's interface for mediated devices of one function and type (drivers.md 4.2). Creating and removing are
 * idempotent.
 */
import type { HandleUuid } from '../../vocabulary/identifiers.ts'
import { codeOf, messageOf } from '../../vocabulary/errorText.ts'
import { formatPciAddress, type PciAddress } from '../../vocabulary/pci.ts'
import type { HostIo } from '../driver.ts'
import { listIfThere, listed, readIfThere } from '../files.ts'
import { pciFolder } from './sysfs.ts'
import { vfioHolder } from './vfioHolder.ts'

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

/** A type of mediated device of the function at the address. */
export type MdevTypeAt = { readonly sysfsRoot: string; readonly address: PciAddress; readonly type: string }

const typesFolder = (sysfsRoot: string, address: PciAddress): string =>
  `${pciFolder(sysfsRoot)}/${formatPciAddress(address)}/mdev_supported_types`
const typeFolder = ({ sysfsRoot, address, type }: MdevTypeAt): string => `${typesFolder(sysfsRoot, address)}/${type}`
const named = ({ address, type }: MdevTypeAt, uuid: HandleUuid): string =>
  `mediated device ${uuid} of ${type} at ${formatPciAddress(address)}`

/** The types that the function can be divided into; null: it cannot be divided into mediated devices. */
export const mdevTypes = (io: HostIo, sysfsRoot: string, address: PciAddress): Promise<readonly string[] | null> =>
  listIfThere(io, typesFolder(sysfsRoot, address))

/** Throws when the kernel's files do not hold what they must. The type must be one of `mdevTypes`. */
export const readMdevType = async (io: HostIo, mdev: MdevTypeAt): Promise<MdevType> => {
  const folder = typeFolder(mdev)
  const text = (await io.read(`${folder}/available_instances`)).trim()
  if (!/^\d{1,6}$/.test(text))
    throw new Error(`${folder}/available_instances: must be a number, is '${text.slice(0, 40)}'`)
  const description = (await readIfThere(io, `${folder}/description`)) ?? ''
  const [, max = null] = /\bmax_instance=(\d{1,6})\b/.exec(description) ?? []
  return {
    name: ((await readIfThere(io, `${folder}/name`)) ?? mdev.type).trim() || mdev.type,
    available: Number(text),
    max: max === null ? null : Number(max),
    made: await mdevsOf(io, mdev),
  }
}

/** UUIDs of those that exist of the type. */
export const mdevsOf = (io: HostIo, mdev: MdevTypeAt): Promise<readonly string[]> =>
  listed(io, `${typeFolder(mdev)}/devices`)

export const createMdev = async (io: HostIo, mdev: MdevTypeAt, uuid: HandleUuid): Promise<void> => {
  const isThere = async () => (await mdevsOf(io, mdev)).includes(uuid)
  if (await isThere()) return
  try {
    await io.write(`${typeFolder(mdev)}/create`, uuid)
  } catch (error) {
    // whoever was faster made what is wanted; with another type or parent the name is taken by something else
    if (codeOf(error) !== 'EEXIST' || !(await isThere()))
      throw new Error(`${named(mdev, uuid)}: ${messageOf(error)}`, { cause: error })
  }
}

/**
 * Also when there is no such device, function or type. Throws at once while a guest has it: the kernel would let the
 * write wait for the end of the guest, and with it whatever else the card has to do.
 */
export const removeMdev = async (io: HostIo, mdev: MdevTypeAt, uuid: HandleUuid): Promise<void> => {
  const device = `${typeFolder(mdev)}/devices/${uuid}`
  const holder = await vfioHolder(io, device)
  if (holder !== null) throw new Error(`${named(mdev, uuid)}: a guest still has it: ${holder}`)
  try {
    await io.write(`${device}/remove`, '1')
  } catch (error) {
    // ENODEV: it went away meanwhile
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENODEV') return
    throw new Error(`${named(mdev, uuid)}: ${messageOf(error)}`, { cause: error })
  }
}
