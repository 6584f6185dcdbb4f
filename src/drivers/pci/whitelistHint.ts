/** What an operator reads about whitelisting: that nothing is offered, and the setting that offers a device. Pure. */
import type { PciFunction } from './sysfs.ts'

/** The environment variable that holds the whitelist. */
export const WHITELIST_VARIABLE = 'ACCELERANDO_PCI_PASSTHROUGH_WHITELIST'
/** Shows each PCI device of this machine with the setting that offers it. */
const SCAN_COMMAND = 'accelerando device scan'

/**
 * Base classes of what a host most likely runs on: storage, network, display, memory, bridges, system and serial bus
 * parts.
 */
const HOST_OWN = ['01', '02', '03', '05', '06', '08', '0c']
const BRIDGE = '06'

/** The best example: most likely free to give away, else anything but a bridge. */
const example = (seen: readonly PciFunction[]): PciFunction | undefined =>
  seen.find((one) => !HOST_OWN.includes(one.class.slice(0, 2))) ?? seen.find((one) => !one.class.startsWith(BRIDGE))

/** The whitelist entry that takes all functions of this vendor and product. */
export const entryFor = ({ vendor, product }: PciFunction) => ({ vendor_id: vendor, product_id: product })

/** The setting, as a shell takes it, that offers one of these devices. Null: none of them is fit for an example. */
export const exampleSetting = (seen: readonly PciFunction[]): string | null => {
  const pick = example(seen)
  return pick ? `${WHITELIST_VARIABLE}='${JSON.stringify([entryFor(pick)])}'` : null
}

/** One sentence for the log of a host that has no whitelist. */
export const whitelistHint = (seenCount: number): string =>
  `${seenCount} PCI ${seenCount === 1 ? 'device' : 'devices'} seen, none offered: no whitelist is set. ` +
  `'${SCAN_COMMAND}' shows each device and the setting that offers it`
