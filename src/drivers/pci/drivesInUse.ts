/**
 * Whether the host itself uses an NVMe drive, or a drive at a disk controller, so that no guest may have it.
 *
 * DRIVE-1 a drive is in use while a namespace or a partition of it is mounted, swap or part of a volume: these are
 *    named;
 * DRIVE-2 so it is while anything else has a namespace or a part of it for itself, as btrfs and ZFS have each drive of
 *    a pool. No file of the kernel names them, so the device is asked;
 * DRIVE-3 a drive of which that cannot be said is not given away, and keeps no other drive from being offered. Only
 *    what is lacking for the moment, as memory, is an error;
 * DRIVE-4 while a program of this host works on an offered drive, as one that cleans it, the drive is not looked at and
 *    stays offered: the program may have it for itself, and a look would keep it away. A guest gets it only after a
 *    look;
 * DRIVE-5 a function of any other kind, such as a disk or USB controller, is in use while a drive below it is.
 */
import { codeOf, messageOf } from '../../vocabulary/errorText.ts'
import { formatPciAddress } from '../../vocabulary/pci.ts'
import type { HostIo } from '../driver.ts'
import { deployableName } from '../names.ts'
import { listed, readIfThere } from '../files.ts'
import { namesBelow } from './belowFunctions.ts'
import { type PciFunction, pciFolder } from './sysfs.ts'

const isDrive = (found: PciFunction): boolean => found.class.startsWith('0108')

export type Used = {
  /** Device numbers, `major:minor`, of mounted file systems. */
  readonly numbers: ReadonlySet<string>
  /** Names below `/dev` that are mounted or used for swapping. */
  readonly names: ReadonlySet<string>
}
const DEV = '/dev/'
const devName = (path: string | undefined): readonly string[] => (path?.startsWith(DEV) ? [path.slice(DEV.length)] : [])

/** The device numbers and names in `mountinfo` and `swaps`. Lines of any other format are ignored. Pure. */
const usedIn = (mountinfo: string, swaps: string): Used => {
  const mounts = mountinfo.split('\n').map((line) => line.split(' - '))
  return {
    numbers: new Set(mounts.flatMap((parts) => parts[0]!.split(' ').slice(2, 3))),
    names: new Set([
      ...mounts.flatMap(([, source = '']) => devName(source.split(' ')[1])),
      ...swaps.split('\n').flatMap((line) => devName(line.split(/\s/, 1)[0])),
    ]),
  }
}

/**
 * The mounts of process 1 are those of the whole machine, even if this program runs in a mount namespace of its own.
 * The second path is the fallback.
 */
const MOUNTS = ['/proc/1/mountinfo', '/proc/self/mountinfo']
const mountsOf = async (io: HostIo): Promise<string> => {
  for (const path of MOUNTS) {
    const text = await readIfThere(io, path).catch(() => null)
    if (text !== null) return text
  }
  throw new Error(`${MOUNTS.join(', ')}: cannot be read, so nobody knows which drives the host uses`)
}

type Block = { readonly name: string; readonly folder: string; readonly isWhole: boolean }
/**
 * The namespaces of the controller and their partitions: `nvme0n1`, `nvme0n1p1`. With several paths only the path
 * `nvme0c0n1` lies here: the namespace itself, with its partitions, is found among the block devices.
 */
const blocksOf = async (io: HostIo, sysfsRoot: string, controller: string): Promise<readonly Block[]> => {
  const blocks: Block[] = []
  for (const entry of await listed(io, controller)) {
    if (!/^nvme\d+(?:c\d+)?n\d+$/.test(entry)) continue
    const name = withoutPath(entry)
    const folder = name === entry ? `${controller}/${entry}` : `${sysfsRoot}/block/${name}`
    if (name !== entry && (await listed(io, folder)).length === 0) throw new Error(`${folder} cannot be looked at`)
    blocks.push(...(await withParts(io, name, folder)))
  }
  return blocks
}
const withoutPath = (name: string): string => name.replace(/^(nvme\d+)c\d+(?=n)/, '$1')
const withParts = async (io: HostIo, name: string, folder: string): Promise<readonly Block[]> => [
  { name, folder, isWhole: true },
  ...(await listed(io, folder))
    .filter((part) => part.startsWith(name))
    .map((part) => ({ name: part, folder: `${folder}/${part}`, isWhole: false })),
]

