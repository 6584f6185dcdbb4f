/** `pci_driver`: offers whitelisted PCI functions, read from sysfs and passed through to a guest as a whole. */
import type { HostName } from '../../identifiers.ts'
import type { Driver, HostIo, InUse } from '../driver.ts'
import type { ReportedDevice } from '../../hardware.ts'
import { attributesOf, deployableName, traitName } from '../names.ts'
import { type PciAddress, formatPciAddress, pciAddressOf, pciInfo, pciJson } from '../../pci.ts'
import { spacedJson } from '../../spacedJson.ts'
import { pciUser } from './inUse.ts'
import { type SeenFunction, seenFunctions } from './scan.ts'
import { isPresent, type PciFunction, readPciFunctions } from './sysfs.ts'
import type { WhitelistEntry } from './whitelist.ts'
import { whitelistHint } from './whitelistHint.ts'

export type PciDriverOptions = {
  /** Entries are alternatives. The first entry that matches a function determines how it is reported. */
  readonly whitelist: readonly WhitelistEntry[]
  /** Mount point of sysfs. Default: `/sys`. */
  readonly sysfsRoot?: string
  /**
   * Every bind first checks that the device is still present. An entry with `check` requests this for its own
   * functions.
   */
  readonly check?: boolean
}

const VENDOR_NAMES: Readonly<Record<string, string>> = {
  '10de': 'NVIDIA',
  '102b': 'MATROX',
  '8086': 'INTEL',
  '1bd4': 'INSPUR',
  '10ee': 'XILINX',
  '19e5': 'HUAWEI',
}

const traitsOf = ({ vendor, product }: PciFunction, more: readonly string[]): readonly string[] => {
  const name = VENDOR_NAMES[vendor]
  return [
    'OWNER_CYBORG',
    ...(name ? [traitName('CUSTOM_PCI', name)] : []),
    traitName('CUSTOM_PCI_PRODUCT_ID', product),
    // The product id alone is not unique across vendors.
    traitName('CUSTOM_PCI', vendor, product),
    ...more,
  ]
}

const reported = (hostname: HostName, found: PciFunction, entry: WhitelistEntry, check: boolean): ReportedDevice => ({
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
      driverName: VENDOR_NAMES[found.vendor] ?? found.vendor.toUpperCase(),
      attributes: attributesOf(entry.resourceClass ?? 'CUSTOM_PCI', traitsOf(found, entry.traits)),
      handles: [
        {
          type: 'PCI',
          info: pciInfo(found.address),
          ...(found.physfn ? { physfn: formatPciAddress(found.physfn) } : {}),
        },
      ],
      hostWork: check || entry.check,
      programmable: false,
    },
  ],
})

/**
 * The driver configured by `[pci] passthrough_whitelist`. Without entries it reports nothing and logs once how many
 * devices it found.
 */
export const pciDriver = ({ whitelist, sysfsRoot = '/sys', check = false }: PciDriverOptions): Driver => {
  let hinted = false
  let told = '[]'
  let offered: readonly PciAddress[] = []

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
    const functions = seen.flatMap(({ found, leftOut }) =>
      leftOut === null ? [] : [{ address: formatPciAddress(found.address), reason: leftOut }],
    )
    const text = JSON.stringify(functions)
    if (text !== told && functions.length > 0) io.warn('pci_functions_left_out', { functions })
    told = text
  }

  return {
    name: 'pci_driver',
    discover: async (io) => {
      if (whitelist.length === 0) {
        await hint(io)
        return []
      }
      const seen = await seenFunctions(io, sysfsRoot, whitelist)
      tellLeftOut(io, seen)
      offered = seen.flatMap(({ found, entry, leftOut }) => (entry && leftOut === null ? [found.address] : []))
      return seen.flatMap(({ found, entry, leftOut }) =>
        entry && leftOut === null ? [reported(io.hostname, found, entry, check)] : [],
      )
    },
    prepare: async (io, slot, signal) => {
      signal.throwIfAborted()
      const address = pciAddressOf(slot.info)
      if (slot.type !== 'PCI' || address === null) throw new Error(`slot ${slot.uuid}: info must be a PCI address`)
      if (!(await isPresent(io, sysfsRoot, address)))
        throw new Error(`slot ${slot.uuid}: no PCI device ${formatPciAddress(address)} on ${io.hostname}`)
    },
    // A bind changes nothing on the host, so there is nothing to undo.
    release: async () => {},
    inUse: async (io) => {
      const used: InUse[] = []
      for (const address of offered) {
        const by = await pciUser(io, sysfsRoot, address)
        if (by !== null) used.push({ type: 'PCI', info: pciInfo(address), by })
      }
      return used
    },
  }
}
