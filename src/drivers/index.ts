/** The drivers by entry-point name, as `enabled_drivers` lists them. */
import type { Driver } from './driver.ts'
import { type FakeOptions, fakeDriver } from './simulated/fake.ts'
import { pciDriver } from './pci/pciDriver.ts'
import { type SimulatedPlan, simulatedDriver } from './simulated/simulated.ts'
import { type Problem, readWhitelist } from './pci/whitelist.ts'

export type DriverOptions = {
  /** `whitelist` as given in the configuration: JSON text, decoded JSON, or a list of texts. */
  readonly pci?: { readonly whitelist?: unknown; readonly sysfsRoot?: string; readonly check?: boolean }
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

const pci: Maker = ({ pci: given = {} }) => {
  const { whitelist: text, ...rest } = given
  const reading = readWhitelist(text)
  return reading.ok ? { ok: true, driver: pciDriver({ whitelist: reading.entries, ...rest }) } : reading
}
const fake: Maker = ({ fake: given }) => made('fake', () => fakeDriver(given))
const simulated: Maker = ({ simulated: plan }) =>
  plan
    ? made('simulated', () => simulatedDriver(plan))
    : { ok: false, problems: [{ field: 'simulated', rule: 'simulated_driver needs a plan of devices' }] }

const MAKERS: Readonly<Record<string, Maker>> = { pci_driver: pci, fake_driver: fake, simulated_driver: simulated }

/** Supported entry-point names. */
export const DRIVER_NAMES: readonly string[] = Object.keys(MAKERS)

/** Entry-point names that existing configurations may contain but this release does not support. */
export const LATER_DRIVER_NAMES: readonly string[] = [
  'intel_fpga_driver',
  'inspur_fpga_driver',
  'xilinx_fpga_driver',
  'nvmf_spdk_driver',
  'nvidia_gpu_driver',
  'huawei_ascend_driver',
  'intel_qat_driver',
  'intel_nic_driver',
  'inspur_nvme_ssd_driver',
]

/** The driver with that entry-point name, or all problems that prevent its creation. */
export const driverByName = (name: string, options: DriverOptions = {}): DriverReading => {
  const make = Object.hasOwn(MAKERS, name) ? MAKERS[name] : undefined
  if (make) return make(options)
  const known = `this release has ${DRIVER_NAMES.join(', ')}`
  const rule = LATER_DRIVER_NAMES.includes(name)
    ? `${name} comes in a later release; ${known}`
    : `unknown driver '${name}'; ${known}`
  return { ok: false, problems: [{ field: 'enabled_drivers', rule }] }
}
