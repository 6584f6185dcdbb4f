/** What is reported of a GPU that is divided into vGPUs (drivers.md 3.1 and 4). Pure. */
import type { ReportedDevice, ReportedHandle } from '../../vocabulary/hardware.ts'
import type { HostName } from '../../vocabulary/identifiers.ts'
import { formatPciAddress, pciInfo, pciJson } from '../../vocabulary/pci.ts'
import { attributesOf, deployableName, traitName } from '../names.ts'
import type { Offer } from '../cards/cardKinds.ts'
import { passedHandle } from '../pci/passThrough.ts'
import type { PciFunction } from '../pci/sysfs.ts'
import type { Division } from './division.ts'
import type { Made } from './madeDevices.ts'
import type { MdevType } from '../pci/mdevFolder.ts'

/** A report's limit for attach handles. */
const HANDLES_MAX = 4096

/** The last word of what a type is called: `GRID T4-1B` is `T4_1B` in a trait. */
const typeTrait = (product: string, name: string): string =>
  traitName(
    'CUSTOM_NVIDIA',
    product,
    name
      .trim()
      .split(/\s+/)
      .at(-1)!
      .replaceAll(/[^A-Za-z0-9]+/g, '_'),
  )

const markOf = (type: string, n: number): string => `${type}_${n}`

/**
 * The marks of the attach handles: those of our own mediated devices, which never leave the report, and of the others
 * the lowest, as many as can be made now, within the limit. `mine`: marks of this driver's devices of that function and
 * type, made or about to be made.
 */
const marksOf = (
  type: string,
  { available, max, made }: MdevType,
  mine: ReadonlyMap<string, string>,
  limit: number,
): readonly string[] => {
  // of what it makes itself, the kernel counts as made what it has made already
  const foreign = made.filter((uuid) => !mine.has(uuid)).length
  const begun = [...mine.keys()].filter((uuid) => made.includes(uuid)).length
  const most = Math.min(max === null ? Infinity : Math.max(0, max - foreign), available + begun, HANDLES_MAX, limit)
  const marks = new Set(mine.values())
  for (let n = 0; marks.size < most; n++) marks.add(markOf(type, n))
  return [...marks].toSorted((one, other) => one.length - other.length || (one < other ? -1 : 1))
}

const mdevHandle = ({ address, physfn }: PciFunction, type: string, mark: string): ReportedHandle => {
  const {
    bus,
    device,
    domain,
    function: fn,
  } = pciInfo(address) as Record<'bus' | 'device' | 'domain' | 'function', string>
  return {
    type: 'MDEV',
    info: { asked_type: type, bus, device, domain, function: fn, vgpu_mark: mark },
    ...(physfn ? { physfn: formatPciAddress(physfn) } : {}),
  }
}

export type Vgpu = {
  readonly found: PciFunction
  readonly offer: Offer
  readonly type: string
  readonly division: Division
  /** What the type is called, as far as the kernel ever said it. */
  readonly name: string
  /** This driver's own devices of the function and type, by UUID. */
  readonly mine: ReadonlyMap<string, Made>
  /** It is not configured any more: what is made stays, and nothing more is given. */
  readonly isClosed: boolean
  /** How many handles it may show (VGPU-4). Those of its own devices are shown all the same. */
  readonly most: number
}

export const handlesOf = ({ found, type, division, mine, isClosed, most }: Vgpu): readonly ReportedHandle[] => {
  if (division.how === 'mdev') {
    const marks = new Map([...mine].map(([uuid, { mark }]) => [uuid, mark]))
    const all = isClosed ? [...marks.values()].toSorted() : marksOf(type, division.type, marks, most)
    return all.map((mark) => mdevHandle(found, type, mark))
  }
  // it offers no handle while other vGPUs use the capacity that this one needs, or while a vGPU of another program
  // exists here
  const canBeGiven = division.how === 'vfio' && !division.isMade && division.canBeMade && !isClosed && most > 0
  return division.how === 'vfio' && (mine.size > 0 || canBeGiven) ? [passedHandle(found)] : []
}

/** Of the vGPUs that exist or may exist, whoever made them. */
const usedOf = ({ division, mine }: Vgpu): number => {
  if (division.how === 'vfio') return division.isMade || mine.size > 0 ? 1 : 0
  const foreign = division.how === 'mdev' ? division.type.made.filter((uuid) => !mine.has(uuid)).length : 0
  return mine.size + foreign
}
const cardOf = ({ found, type }: Vgpu): string => `${formatPciAddress(found.physfn ?? found.address)} ${type}`

/**
 * The same functions, of which each shows so many handles that a card as a whole can hold them: what exists, and of the
 * others those of the first functions.
 */
export const withinCards = (vgpus: readonly Vgpu[], most: ReadonlyMap<string, number>): readonly Vgpu[] => {
  const left = new Map<string, number>()
  for (const vgpu of vgpus)
    left.set(cardOf(vgpu), (left.get(cardOf(vgpu)) ?? most.get(vgpu.type) ?? Infinity) - usedOf(vgpu))
  return vgpus.map((vgpu) => {
    const own = vgpu.mine.size
    const free = Math.min(Math.max(0, left.get(cardOf(vgpu))!), handlesOf(vgpu).length - own)
    left.set(cardOf(vgpu), left.get(cardOf(vgpu))! - free)
    return most.has(vgpu.type) ? { ...vgpu, most: own + free } : vgpu
  })
}
/** It has room, and others of its card use up what the card can hold. */
export const isUsedUp = (vgpu: Vgpu): boolean =>
  handlesOf(vgpu).length === 0 && handlesOf({ ...vgpu, most: Infinity }).length > 0

export const vgpuReport = (hostname: HostName, vgpu: Vgpu, model: string): ReportedDevice => {
  const { found, offer, type, division, name } = vgpu
  const handles = handlesOf(vgpu)
  return {
    type: 'GPU',
    vendor: found.vendor,
    model,
    stdBoardInfo: offer.stdBoardInfo,
    vendorBoardInfo: offer.vendorBoardInfo,
    controlPath: { type: 'PCI', info: pciJson(found.address) },
    deployables: [
      {
        name: deployableName(hostname, formatPciAddress(found.address)),
        numAccelerators: handles.length,
        driverName: 'NVIDIA',
        attributes: attributesOf('VGPU', ['OWNER_CYBORG', typeTrait(found.product, name || type)]),
        handles,
        hostWork: true,
        programmable: false,
      },
    ],
    // known ones stay as they are until the card can be divided again
    ...(division.how === 'not' ? { stub: true } : {}),
  }
}
