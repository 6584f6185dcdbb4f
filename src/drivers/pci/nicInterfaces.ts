/**
 * The network interfaces of a PCI function. They vanish when a guest takes the function over, and that must not change
 * what is reported of it: what was found once is kept in a file.
 */
import { formatPciAddress, type PciAddress } from '../../vocabulary/pci.ts'
import type { HostIo } from '../driver.ts'
import { listed, readJsonObject } from '../files.ts'
import { pciFolder } from './sysfs.ts'

/**
 * The interfaces of the function at the canonical address; none while a guest has it. Those of a virtio card lie below
 * the virtio device on it.
 */
export const interfacesNow = async (io: HostIo, sysfsRoot: string, address: string): Promise<readonly string[]> => {
  const folder = `${pciFolder(sysfsRoot)}/${address}`
  const virtio = (await listed(io, folder)).filter((name) => /^virtio\d+$/.test(name))
  const all = await Promise.all(
    [folder, ...virtio.map((name) => `${folder}/${name}`)].map((one) => listed(io, `${one}/net`)),
  )
  return all.flat()
}
const namesIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : []

/** By canonical address of the function, as they are now or were last. `fileName`: of one driver alone. */
export const interfacesOf = async (
  io: HostIo,
  sysfsRoot: string,
  functions: readonly PciAddress[],
  fileName = 'nic_interfaces.json',
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const file = `${io.stateDir}/${fileName}`
  const kept = (await readJsonObject(io, file)) ?? {}
  const found = new Map<string, readonly string[]>()
  for (const address of functions.map(formatPciAddress)) {
    const now = await interfacesNow(io, sysfsRoot, address)
    found.set(address, now.length > 0 ? now : namesIn(kept[address]))
  }
  const text = JSON.stringify(Object.fromEntries([...found].filter(([, names]) => names.length > 0)))
  if (text !== JSON.stringify(kept)) await io.keep(file, text)
  return found
}
