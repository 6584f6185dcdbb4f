/**
 * How cards that consist of one PCI function are offered, by driver (drivers.md 2, 3 and 7.2). Pure: rules, no access
 * to the host.
 */
import type { DeviceType } from '../../vocabulary/hardware.ts'
import { spacedJson } from '../../vocabulary/spacedJson.ts'
import { traitName } from '../names.ts'
import type { MeasuringPrograms } from '../programs.ts'
import { nvidiaSmi } from '../measuring/nvidiaSmi.ts'
import { npuSmi } from '../measuring/npuSmi.ts'
import type { Tool } from '../pci/measured.ts'
import type { PciFunction } from '../pci/sysfs.ts'
import { VENDOR_NAMES } from '../../vocabulary/vendors.ts'
import { type KnownCard, TABLE_DRIVER } from './knownCards.ts'

/** What is reported of a card besides its name, its model and its attach handle. */
export type Offer = {
  readonly type: DeviceType
  readonly driverName: string
  readonly resourceClass: string
  readonly traits: readonly string[]
  readonly stdBoardInfo: string | null
  readonly vendorBoardInfo: string | null
}
export type CardKind = {
  /** The entry-point name. */
  readonly driver: string
  /** For people: which hardware it offers. */
  readonly hardware: string
  /** Null: the function is none of this driver. `known`: its row of the table, whatever driver that names. */
  readonly offer: (found: PciFunction, known: KnownCard | null) => Offer | null
  /** What the tool of its vendor measures. */
  readonly tool?: (programs: MeasuringPrograms) => Tool
}

/** `lspci` calls these classes so; the names are part of what drivers have always reported. */
const CONTROLLERS: Readonly<Record<string, string>> = {
  '0108': 'Non-Volatile memory controller',
  '0200': 'Ethernet controller',
  '0300': 'VGA compatible controller',
  '0302': '3D controller',
  '0380': 'Display controller',
  '0b40': 'Co-processor',
  '1200': 'Processing accelerators',
}
const classOf = (found: PciFunction): string => found.class.slice(0, 4)
const controllerOf = (found: PciFunction): string | null => CONTROLLERS[classOf(found)] ?? null

const RESOURCE_CLASSES: Readonly<Record<DeviceType, string>> = {
  GPU: 'PGPU',
  FPGA: 'FPGA',
  AICHIP: 'CUSTOM_AICHIP',
  QAT: 'CUSTOM_QAT',
  NIC: 'CUSTOM_NIC',
  SSD: 'CUSTOM_SSD',
}
export const resourceClassOf = (type: DeviceType, known: KnownCard | null): string =>
  known?.resourceClass ?? RESOURCE_CLASSES[type]

const board = (found: PciFunction): string => spacedJson({ product_id: found.product, controller: controllerOf(found) })
const vendorInfo = (text: string): string => spacedJson({ vendor_info: text })
const vendorName = ({ vendor }: PciFunction): string | null => VENDOR_NAMES[vendor] ?? null

/** Family traits (drivers.md 7.2), for cards that the table knows. */
const familyTraits = (type: DeviceType, found: PciFunction, known: KnownCard | null): readonly string[] =>
  known?.family ? [traitName('CUSTOM', type, vendorName(found) ?? found.vendor, known.family)] : []
/** The traits of the rules for added drivers (drivers.md 7.2), without the family. */
export const plainTraits = (type: DeviceType, found: PciFunction): readonly string[] => [
  'OWNER_CYBORG',
  traitName('CUSTOM', type, vendorName(found) ?? found.vendor),
  traitName('CUSTOM', type, 'PRODUCT_ID', found.product),
]

