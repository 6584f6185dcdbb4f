/** Finds the PCI functions of this machine that are both offered here and used by Nova. */
import type { HostIo } from '../../drivers/driver.ts'
import { mdevTypes } from '../../drivers/pci/mdevFolder.ts'
import { findInterfaces } from '../../drivers/pci/interfaces.ts'
import type { SeenFunction } from '../../drivers/pci/scan.ts'
import type { PciFunction } from '../../drivers/pci/sysfs.ts'
import { matchesEntry } from '../../drivers/pci/whitelist.ts'
import { formatPciAddress, type PciAddress } from '../../vocabulary/pci.ts'
import type { NovaDevices, NovaSpec } from './novaDevices.ts'

export type Overlap = {
  readonly address: string
  /** Vendor and product id, such as `10de:1eb8`. */
  readonly ids: string
  /** How Nova uses the function. */
  readonly how: string
}
export type Compared = {
  readonly overlaps: readonly Overlap[]
  /** Number of functions that are offered here, and number of functions that Nova passes through. */
  readonly offered: number
  readonly taken: number
}
type Taken = { readonly found: PciFunction; readonly spec: NovaSpec }

const said = ({ text, at }: NovaSpec): string => `[pci] device_spec ${text} (${at})`

/**
 * Whether Nova passes through this function, its physical function or one of its virtual functions: a physical function
 * controls its virtual ones.
 */
const passedThrough = ({ address, physfn }: PciFunction, taken: ReadonlyMap<string, Taken>): string | null => {
  const own = taken.get(formatPciAddress(address))
  if (own) return `Nova passes it through: ${said(own.spec)}`
  const parent = physfn && taken.get(formatPciAddress(physfn))
  if (parent) return `Nova passes its physical function ${formatPciAddress(physfn)} through: ${said(parent.spec)}`
  const children = [...taken.values()].filter(
    ({ found }) => found.physfn && formatPciAddress(found.physfn) === formatPciAddress(address),
  )
  const [first] = children
  return first
    ? `Nova passes ${children.length} of its virtual functions through, such as ${formatPciAddress(first.found.address)}: ${said(first.spec)}`
    : null
}

export type Machine = {
  readonly io: HostIo
  readonly sysfsRoot: string
  readonly seen: readonly Pick<SeenFunction, 'found'>[]
  /** The addresses of the functions that are offered here. */
  readonly offered: ReadonlySet<string>
}

const divided = async (
  { io, sysfsRoot }: Machine,
  address: PciAddress,
  { mdevOf, mdevDefault }: NovaDevices,
): Promise<string | null> => {
  const named = mdevOf.get(formatPciAddress(address))
  if (named) return `Nova makes mediated devices ${named.type} of it: [mdev_${named.type}] (${named.at})`
  if (mdevDefault === null) return null
  const types = await mdevTypes(io, sysfsRoot, address)
  return types?.includes(mdevDefault.type)
    ? `Nova makes mediated devices ${mdevDefault.type} of it: [devices] enabled_mdev_types (${mdevDefault.at})`
    : null
}

export const compareWithNova = async (machine: Machine, nova: NovaDevices): Promise<Compared> => {
  const { io, sysfsRoot, seen } = machine
  const names = nova.specs.flatMap(({ entry }) => entry.devname ?? [])
  const interfaces = await findInterfaces(io, sysfsRoot, names)
  const taken = seen.flatMap(({ found }): readonly Taken[] => {
    const spec = nova.specs.find(({ entry }) => matchesEntry(entry, found, interfaces))
    return spec ? [{ found, spec }] : []
  })
  const byAddress = new Map(taken.map((one) => [formatPciAddress(one.found.address), one]))
  const offered = seen.filter(({ found }) => machine.offered.has(formatPciAddress(found.address)))
  const overlaps: Overlap[] = []
  for (const { found } of offered) {
    const how = passedThrough(found, byAddress) ?? (await divided(machine, found.address, nova))
    const ids = `${found.vendor}:${found.product}`
    if (how !== null) overlaps.push({ address: formatPciAddress(found.address), ids, how })
  }
  return { overlaps, offered: offered.length, taken: taken.length }
}
