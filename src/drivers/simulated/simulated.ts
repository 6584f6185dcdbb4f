/** `simulated_driver`: any number of realistic devices, generated from a seed, with injected faults. */
import type { HostName } from '../../vocabulary/identifiers.ts'
import type { Clock } from '../../vocabulary/clock.ts'
import type { ReportedDevice } from '../../vocabulary/hardware.ts'
import { attributesOf, deployableName, traitName } from '../names.ts'
import { formatPciAddress, hexText, pciInfo, pciJson, type PciAddress } from '../../vocabulary/pci.ts'
import { type SimulatedDriver, createSimulatedDriver } from './simulatedDriver.ts'
import { FACTS, type Kind, type KindFacts, KINDS, type Model } from './models.ts'
import { spacedJson } from '../../vocabulary/spacedJson.ts'
import type { InjectedFaults } from './injectedFaults.ts'

export type SimulatedDevice = {
  readonly kind: Kind
  /** Number of units: 1 is the card itself, more are its virtual functions. */
  readonly handles: number
  /** How many functions a unit consists of, which are given together. Default: 1. Two are those of an Alveo card. */
  readonly functions?: number
  /** Overrides the default of its kind: fpga and nic need work on the host at bind, the others do not. */
  readonly hostWork?: boolean
}
export type SimulatedPlan = {
  /** The same seed and plan always produce the same devices. */
  readonly seed: number | string
  readonly devices: readonly SimulatedDevice[]
  /** Overrides the defaults of all kinds, for devices that do not set it themselves. */
  readonly hostWork?: boolean
  /** Initial delay, failures and unplugged devices. Default: none. */
  readonly faults?: Partial<InjectedFaults>
  readonly clock?: Clock
}

/** The limits of a report. */
const LIMITS = { devices: 1000, handles: 4096 }

const PAIRED = 'XILINX'

/** Simulated cards use PCI domains from `acc0` on, where no real card is expected. */
const FIRST_DOMAIN = 0xacc0
const FUNCTIONS_OF_A_BUS = 256

/** The address of the n-th function, counted through the simulated domains. */
const functionAt = (n: number): PciAddress => ({
  domain: hexText(FIRST_DOMAIN + (n >> 16), 4),
  bus: hexText((n >> 8) & 0xff, 2),
  device: hexText((n >> 3) & 0x1f, 2),
  function: hexText(n & 7, 1),
})

type Card = {
  readonly planned: SimulatedDevice
  readonly model: Model
  readonly serial: string
  readonly address: PciAddress
  /** The functions of each unit. */
  readonly units: readonly (readonly PciAddress[])[]
}

/** FNV-1a hash: derives choices from a seed, with the same result on every machine. */
const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193) >>> 0
  // Without this mixing, the low bits of similar texts are correlated.
  value = Math.imul(value ^ (value >>> 16), 0x45d9f3b) >>> 0
  return (value ^ (value >>> 16)) >>> 0
}

/** Every card starts on a new PCI bus and occupies as many buses as it needs. */
const cardsOf = ({ seed, devices }: SimulatedPlan): readonly Card[] => {
  let next = 0
  return devices.map((planned, at) => {
    const first = next
    const { functions = 1, handles } = planned
    // only Alveo cards have units of several functions
    const models = FACTS[planned.kind].models.filter(({ vendorName }) => functions === 1 || vendorName === PAIRED)
    const all = functions * handles
    const units = all === 1 || handles === 1 ? first : first + 1
    next += Math.ceil((all + 1) / FUNCTIONS_OF_A_BUS) * FUNCTIONS_OF_A_BUS
    return {
      planned,
      model: models[hash(`${seed}/${at}/model`) % models.length] as Model,
      serial: hexText(hash(`${seed}/${at}/serial`), 8).toUpperCase(),
      address: functionAt(first),
      units: Array.from({ length: handles }, (_, unit) =>
        Array.from({ length: functions }, (__, n) => functionAt(units + unit * functions + n)),
      ),
    }
  })
}

const traitsOf = (
  { type }: KindFacts,
  { vendor, product, vendorName, family }: Model,
  functions: number,
): readonly string[] => [
  'OWNER_CYBORG',
  // a group that requires this trait of Alveo cards gets two accelerator requests for each of its units
  ...(vendorName === PAIRED && functions === 1 ? [] : [traitName('CUSTOM', type, vendorName)]),
  traitName('CUSTOM', type, 'PRODUCT_ID', product),
  traitName('CUSTOM', type, vendorName, family),
  // The form that profiles for NVIDIA cards have always used.
  ...(vendor === '10de' ? [traitName('CUSTOM', vendorName, product)] : []),
]

const reported = (hostname: HostName, card: Card, hostWorkOfAll: boolean | undefined): ReportedDevice => {
  const { planned, model, address, units } = card
  const facts = FACTS[planned.kind]
  return {
    type: facts.type,
    vendor: model.vendor,
    model: model.text,
    stdBoardInfo: spacedJson({ product_id: model.product, controller: model.controller }),
    vendorBoardInfo: spacedJson({ vendor_info: 'simulated', serial: card.serial }),
    controlPath: { type: 'PCI', info: pciJson(address) },
    deployables: [
      {
        name: deployableName(hostname, formatPciAddress(address)),
        numAccelerators: units.length,
        driverName: 'simulated',
        attributes: attributesOf(facts.resourceClass, traitsOf(facts, model, planned.functions ?? 1)),
        handles: units.flatMap((functions, set) =>
          functions.map((one) => ({
            type: 'PCI' as const,
            info: pciInfo(one),
            ...(functions.length > 1 ? { set } : {}),
          })),
        ),
        hostWork: planned.hostWork ?? hostWorkOfAll ?? facts.hostWork,
        programmable: facts.programmable,
      },
    ],
  }
}

const check = ({ devices }: SimulatedPlan): void => {
  if (devices.length > LIMITS.devices) throw new RangeError(`devices: must not be more than ${LIMITS.devices}`)
  for (const [at, { kind, handles, functions = 1 }] of devices.entries()) {
    if (!KINDS.includes(kind)) throw new RangeError(`devices[${at}].kind: must be one of ${KINDS.join(', ')}`)
    if (!Number.isInteger(handles) || handles < 1 || handles > LIMITS.handles)
      throw new RangeError(`devices[${at}].handles: must be a whole number from 1 to ${LIMITS.handles}`)
    if (![1, 2].includes(functions) || (functions === 2 && (kind !== 'fpga' || 2 * handles > LIMITS.handles)))
      throw new RangeError(
        `devices[${at}].functions: must be 1, or 2 for an fpga with at most ${LIMITS.handles / 2} handles`,
      )
  }
}

/** Creates the driver of a simulated host. Throws when the plan exceeds a limit. */
export const simulatedDriver = (plan: SimulatedPlan): SimulatedDriver => {
  check(plan)
  const cards = cardsOf(plan)
  return createSimulatedDriver({
    name: 'simulated_driver',
    devices: (hostname) => cards.map((card) => reported(hostname, card, plan.hostWork)),
    ...(plan.faults ? { faults: plan.faults } : {}),
    ...(plan.clock ? { clock: plan.clock } : {}),
  })
}
