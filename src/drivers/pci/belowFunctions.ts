/**
 * What the kernel's tree of devices has below PCI functions, however deep: a network interface of a part of a card, or
 * a drive at a disk controller, and not only what lies in the folder of the function.
 */
import { formatPciAddress, parsePciAddress } from '../../vocabulary/pci.ts'
import type { HostIo } from '../driver.ts'
import { listed } from '../files.ts'

/**
 * The names in a folder of links into the tree, as `/sys/class/net` or `/sys/block`, by the functions on their way. The
 * folder is read once, when it is first asked for.
 */
export const namesBelow = (io: HostIo, folder: string): ((address: string) => Promise<readonly string[]>) => {
  let names: Promise<ReadonlyMap<string, readonly string[]>> | null = null
  const read = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
    const found = new Map<string, string[]>()
    for (const name of await listed(io, folder))
      for (const part of ((await io.link(`${folder}/${name}`)) ?? '').split('/')) {
        const address = parsePciAddress(part)
        if (address === null) continue
        const own = found.get(formatPciAddress(address)) ?? []
        found.set(formatPciAddress(address), [...own, name])
      }
    return found
  }
  return async (address) => (await (names ??= read())).get(address) ?? []
}
