/** The drivers by entry-point name, as `enabled_drivers` lists them. */
import { cardDriver, type CardOptions } from './cards/cardDriver.ts'
import { CARD_KINDS, type CardDriverName } from './cards/cardKinds.ts'
import { type KnownCard, lookupIn } from './cards/knownCards.ts'
import { mappedTo, type MappingReading, readMapping } from './cards/nicMappings.ts'
import { nicKind, qatKind, sriovDriver } from './cards/sriovDriver.ts'
import type { Driver } from './driver.ts'
import { intelFpgaDriver, whyProgramming } from './fpga/intelFpga.ts'
import { whyKept } from './fpga/alveoCards.ts'
import { xilinxFpgaDriver } from './fpga/xilinxFpga.ts'
import { withoutMigCards } from './nvidia/mig.ts'
import { nvidiaDriver } from './nvidia/nvidiaDriver.ts'
import { readVgpuOptions, type VgpuOptions } from './nvidia/vgpuOptions.ts'
import { type FakeOptions, fakeDriver } from './simulated/fake.ts'
import { MEASURING, type MeasuringPrograms } from './programs.ts'
import { withoutFallenOff } from './pci/fallenOff.ts'
import { withCards } from './pci/cards.ts'
import { type Kept, pciDriver } from './pci/pciDriver.ts'
import { type SimulatedPlan, simulatedDriver } from './simulated/simulated.ts'
import { type VirtualFunctions, withVirtualFunctions } from './pci/virtualFunctions.ts'
import { type Problem, readWhitelist } from './pci/whitelist.ts'
import { type SpdkOptions, spdkDriver } from './spdk.ts'
import { ownValue } from '../vocabulary/record.ts'

export type DriverOptions = {
  /** `whitelist` as given in the configuration: JSON text, decoded JSON, or a list of texts. */
  readonly pci?: {
    readonly whitelist?: unknown
    readonly sysfsRoot?: string
    readonly virtualFunctions?: VirtualFunctions
  }
  /** The operator's rows of the table of known cards. */
  readonly cards?: readonly KnownCard[]
  readonly gpu?: VgpuOptions
  /** Items of the form `name:interface|interface`. */
  readonly nic?: { readonly networks: readonly string[]; readonly functions: readonly string[] }
  readonly fpga?: { readonly fpgaconf: string; readonly xrtFolder: string; readonly withManagement?: boolean }
  readonly measuring?: MeasuringPrograms
  readonly spdk?: SpdkOptions
  readonly fake?: FakeOptions
  /** Needed by `simulated_driver`. */
  readonly simulated?: SimulatedPlan
}
export type DriverReading =
  | { readonly ok: true; readonly driver: Driver }
  | { readonly ok: false; readonly problems: readonly Problem[] }

type Maker = (options: DriverOptions) => DriverReading

const made = (field: string, make: () => Driver): DriverReading => {
  try {
    return { ok: true, driver: make() }
  } catch (error) {
    if (error instanceof RangeError) return { ok: false, problems: [{ field, rule: error.message }] }
    throw error
  }
}
const driver = (one: Driver): DriverReading => ({ ok: true, driver: one })
const cardOptions = ({
  pci: { sysfsRoot = '/sys' } = {},
  cards,
  measuring = MEASURING,
}: DriverOptions): CardOptions => ({ sysfsRoot, known: lookupIn(cards), measuring })

const NETWORKS = 'nic_devices.physical_device_mappings'
const problemsOf = (reading: MappingReading): readonly Problem[] => (reading.ok ? [] : reading.problems)
/** Why a function stays with the host, whichever driver is told to offer it, in words; null: it does not. */
export const keptBy = ({ cards, fpga }: DriverOptions): Kept => {
  const options = { known: lookupIn(cards), withManagement: fpga?.withManagement ?? false }
  return (found, all, mode) => whyKept(found, all, options) ?? (mode === 'pf' ? null : whyProgramming(found, all))
}
const pci: Maker = (options) => {
  const { pci: given = {}, nic: mappings } = options
  const { whitelist: text, virtualFunctions: _, ...rest } = given
  const reading = readWhitelist(text)
  const networks = readMapping(mappings?.networks ?? [], NETWORKS)
  if (!reading.ok || !networks.ok)
    return { ok: false, problems: [...problemsOf(networks), ...(reading.ok ? [] : reading.problems)] }
  const { mapping } = networks
  const mapped =
    mapping.size === 0 ? {} : { networkOf: (interfaces: readonly string[]) => mappedTo(mapping, interfaces) }
  return driver(pciDriver({ whitelist: reading.entries, ...mapped, ...rest, kept: keptBy(options) }))
}
const fake: Maker = ({ fake: given }) => made('fake', () => fakeDriver(given))
const simulated: Maker = ({ simulated: plan }) =>
  plan
    ? made('simulated', () => simulatedDriver(plan))
    : { ok: false, problems: [{ field: 'simulated', rule: 'simulated_driver needs a plan of devices' }] }