const FOR_THE_MOMENT = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'])
const unknown = (name: string, why: string): string => `whether the host uses ${name} cannot be said: ${why}`
const whyUnknown = (name: string, error: unknown): string => {
  if (FOR_THE_MOMENT.has(codeOf(error) ?? '')) throw error
  return unknown(name, messageOf(error))
}
/**
 * DRIVE-2, DRIVE-3. `number`: of the namespace, as sysfs has it; the file below `/dev` may be that of another one in a
 * container.
 */
const holderOf = async (io: HostIo, name: string, number: string): Promise<string | null> => {
  const path = `${DEV}${name}`
  try {
    const device = await io.blockDevice(path)
    if (device.number !== number) return unknown(name, `${path} is the block device ${device.number}, not ${number}`)
    return device.isClaimed ? `${name} is held by the host, as by a file system or a pool of several drives` : null
  } catch (error) {
    return whyUnknown(name, error)
  }
}

const controllerUser = async (io: HostIo, used: Used, blocks: readonly Block[]): Promise<string | null> => {
  for (const { name, folder, isWhole } of blocks) {
    const number = (await readIfThere(io, `${folder}/dev`))?.trim() ?? ''
    if (used.names.has(name) || used.numbers.has(number)) return `${name} is mounted or used for swapping`
    const [holder] = await listed(io, `${folder}/holders`)
    if (holder !== undefined) return `${name} is part of ${holder}`
    const other = isWhole ? await holderOf(io, name, number) : null
    if (other !== null) return other
  }
  return null
}

const usedNow = async (io: HostIo): Promise<Used> =>
  usedIn(await mountsOf(io), (await readIfThere(io, '/proc/swaps')) ?? '')

/** A drive that has no driver, or that of guests, has no namespaces here. */
const nvmeUser = async (io: HostIo, sysfsRoot: string, address: string): Promise<string | null> => {
  const folder = `${pciFolder(sysfsRoot)}/${address}/nvme`
  const controllers = await listed(io, folder)
  if (controllers.length === 0) return null
  const used = await usedNow(io)
  for (const controller of controllers)
    try {
      const user = await controllerUser(io, used, await blocksOf(io, sysfsRoot, `${folder}/${controller}`))
      if (user !== null) return user
    } catch (error) {
      return whyUnknown(controller, error)
    }
  return null
}

/** DRIVE-5 */
const diskUser = async (io: HostIo, sysfsRoot: string, disks: readonly string[]): Promise<string | null> => {
  if (disks.length === 0) return null
  const used = await usedNow(io)
  for (const name of new Set(disks.map(withoutPath)))
    try {
      const user = await controllerUser(io, used, await withParts(io, name, `${sysfsRoot}/block/${name}`))
      if (user !== null) return user
    } catch (error) {
      return whyUnknown(name, error)
    }
  return null
}

/**
 * Answers why no guest may have a function because of its drives, in words; null: the host does not use them. `atBind`:
 * also drives that a program of this host works on are looked at (DRIVE-4).
 */
export const driveUsers = (
  io: HostIo,
  sysfsRoot: string,
  atBind: boolean,
): ((found: PciFunction) => Promise<string | null>) => {
  const disksBelow = namesBelow(io, `${sysfsRoot}/block`)
  return async (found) => {
    const address = formatPciAddress(found.address)
    const card = deployableName(io.hostname, address)
    const isWorkedOn = (): boolean => !atBind && (io.worksOn?.(card) ?? false)
    if (isWorkedOn()) return null
    const user = isDrive(found)
      ? await nvmeUser(io, sysfsRoot, address)
      : await diskUser(io, sysfsRoot, await disksBelow(address))
    // the program may have begun since
    return isWorkedOn() ? null : user
  }
}
