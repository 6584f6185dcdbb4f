/** Which PCI function a network interface belongs to. */
import type { HostIo } from '../driver.ts'
import { readJsonObject } from '../files.ts'
import { formatPciAddress, parsePciAddress, type PciAddress } from '../../vocabulary/pci.ts'
import { addressInPath } from './sysfs.ts'

/**
 * The `device` link names the function itself, or a virtio device on it; then the interface's own link runs through the
 * function.
 */
const lookUp = async (io: HostIo, sysfsRoot: string, name: string): Promise<PciAddress | null> => {
  const folder = `${sysfsRoot}/class/net/${name}`
  return addressInPath(await io.link(`${folder}/device`)) ?? addressInPath(await io.link(folder))
}

/**
 * Finds the functions of the named interfaces. An interface vanishes when a guest takes its function over, and that
 * must not shorten the inventory: what was found once is kept in a file, until the name shows up elsewhere.
 */
export const findInterfaces = async (
  io: HostIo,
  sysfsRoot: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, PciAddress>> => {
  const found = new Map<string, PciAddress>()
  if (names.length === 0) return found
  const file = `${io.stateDir}/interfaces.json`
  const kept = (await readJsonObject(io, file)) ?? {}
  for (const name of names) {
    const address = (await lookUp(io, sysfsRoot, name)) ?? parsePciAddress(String(kept[name]))
    if (address !== null) found.set(name, address)
  }
  const text = JSON.stringify(
    Object.fromEntries([...found].map(([name, address]) => [name, formatPciAddress(address)])),
  )
  if (text !== JSON.stringify(kept)) await io.write(file, text)
  return found
}
