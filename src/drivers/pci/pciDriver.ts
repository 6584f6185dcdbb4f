/** `pci_driver`: offers whitelisted PCI functions, read from sysfs and passed through to a guest as a whole. */
import type { HostName } from '../../vocabulary/identifiers.ts'
import type { Driver, HostIo, LeftOut } from '../driver.ts'
import type { ReportedDevice } from '../../vocabulary/hardware.ts'
import { measuresPci } from './measured.ts'
import { isNetworkCard } from './ownNetwork.ts'
import { attributesOf, deployableName, traitName } from '../names.ts'
import { formatPciAddress, pciJson } from '../../vocabulary/pci.ts'
import { VENDOR_NAMES } from '../../vocabulary/vendors.ts'
import { spacedJson } from '../../vocabulary/spacedJson.ts'
import { interfacesOf } from './nicInterfaces.ts'
import { type PassThrough, passedHandle, passThrough, withNetwork } from './passThrough.ts'
import { type SeenFunction, seenFunctions } from './scan.ts'
import { type PciFunction, readPciFunctions } from './sysfs.ts'
import type { WhitelistEntry } from './whitelist.ts'
import { whitelistHint } from './whitelistHint.ts'

export type PciDriverOptions = {
  /** Entries are alternatives. The first entry that matches a function determines how it is reported. */
  readonly whitelist: readonly WhitelistEntry[]
  /** Mount point of sysfs. Default: `/sys`. */
  readonly sysfsRoot?: string
  /**
   * The network that `nic_devices.physical_device_mappings` names for a card with these interfaces, where its entry
   * names none. Absent: no mapping is set.
   */
  readonly networkOf?: (interfaces: readonly string[]) => string | null
  /** Why a function stays with the host although an entry of this mode takes it, in words; null: it does not. */
  readonly kept?: Kept
}
export type Kept = (found: PciFunction, all: readonly PciFunction[], mode: WhitelistEntry['mode']) => string | null

const INTERFACES_FILE = 'pci_nic_interfaces.json'
/** Only these vendors have a name in what this driver reports, whatever names other drivers know. */
const NAMED = ['10de', '102b', '8086', '1bd4', '10ee', '19e5']
const nameOf = (vendor: string): string | undefined => (NAMED.includes(vendor) ? VENDOR_NAMES[vendor] : undefined)

const traitsOf = ({ vendor, product }: PciFunction, more: readonly string[]): readonly string[] => {
  const name = nameOf(vendor)
  return [
    'OWNER_CYBORG',
    ...(name ? [traitName('CUSTOM_PCI', name)] : []),
    traitName('CUSTOM_PCI_PRODUCT_ID', product),
    // The product id alone is not unique across vendors.
    traitName('CUSTOM_PCI', vendor, product),
    ...more,
  ]
}

type Offered = { readonly found: PciFunction; readonly entry: WhitelistEntry; readonly network: string | null }
const reported = (hostname: HostName, { found, entry, network }: Offered): ReportedDevice => ({
  // The database has no generic type; clients have always seen GPU here.
  type: entry.deviceType ?? 'GPU',
  vendor: found.vendor,
  model: found.product,
  stdBoardInfo: spacedJson({ product_id: found.product, controller: null }),
  vendorBoardInfo: 'miss_vb_info',
  controlPath: { type: 'PCI', info: pciJson(found.address) },
  deployables: [
    {
      name: deployableName(hostname, formatPciAddress(found.address)),
      numAccelerators: 1,
      driverName: nameOf(found.vendor) ?? found.vendor.toUpperCase(),
      attributes: attributesOf(
        entry.resourceClass ?? 'CUSTOM_PCI',
        traitsOf(found, [...entry.traits, ...(network === null ? [] : [traitName('CUSTOM', network)])]),
      ),
      handles: [passedHandle(found)].map((handle) => ({ ...handle, info: withNetwork(handle.info, network) })),
      // whether it may be given away is looked at once more before a guest gets it
      hostWork: true,
      programmable: false,
    },
  ],
})

const functionsLeftOut = (seen: readonly SeenFunction[]): readonly LeftOut[] =>
  seen.flatMap(({ found, leftOut }) =>
    leftOut === null ? [] : [{ address: formatPciAddress(found.address), reason: leftOut }],
  )

