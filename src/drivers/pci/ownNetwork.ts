/** Which network interfaces the host itself cannot do without: its default routes lead through them. */
import { formatPciAddress, type PciAddress } from '../../pci.ts'
import type { HostIo } from '../driver.ts'
import { listed, readIfThere } from '../files.ts'
import { interfacesNow } from './nicInterfaces.ts'
import type { PciFunction } from './sysfs.ts'

/**
 * Pure. The interfaces of default routes, from the kernel's tables for IPv4 and IPv6. Lines of another form name
 * nothing.
 */
export const defaultInterfaces = (route: string, ipv6Route: string): ReadonlySet<string> => {
  const four = route.split('\n').map((line) => line.trim().split(/\s+/))
  const six = ipv6Route.split('\n').map((line) => line.trim().split(/\s+/))
  return new Set([
    ...four.flatMap(([name, to, , , , , , mask]) => (name && to === '00000000' && mask === '00000000' ? [name] : [])),
    ...six.flatMap(([to, length, ...rest]) => {
      const name = rest.at(-1)
      // the kernel lists unreachable defaults as routes through `lo`
      return to === '0'.repeat(32) && length === '00' && name && name !== 'lo' ? [name] : []
    }),
  ])
}

/** Of the base class of network controllers. */
export const isNetworkCard = (found: PciFunction): boolean => found.class.startsWith('02')

const UPPER = 'upper_'
const DEPTH_MAX = 8
/** What is built on the interface, such as a bond, a bridge or a VLAN. */
const uppersOf = async (io: HostIo, sysfsRoot: string, name: string): Promise<readonly string[]> => {
  const entries = await listed(io, `${sysfsRoot}/class/net/${name}`)
  return entries.flatMap((entry) => (entry.startsWith(UPPER) ? [entry.slice(UPPER.length)] : []))
}

/**
 * Reads the routes of the host, and answers for a PCI function why the host needs its network interface, in words;
 * null: it does not. A function that a guest has taken over has no interface on the host.
 */
export const hostNetwork = async (
  io: HostIo,
  sysfsRoot: string,
): Promise<(address: PciAddress) => Promise<string | null>> => {
  const routes = defaultInterfaces(
    (await readIfThere(io, '/proc/net/route')) ?? '',
    (await readIfThere(io, '/proc/net/ipv6_route')) ?? '',
  )
  const reason = async (own: string): Promise<string | null> => {
    let names: readonly string[] = [own]
    for (let depth = 0; depth < DEPTH_MAX && names.length > 0; depth++) {
      const through = names.find((name) => routes.has(name))
      if (through !== undefined)
        return `the default route of the host leads through ${own}${through === own ? '' : `, by way of ${through}`}`
      names = [...new Set((await Promise.all(names.map((name) => uppersOf(io, sysfsRoot, name)))).flat())]
    }
    return null
  }
  return async (address) => {
    if (routes.size === 0) return null
    for (const own of await interfacesNow(io, sysfsRoot, formatPciAddress(address))) {
      const needed = await reason(own)
      if (needed !== null) return needed
    }
    return null
  }
}
