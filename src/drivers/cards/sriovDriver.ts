/**
 * Drivers of network cards and of Intel's QAT devices (drivers.md 3.5 and 3.6): a device is a physical function; its
 * deployables are its virtual functions, or the function itself where it has none.
 *
 * SRIOV-1 network cards of other vendors, and those that the table has only known since or does not know, are offered
 *    only where a mapping names an interface of them: a host may use them for itself, or give their functions away by
 *    other means;
 * SRIOV-2 of a card that the table gives to `id_table_driver`, which offers it whole, virtual functions are offered.
 */
import type { DeviceType, ReportedDeployable, ReportedDevice } from '../../vocabulary/hardware.ts'
import type { HostName } from '../../vocabulary/identifiers.ts'
import { comparePci, formatPciAddress, pciJson } from '../../vocabulary/pci.ts'
import { spacedJson } from '../../vocabulary/spacedJson.ts'
import type { Driver, HostIo, LeftOut } from '../driver.ts'
import { measuresPci } from '../pci/measured.ts'
import { attributesOf, deployableName, traitName } from '../names.ts'
import { passedHandle, passThrough, withNetwork } from '../pci/passThrough.ts'
import { type PciFunction, readPciFunctions } from '../pci/sysfs.ts'
import { resourceClassOf } from './cardKinds.ts'
import { VENDOR_NAMES } from '../../vocabulary/vendors.ts'
import { type KnownCard, type Lookup, TABLE_DRIVER } from './knownCards.ts'
import { interfacesOf } from '../pci/nicInterfaces.ts'
import { type Mappings, mappedTo } from './nicMappings.ts'

export type SriovOptions = {
  readonly sysfsRoot: string
  readonly known: Lookup
}
export type SriovKind = {
  readonly driver: string
  readonly type: DeviceType
  /** Traits besides those that the kind of function and the row of the table give. */
  readonly traits: (pf: PciFunction, known: KnownCard) => readonly string[]
  /** Network interfaces are looked up and mapped. Null: no. */
  readonly mappings: Mappings | null
}

const NETWORK = '02'

type Card = { readonly pf: PciFunction; readonly known: KnownCard; readonly functions: readonly PciFunction[] }
type Mapped = { readonly function: string | null; readonly network: string | null }
type Offer = { readonly cards: readonly (Card & { readonly names: Mapped })[]; readonly leftOut: readonly LeftOut[] }

const isDividedNic = (kind: SriovKind, { type, driver }: KnownCard): boolean =>
  kind.type === 'NIC' && type === 'NIC' && driver === TABLE_DRIVER
/** SRIOV-1 */
const unknownNic = (kind: SriovKind, { vendor, product, class: pciClass }: PciFunction): KnownCard | null =>
  kind.type === 'NIC' && pciClass.startsWith(NETWORK)
    ? {
        ...{ vendor, product, lastProduct: product, type: 'NIC', family: null, name: '', vfOf: null },
        ...{ driver: kind.driver, resourceClass: null, traits: [], pciClass: NETWORK, onlyNamed: true },
      }
    : null
/** The cards of the driver, with the functions that are offered of each: its virtual functions, or itself. */
const cardsIn = (functions: readonly PciFunction[], kind: SriovKind, known: Lookup): readonly Card[] =>
  functions.flatMap((pf) => {
    const row = known(pf) ?? unknownNic(kind, pf)
    if (row === null || pf.physfn !== null || row.vfOf !== null || !pf.class.startsWith(row.pciClass)) return []
    const own = formatPciAddress(pf.address)
    const vfs = functions
      .filter(({ physfn }) => physfn !== null && formatPciAddress(physfn) === own)
      .toSorted((one, other) => comparePci(one.address, other.address))
    if (row.driver !== kind.driver && !(vfs.length > 0 && isDividedNic(kind, row))) return []
    return [{ pf, known: row, functions: vfs.length > 0 ? vfs : [pf] }]
  })
/** SRIOV-1 */
const mustBeNamed = (kind: SriovKind, row: KnownCard): boolean => row.onlyNamed === true || row.driver !== kind.driver

const UNMAPPED: Mapped = { function: null, network: null }