const nvidia: Maker = (options) => {
  const { gpu = { types: [], addresses: {} } } = options
  const reading = readVgpuOptions(gpu)
  return reading.ok
    ? driver(nvidiaDriver({ ...cardOptions(options), typeAt: reading.typeAt, most: reading.most }))
    : reading
}
const nic: Maker = (options) => {
  const { networks: physical, functions: named } = options.nic ?? { networks: [], functions: [] }
  const networks = readMapping(physical, NETWORKS)
  const functions = readMapping(named, 'nic_devices.function_device_mappings')
  if (!networks.ok || !functions.ok) return { ok: false, problems: [...problemsOf(networks), ...problemsOf(functions)] }
  const kind = nicKind({ networks: networks.mapping, functions: functions.mapping })
  return driver(sriovDriver(kind, cardOptions(options)))
}

const ofCards = Object.fromEntries(
  CARD_KINDS.map((kind): [CardDriverName, Maker] => [
    kind.driver,
    (options) => driver(cardDriver(kind, cardOptions(options))),
  ]),
) as Readonly<Record<CardDriverName, Maker>>

const MAKERS = {
  pci_driver: pci,
  nvidia_gpu_driver: nvidia,
  intel_fpga_driver: (options) => driver(intelFpgaDriver({ ...cardOptions(options), ...options.fpga })),
  xilinx_fpga_driver: (options) => driver(xilinxFpgaDriver({ ...cardOptions(options), ...options.fpga })),
  intel_nic_driver: nic,
  intel_qat_driver: (options) => driver(sriovDriver(qatKind, cardOptions(options))),
  ...ofCards,
  nvmf_spdk_driver: ({ spdk }) => driver(spdkDriver(spdk)),
  fake_driver: fake,
  simulated_driver: simulated,
} satisfies Readonly<Record<string, Maker>>

/** Those that may offer NVIDIA GPUs. */
const MAY_OFFER_NVIDIA = ['nvidia_gpu_driver', 'pci_driver', 'id_table_driver']
const withoutMig = (one: Driver, { measuring = MEASURING }: DriverOptions): Driver =>
  MAY_OFFER_NVIDIA.includes(one.name) ? withoutMigCards(one, measuring.nvidiaSmi) : one

/** Supported entry-point names. */
export type DriverName = keyof typeof MAKERS
export const DRIVER_NAMES = Object.keys(MAKERS) as readonly DriverName[]
/** Those that look at hardware. */
export const HARDWARE_DRIVERS: readonly string[] = DRIVER_NAMES.filter(
  (name) => !['fake_driver', 'simulated_driver'].includes(name),
)

/** The driver with that entry-point name, or all problems that prevent its creation. */
export const driverByName = (name: string, options: DriverOptions = {}): DriverReading => {
  const make = ownValue<Maker>(MAKERS, name)
  if (make) {
    const reading = make(options)
    const { sysfsRoot = '/sys', virtualFunctions = {} } = options.pci ?? {}
    return reading.ok && HARDWARE_DRIVERS.includes(name)
      ? driver(
          withCards(
            withVirtualFunctions(
              withoutFallenOff(withoutMig(reading.driver, options), sysfsRoot),
              sysfsRoot,
              virtualFunctions,
            ),
            sysfsRoot,
          ),
        )
      : reading
  }
  const rule = `unknown driver '${name}'; this release has ${DRIVER_NAMES.join(', ')}`
  return { ok: false, problems: [{ field: 'enabled_drivers', rule }] }
}
