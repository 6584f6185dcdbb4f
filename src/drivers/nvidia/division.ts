/**
 * How a GPU is divided now, as the kernel shows it: into mediated devices, or by the vendor's own files on a virtual
 * function (drivers.md 4.4).
 */
import { codeOf } from '../../vocabulary/errorText.ts'
import { formatPciAddress, type PciAddress } from '../../vocabulary/pci.ts'
import type { HostIo } from '../driver.ts'
import { pciFolder } from '../pci/sysfs.ts'
import { mdevTypes, type MdevType, readMdevType } from '../pci/mdevFolder.ts'

export type Division =
  | { readonly how: 'mdev'; readonly type: MdevType }
  /**
   * The virtual function is a vGPU of the type now, or can become one. `name` null: the kernel does not say it at
   * present.
   */
  | { readonly how: 'vfio'; readonly name: string | null; readonly isMade: boolean; readonly canBeMade: boolean }
  | { readonly how: 'not'; readonly reason: string }

const vfioFolder = (sysfsRoot: string, address: PciAddress): string =>
  `${pciFolder(sysfsRoot)}/${formatPciAddress(address)}/nvidia`
/** These files know types by number: `1414` for `nvidia-1414`. */
export const vfioId = (type: string): string => type.replace(/^.*-/, '')
const currentFile = (sysfsRoot: string, address: PciAddress) => `${vfioFolder(sysfsRoot, address)}/current_vgpu_type`

/** Pure. The names of types by id, from lines like `1414 : NVIDIA H200X-1-18C`; other lines are ignored. */
const creatableTypes = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split('\n').flatMap((line) => {
      const [, id, name] = /^\s*(\d{1,9})\s*:\s*(\S.*?)\s*$/.exec(line) ?? []
      return id === undefined || name === undefined ? [] : [[id, name] as const]
    }),
  )

const vfioDivision = async (
  io: HostIo,
  sysfsRoot: string,
  address: PciAddress,
  type: string,
): Promise<Division | null> => {
  let text: string
  try {
    text = await io.read(`${vfioFolder(sysfsRoot, address)}/creatable_vgpu_types`)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null
    throw error
  }
  const name = creatableTypes(text).get(vfioId(type)) ?? null
  const current = (await io.read(currentFile(sysfsRoot, address))).trim()
  if (current !== '0' && current !== vfioId(type))
    return { how: 'not', reason: `it is a vGPU of type ${current} now, which is not ${type}` }
  return { how: 'vfio', name, isMade: current !== '0', canBeMade: name !== null }
}

export const divisionOf = async (
  io: HostIo,
  sysfsRoot: string,
  address: PciAddress,
  type: string,
): Promise<Division> => {
  const types = await mdevTypes(io, sysfsRoot, address)
  if (types?.includes(type)) return { how: 'mdev', type: await readMdevType(io, { sysfsRoot, address, type }) }
  const vfio = await vfioDivision(io, sysfsRoot, address, type)
  if (vfio !== null) return vfio
  const has =
    types === null ? 'it offers no vGPU types (is its vGPU driver loaded?)' : `it offers ${types.join(', ') || 'none'}`
  return { how: 'not', reason: `type ${type} is configured for it, and ${has}` }
}

/** `type` null: it is none any more. */
export const setVfioType = (io: HostIo, sysfsRoot: string, address: PciAddress, type: string | null): Promise<void> =>
  io.write(currentFile(sysfsRoot, address), type === null ? '0' : vfioId(type))
export const vfioTypeNow = async (io: HostIo, sysfsRoot: string, address: PciAddress): Promise<string | null> => {
  try {
    const text = (await io.read(currentFile(sysfsRoot, address))).trim()
    return text === '0' ? null : text
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null
    throw error
  }
}
