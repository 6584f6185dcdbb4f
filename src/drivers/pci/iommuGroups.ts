/** Which functions share an IOMMU group with what keeps them from being given to a guest. Pure. */
import { formatPciAddress } from '../../vocabulary/pci.ts'
import type { PciFunction } from './sysfs.ts'

const BRIDGE = /^06(?:04|07|09)/
/** It leads to another bus. Others of the class, as an ISA bridge or an NVSwitch, are functions like any. */
export const isBridge = ({ class: pciClass }: PciFunction): boolean => BRIDGE.test(pciClass)
/** It holds a device so that nobody uses it, and VFIO takes no offence at it. */
const HOLDER = 'pci-stub'

/** This machine uses the function: guests can have nothing else of its group. */
export const isOfHost = ({ driver, isForGuests }: PciFunction): boolean =>
  driver !== null && !isForGuests && driver !== HOLDER
/** The other functions of a group, without bridges, which stay with the machine and take part all the same. */
export const sharing = (found: PciFunction, all: readonly PciFunction[]): readonly PciFunction[] =>
  all.filter((one) => one !== found && one.group === found.group && !isBridge(one))
export const named = (functions: readonly PciFunction[]): string =>
  functions.map((one) => `${formatPciAddress(one.address)} (${one.driver ?? 'no driver'})`).join(', ')

/** Why VFIO would not give a function to a guest; null: it would. `mates`: they go to the same guest. */
export const iommuBlocks = (
  all: readonly PciFunction[],
): ((found: PciFunction, mates: readonly PciFunction[]) => string | null) => {
  const groups = Map.groupBy(all, ({ group }) => group)
  const isKnown = all.some(({ group }) => group !== null)
  return (found, mates) => {
    if (!isKnown) return null
    if (found.group === null) return 'it is in no IOMMU group, so it cannot be given to a guest'
    const together = new Set(mates.map(({ address }) => formatPciAddress(address)))
    const staying = sharing(found, groups.get(found.group) ?? []).filter(
      (one) => isOfHost(one) && !together.has(formatPciAddress(one.address)),
    )
    return staying.length === 0
      ? null
      : `it shares IOMMU group ${found.group} with ${named(staying)}: a guest gets all of a group or nothing; bind the others to vfio-pci, or move the card to a slot with a group of its own`
  }
}