/** What entries take, without what no guest may have. */
const judged = async (
  seen: readonly SeenFunction[],
  io: HostIo,
  through: PassThrough,
  kept: Kept,
): Promise<readonly SeenFunction[]> => {
  const all = seen.map(({ found }) => found)
  const whyNot = await through.whyNot(io, all)
  return Promise.all(
    seen.map(async (one) =>
      one.entry === null || one.leftOut !== null
        ? one
        : {
            ...one,
            leftOut: await whyNot(one.found, { mode: one.entry.mode, kept: kept(one.found, all, one.entry.mode) }),
          },
    ),
  )
}

/** A virtual function is in the network of its physical one, which has an interface while a guest has the other. */
const networksOf = async (
  io: HostIo,
  sysfsRoot: string,
  mapped: PciDriverOptions['networkOf'],
  offered: readonly Pick<Offered, 'found' | 'entry'>[],
): Promise<(one: Pick<Offered, 'found' | 'entry'>) => string | null> => {
  if (mapped === undefined) return ({ entry }) => entry.physicalNetwork
  const cards = offered.filter(({ found }) => isNetworkCard(found))
  const functions = new Map(
    cards.map(({ found }) => [formatPciAddress(found.physfn ?? found.address), found.physfn ?? found.address]),
  )
  const interfaces = await interfacesOf(io, sysfsRoot, [...functions.values()], INTERFACES_FILE)
  return ({ found, entry }) =>
    entry.physicalNetwork ?? mapped(interfaces.get(formatPciAddress(found.physfn ?? found.address)) ?? [])
}

/**
 * The driver configured by `[pci] passthrough_whitelist`. Without entries it reports nothing and logs once how many
 * devices it found.
 */
export const pciDriver = ({
  whitelist,
  sysfsRoot = '/sys',
  networkOf,
  kept = () => null,
}: PciDriverOptions): Driver => {
  let hinted = false
  let warnedOf = '[]'
  const through = passThrough(sysfsRoot, async (io, found, all) => {
    const address = formatPciAddress(found.address)
    const own = (await seenFunctions(io, sysfsRoot, whitelist)).find(
      (one) => formatPciAddress(one.found.address) === address,
    )
    const mode = own?.entry?.mode ?? null
    return { mode, kept: kept(found, all, mode) }
  })
  const seenNow = async (io: HostIo) => judged(await seenFunctions(io, sysfsRoot, whitelist), io, through, kept)

  const hint = async (io: HostIo) => {
    if (hinted) return
    hinted = true
    try {
      const seen = await readPciFunctions(io, sysfsRoot)
      io.warn('pci_whitelist_empty', { hint: whitelistHint(seen.length) })
    } catch (error) {
      // Nothing is to be reported without entries, so a host without a PCI bus is not an error.
      io.warn('pci_whitelist_empty', { hint: `No PCI device is whitelisted, and none can be seen: ${String(error)}` })
    }
  }

  /** Logged once, and again when it changes. */
  const tellLeftOut = (io: HostIo, seen: readonly SeenFunction[]) => {
    const functions = functionsLeftOut(seen)
    const text = JSON.stringify(functions)
    if (text !== warnedOf && functions.length > 0) io.warn('pci_functions_left_out', { functions })
    warnedOf = text
  }

  return {
    name: 'pci_driver',
    discover: async (io) => {
      if (whitelist.length === 0) {
        await hint(io)
        return []
      }
      const seen = await seenNow(io)
      tellLeftOut(io, seen)
      through.offer(seen.flatMap(({ found, entry, leftOut }) => (entry && leftOut === null ? [found.address] : [])))
      const offered = seen.flatMap(({ found, entry, leftOut }) => (entry && leftOut === null ? [{ found, entry }] : []))
      const networkAt = await networksOf(io, sysfsRoot, networkOf, offered)
      return offered.map((one) => reported(io.hostname, { ...one, network: networkAt(one) }))
    },
    leftOut: async (io) => (whitelist.length === 0 ? [] : functionsLeftOut(await seenNow(io))),
    prepare: through.prepare,
    release: through.release,
    inUse: through.inUse,
    measure: measuresPci(sysfsRoot),
  }
}
