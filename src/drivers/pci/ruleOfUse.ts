/**
 * The one rule of use, which all drivers of PCI functions ask when they look for devices, and once more before a guest
 * gets one: whether a function may be given to guests, and whether it is in use already.
 *
 * USE-1 a function with virtual functions is not given away, and a GPU's virtual function is none, unless the operator
 *    has named it so (`"mode"` of a whitelist entry): it would end with what others have of it, and an NVIDIA virtual
 *    function is a GPU only with a type of vGPU;
 * USE-2 what others have as parts, mediated devices or vGPUs, is not given away as a whole;
 * USE-3 nor is what this machine needs itself: drives (`drivesInUse.ts`), the network (`ownNetwork.ts`), the display,
 *    and what manages the links of other cards;
 * USE-4 nor what cannot reach a guest: VFIO gives out no bridge to other buses, and only whole IOMMU groups, and Nova
 *    takes no PCI domain above ffff. A host without any group is not judged by them, so that recorded hosts and trials
 *    show what they have;
 * USE-5 what a process has opened stays offered, because it may be the guest that was given it. It is named as in use,
 *    and not given to anybody else.
 */
import { formatPciAddress, type PciAddress, pciInfo } from '../../vocabulary/pci.ts'
import type { HostIo, InUse } from '../driver.ts'
import { driveUsers } from './drivesInUse.ts'
import { displayOf } from './display.ts'
import { usesIn, virtualIn } from './inUse.ts'
import { iommuBlocks, isBridge } from './iommuGroups.ts'
import { linkManagers } from './linkManagers.ts'
import { hostNetwork } from './ownNetwork.ts'
import { type PciFunction, readPciFunctions } from './sysfs.ts'

/** What a driver knows of a function besides. */
export type Terms = {
  /** The function of a whitelist entry is meant as it is: with its virtual functions, or as one. */
  readonly mode?: 'pf' | 'vf' | null
  /** The other functions that go to the same guest. */
  readonly mates?: readonly PciFunction[]
  /** Why it stays with the host, whoever asks, in words; null or absent: it does not. */
  readonly kept?: string | null
  /** The function of the same card that can change what this one is, and stays with the host. */
  readonly above?: PciFunction | undefined
}
export type Why = (found: PciFunction, terms?: Terms) => Promise<string | null>

export const HAS_VIRTUAL = 'it has virtual functions, which would go away with it'
const BARE_VIRTUAL =
  'a virtual function of an NVIDIA GPU is a GPU only with a type of vGPU (gpu_devices.device_addresses)'
const NVIDIA = '10de'
const DISPLAY = '03'
export const isBareVirtualGpu = ({ vendor, class: pciClass, physfn }: PciFunction): boolean =>
  vendor === NVIDIA && pciClass.startsWith(DISPLAY) && physfn !== null

/** Why no guest can have the function, whoever asks; null: a guest can. */
export const unreachable = (found: PciFunction): string | null => {
  const { domain } = found.address
  if (isBridge(found)) return 'it is a bridge to other buses, which VFIO and libvirt give to no guest'
  return domain.length > 4 ? `its PCI domain ${domain} is above ffff, and Nova passes on none of those` : null
}

const structural = (found: PciFunction, isDivided: boolean, mode: Terms['mode']): string | null => {
  const never = unreachable(found)
  if (never !== null) return never
  if (mode !== 'vf' && isBareVirtualGpu(found)) return BARE_VIRTUAL
  return mode !== 'pf' && isDivided ? HAS_VIRTUAL : null
}

export type RuleOfUse = {
  /**
   * Why functions are not given to guests; null: they may be. `atBind`: also drives that a program of this host works
   * on are looked at.
   */
  readonly whyNot: (io: HostIo, all: readonly PciFunction[], atBind?: boolean) => Promise<Why>
  /** Those of these functions that somebody has opened. */
  readonly inUse: (io: HostIo, offered: readonly PciAddress[]) => Promise<readonly InUse[]>
}
export const ruleOfUse = (sysfsRoot: string): RuleOfUse => {
  const managesLinks = linkManagers(sysfsRoot)
  return {
    whyNot: async (io, all, atBind = false) => {
      const needed = await hostNetwork(io, sysfsRoot)
      const [blocked, virtual] = [iommuBlocks(all), virtualIn(all)]
      const { opened, divided } = usesIn(io, sysfsRoot, all)
      const usesDrives = driveUsers(io, sysfsRoot, atBind)
      return async (found, { mode = null, mates = [], kept = null } = {}) =>
        kept ??
        structural(found, virtual(found).length > 0, mode) ??
        (await usesDrives(found)) ??
        (await needed(found.address)) ??
        (await displayOf(io, sysfsRoot, found)) ??
        (await managesLinks(io, found)) ??
        (await divided(found)) ??
        // what is passed on at present can be passed on
        ((await opened(found)) === null ? blocked(found, mates) : null)
    },
    inUse: async (io, offered) => {
      if (offered.length === 0) return []
      const all = await readPciFunctions(io, sysfsRoot)
      const { opened } = usesIn(io, sysfsRoot, all)
      const wanted = new Set(offered.map(formatPciAddress))
      const used: InUse[] = []
      for (const found of all) {
        const by = wanted.has(formatPciAddress(found.address)) ? await opened(found) : null
        if (by !== null) used.push({ type: 'PCI', info: pciInfo(found.address), by })
      }
      return used
    },
  }
}
