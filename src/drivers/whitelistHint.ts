/** What an operator reads when nothing is whitelisted: what is there, and the exact setting that hands it out. Pure. */
import { formatPciAddress } from '../pci.ts'
import type { PciFunction } from './sysfs.ts'

/** The environment variable that holds the whitelist. */
export const WHITELIST_VARIABLE = 'ACCELERANDO_PCI_PASSTHROUGH_WHITELIST'

/** A log line has an end. */
const SHOWN_MAX = 64

/** Base classes of what a host most likely runs on: storage, network, display, memory, bridges, system and serial bus parts. */
const HOST_OWN = ['01', '02', '03', '05', '06', '08', '0c']
const BRIDGE = '06'

/** The best example: most likely free to give away, else anything but a bridge. */
const example = (seen: readonly PciFunction[]): PciFunction | undefined =>
  seen.find((one) => !HOST_OWN.includes(one.class.slice(0, 2))) ?? seen.find((one) => !one.class.startsWith(BRIDGE))

/** The whitelist that takes all functions of this vendor and product. */
export const whitelistFor = ({ vendor, product }: PciFunction): string =>
  JSON.stringify([{ vendor_id: vendor, product_id: product }])

/** The detail of the warning. */
export const whitelistHint = (seen: readonly PciFunction[]): Readonly<Record<string, unknown>> => {
  const pick = example(seen)
  return {
    hint: 'No PCI device is whitelisted, so none is reported. Name devices that this host does not need itself.',
    seenCount: seen.length,
    seen: seen.slice(0, SHOWN_MAX).map((one) => ({
      address: formatPciAddress(one.address),
      vendor_id: one.vendor,
      product_id: one.product,
      class: one.class,
    })),
    variable: WHITELIST_VARIABLE,
    ...(pick ? { value: whitelistFor(pick), example: `${WHITELIST_VARIABLE}='${whitelistFor(pick)}'` } : {}),
  }
}
