/**
 * Which network interfaces the host itself cannot do without.
 *
 * NETWORK-1 a card is needed if a default route leads through it, or through what is built on it;
 * NETWORK-2 so is a card that belongs to anything of the host, as a bridge, a bond or a switch, wherever the routes
 *    lead: the ports of Open vSwitch have no route, and the kernel does not say which of them the host's own leads
 *    through;
 * NETWORK-3 routes are those of the network of this process. If it is another one than that of the interfaces in sysfs,
 *    as in a container, a card with an interface is not given away;
 * NETWORK-4 an interface is that of each function above it: of a card that has it in a part of its own (subfunctions),
 *    and of the controller to which an adapter is plugged.
 */
import { formatPciAddress, type PciAddress } from '../../vocabulary/pci.ts'
import type { HostIo } from '../driver.ts'
import { listed, readIfThere } from '../files.ts'
import { namesBelow } from './belowFunctions.ts'
import { interfacesNow } from './nicInterfaces.ts'
import type { PciFunction } from './sysfs.ts'

/**
 * Pure. The interfaces of default routes, from the kernel's tables for IPv4 and IPv6. Lines of another form name
 * nothing.
 */
const defaultInterfaces = (route: string, ipv6Route: string): ReadonlySet<string> => {
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

/** The names in `/proc/net/dev`, which lists the interfaces of the network of this process. Pure. */
export const interfacesIn = (dev: string): ReadonlySet<string> =>
  new Set(dev.split('\n').flatMap((line) => /^\s*([^\s:|][^\s|]*):/.exec(line)?.[1] ?? []))
/** Whether sysfs and this process have interfaces in common, besides `lo`, which every network has (NETWORK-3). */
const isOtherNetwork = async (io: HostIo, sysfsRoot: string): Promise<boolean> => {
  const dev = await readIfThere(io, '/proc/net/dev')
  if (dev === null) return false
  const own = interfacesIn(dev)
  // a file that the kernel's driver of bonds puts beside the interfaces
  const shown = (await listed(io, `${sysfsRoot}/class/net`)).filter(
    (name) => name !== 'lo' && name !== 'bonding_masters',
  )
  return shown.length > 0 && !shown.some((name) => own.has(name))
}

/** NETWORK-1 */
const routeThrough = async (
  io: HostIo,
  sysfsRoot: string,
  {
    own,
    uppers,
    routes,
  }: { readonly own: string; readonly uppers: readonly string[]; readonly routes: ReadonlySet<string> },
): Promise<string | null> => {
  let names: readonly string[] = [own]
  for (let depth = 0; depth < DEPTH_MAX && names.length > 0; depth++) {
    const through = names.find((name) => routes.has(name))
    if (through !== undefined)
      return `the default route of the host leads through ${own}${through === own ? '' : `, by way of ${through}`}`
    names =
      depth === 0
        ? uppers
        : [...new Set((await Promise.all(names.map((name) => uppersOf(io, sysfsRoot, name)))).flat())]
  }
  return null
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
  const isOther = await isOtherNetwork(io, sysfsRoot)
  const reason = async (own: string): Promise<string | null> => {
    if (isOther)
      return `whether the host needs ${own} cannot be said: this program does not see the network of the host (/proc/net/dev)`
    const uppers = await uppersOf(io, sysfsRoot, own)
    const route = await routeThrough(io, sysfsRoot, { own, uppers, routes })
    if (route !== null) return route
    return uppers.length === 0
      ? null
      : `${own} belongs to ${uppers.join(', ')} of the host, as to a bridge, a bond or a switch`
  }
  const interfacesBelow = namesBelow(io, `${sysfsRoot}/class/net`)
  return async (address) => {
    const name = formatPciAddress(address)
    for (const own of new Set([...(await interfacesNow(io, sysfsRoot, name)), ...(await interfacesBelow(name))])) {
      const needed = await reason(own)
      if (needed !== null) return needed
    }
    return null
  }
}