const deployableOf = (
  hostname: HostName,
  found: PciFunction,
  { pf, known }: Card,
  mapped: Mapped,
  kind: SriovKind,
): ReportedDeployable => {
  const handle = passedHandle(found)
  const { network } = mapped
  const info = withNetwork(handle.info, network)
  const traits = [
    ...kind.traits(pf, known),
    found.physfn === null ? 'CUSTOM_PF' : 'CUSTOM_VF',
    ...[mapped.function, network].flatMap((name) => (name === null ? [] : [traitName('CUSTOM', name)])),
    ...known.traits,
  ]
  return {
    name: deployableName(hostname, formatPciAddress(found.address)),
    numAccelerators: 1,
    driverName: (VENDOR_NAMES[pf.vendor] ?? pf.vendor).toLowerCase(),
    attributes: attributesOf(resourceClassOf(kind.type, known), traits),
    handles: [{ ...handle, info }],
    // whether it may be given away is looked at once more before a guest gets it
    hostWork: true,
    programmable: false,
  }
}

const deviceOf = (card: Card, type: DeviceType, deployables: readonly ReportedDeployable[]): ReportedDevice => ({
  type,
  vendor: `0x${card.pf.vendor}`,
  model: 'miss_model_info',
  stdBoardInfo: spacedJson({ product_id: `0x${card.pf.product}` }),
  vendorBoardInfo: 'miss_vb_info',
  controlPath: { type: 'PCI', info: pciJson(card.pf.address) },
  deployables,
})

const notOffered = ({ address }: PciFunction, reason: string): LeftOut => ({
  address: formatPciAddress(address),
  reason,
})

/** A virtual function is mapped as its physical one, which has an interface while a guest has the other. */
const mappedBy = async (
  io: HostIo,
  sysfsRoot: string,
  mappings: Mappings | null,
  cards: readonly Card[],
): Promise<(pf: PciFunction) => Mapped> => {
  if (mappings === null || (mappings.networks.size === 0 && mappings.functions.size === 0)) return () => UNMAPPED
  const addresses = cards.map(({ pf }) => pf.address)
  const found = await interfacesOf(io, sysfsRoot, addresses)
  return ({ address }) => {
    const interfaces = found.get(formatPciAddress(address))!
    return { function: mappedTo(mappings.functions, interfaces), network: mappedTo(mappings.networks, interfaces) }
  }
}

export const sriovDriver = (kind: SriovKind, { sysfsRoot, known }: SriovOptions): Driver => {
  const through = passThrough(sysfsRoot)
  const offerOf = async (io: HostIo): Promise<Offer> => {
    const functionsHere = await readPciFunctions(io, sysfsRoot)
    const whyNot = await through.whyNot(io, functionsHere)
    const cards: Offer['cards'][number][] = []
    const leftOut: LeftOut[] = []
    const all = cardsIn(functionsHere, kind, known)
    const mappedOf = await mappedBy(io, sysfsRoot, kind.mappings, all)
    for (const card of all) {
      const names = mappedOf(card.pf)
      if (mustBeNamed(kind, card.known) && names.function === null && names.network === null) {
        if (known(card.pf) !== null)
          leftOut.push(notOffered(card.pf, 'no mapping of nic_devices names an interface of it'))
        continue
      }
      if (!card.functions.includes(card.pf))
        leftOut.push(notOffered(card.pf, 'its virtual functions are offered instead'))
      const functions: PciFunction[] = []
      for (const found of card.functions) {
        const reason = await whyNot(found)
        if (reason === null) functions.push(found)
        else leftOut.push(notOffered(found, reason))
      }
      if (functions.length > 0) cards.push({ ...card, functions, names })
    }
    return { cards, leftOut }
  }
  return {
    name: kind.driver,
    discover: async (io) => {
      const { cards } = await offerOf(io)
      through.offer(cards.flatMap(({ functions }) => functions.map(({ address }) => address)))
      return cards.map((card) => {
        const deployables = card.functions.map((found) => deployableOf(io.hostname, found, card, card.names, kind))
        return deviceOf(card, kind.type, deployables)
      })
    },
    leftOut: async (io) => (await offerOf(io)).leftOut,
    prepare: through.prepare,
    release: through.release,
    inUse: through.inUse,
    measure: measuresPci(sysfsRoot),
  }
}

/** `intel_nic_driver`. */
export const nicKind = (mappings: Mappings): SriovKind => ({
  driver: 'intel_nic_driver',
  type: 'NIC',
  traits: () => [],
  mappings,
})
/** `intel_qat_driver`. Upstream reports no trait at all. */
export const qatKind: SriovKind = {
  driver: 'intel_qat_driver',
  type: 'QAT',
  traits: ({ product }, { family }) => [
    'OWNER_CYBORG',
    'CUSTOM_QAT_INTEL',
    traitName('CUSTOM_QAT_PRODUCT_ID', product),
    ...(family === null ? [] : [traitName('CUSTOM_QAT_INTEL', family)]),
  ],
  mappings: null,
}