export const NVIDIA_KIND: CardKind = {
  driver: 'nvidia_gpu_driver',
  hardware: 'NVIDIA GPUs',
  tool: ({ nvidiaSmi: program }) => nvidiaSmi(program),
  offer: (found, known) =>
    found.vendor === '10de' && ['0300', '0302'].includes(classOf(found))
      ? {
          type: 'GPU',
          driverName: 'NVIDIA',
          resourceClass: resourceClassOf('GPU', known),
          // the form of the product trait is the one that profiles for these cards have always used
          traits: [
            'OWNER_CYBORG',
            traitName('CUSTOM_NVIDIA', found.product),
            ...familyTraits('GPU', found, known),
            ...(known?.traits ?? []),
          ],
          stdBoardInfo: board(found),
          vendorBoardInfo: vendorInfo('gpu_vb_info'),
        }
      : null,
}

const inspurFpga = {
  driver: 'inspur_fpga_driver',
  hardware: 'Inspur FPGA cards; they cannot be programmed',
  offer: (found, known) =>
    found.vendor === '1bd4' && classOf(found) === '1200'
      ? {
          type: 'FPGA',
          driverName: 'INSPUR',
          resourceClass: resourceClassOf('FPGA', known),
          traits: ['CUSTOM_FPGA_INSPUR', traitName('CUSTOM_FPGA_PRODUCT_ID', found.product), ...(known?.traits ?? [])],
          stdBoardInfo: board(found),
          vendorBoardInfo: vendorInfo('fpga_vb_info'),
        }
      : null,
} as const satisfies CardKind

const NVME = '0108'
const ssd = (found: PciFunction, known: KnownCard | null): Offer => {
  const name = vendorName(found)
  return {
    type: 'SSD',
    driverName: name ?? found.vendor.toUpperCase(),
    resourceClass: resourceClassOf('SSD', known),
    traits: [
      ...(name === null ? [] : [traitName('CUSTOM_SSD', name)]),
      traitName('CUSTOM_SSD_PRODUCT_ID', found.product),
      ...(known?.traits ?? []),
    ],
    stdBoardInfo: board(found),
    vendorBoardInfo: vendorInfo('ssd_vb_info'),
  }
}
const inspurSsd = {
  driver: 'inspur_nvme_ssd_driver',
  hardware: 'Inspur NVMe drives that the host does not use itself',
  offer: (found, known) => (found.vendor === '1bd4' && classOf(found) === NVME ? ssd(found, known) : null),
} as const satisfies CardKind
const anySsd = {
  driver: 'nvme_ssd_driver',
  hardware: 'NVMe drives of all vendors that the host does not use itself',
  offer: (found, known) => (classOf(found) === NVME ? ssd(found, known) : null),
} as const satisfies CardKind

const ascend = {
  driver: 'huawei_ascend_driver',
  hardware: 'Huawei Ascend NPUs: 310, 310P, 910, 910B and 910C, others by rows of `cards.id_table`',
  tool: ({ npuSmi: program }) => npuSmi(program),
  offer: (found, known) =>
    known?.driver === 'huawei_ascend_driver'
      ? {
          type: known.type,
          driverName: 'huawei',
          resourceClass: resourceClassOf(known.type, known),
          traits: [...plainTraits(known.type, found), ...familyTraits(known.type, found, known), ...known.traits],
          stdBoardInfo: spacedJson({ device_id: found.product, class: controllerOf(found) }),
          vendorBoardInfo: null,
        }
      : null,
} as const satisfies CardKind

const table = {
  driver: TABLE_DRIVER,
  hardware: 'Cards of the table of known ids that have no driver of their own, and those of `cards.id_table`',
  offer: (found, known) =>
    known?.driver === TABLE_DRIVER && found.class.startsWith(known.pciClass)
      ? {
          type: known.type,
          driverName: vendorName(found) ?? found.vendor.toUpperCase(),
          resourceClass: resourceClassOf(known.type, known),
          traits: [...plainTraits(known.type, found), ...familyTraits(known.type, found, known), ...known.traits],
          stdBoardInfo: board(found),
          vendorBoardInfo: null,
        }
      : null,
} as const satisfies CardKind

const kinds = [inspurFpga, inspurSsd, anySsd, ascend, table] as const
export type CardDriverName = (typeof kinds)[number]['driver']
/** All but NVIDIA's cards, which may also be divided. */
export const CARD_KINDS: readonly (CardKind & { readonly driver: CardDriverName })[] = kinds
