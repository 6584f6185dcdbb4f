/**
 * Finds the devices of a host through its drivers, and what a control would accept of them: without any service, and
 * without changing anything.
 */
import { reconcile } from '../../actors/inventory/reconcile.ts'
import { host as hostDecider } from '../../actors/host/decider.ts'
import { systemClock } from '../../vocabulary/clock.ts'
import type { Driver, HostIo, LeftOut } from '../../drivers/driver.ts'
import { type DriverOptions, driverByName, HARDWARE_DRIVERS } from '../../drivers/index.ts'
import type { ReportedDevice } from '../../vocabulary/hardware.ts'
import { type Section, Watch, type WatchOptions } from '../../host/sections.ts'
import { canonicalInfo, formatPciAddress, pciAddressOf } from '../../vocabulary/pci.ts'
import { jsonIn } from '../../vocabulary/jsonText.ts'

export type SurveyedDriver = {
  readonly driver: string
  readonly enabled: boolean
  /** Null: the driver did not fail. */
  readonly error: string | null
  readonly devices: readonly ReportedDevice[]
  readonly leftOut: readonly LeftOut[]
}
export type SurveyWhat = {
  readonly io: HostIo
  readonly options: DriverOptions
  readonly enabledDrivers: readonly string[]
  /** Called when a driver begins. */
  readonly begins?: (driver: string) => void
}
/** The time limit that a host program sets for a driver's discovery. */
const LIMIT_MS = 30_000

/** Nothing is set up for a scan; a driver reports what it lacks. */
const watching = (io: HostIo): WatchOptions => ({ io, clock: systemClock, limitMs: LIMIT_MS, heldBack: () => null })

const leftOutBy = async (driver: Driver, io: HostIo): Promise<readonly LeftOut[]> => {
  try {
    return (await driver.leftOut?.(io)) ?? []
  } catch {
    // the scan of the devices reports the same failure
    return []
  }
}

const surveyedBy = async (
  name: string,
  { io, options, enabledDrivers, begins }: SurveyWhat,
): Promise<SurveyedDriver> => {
  begins?.(name)
  const enabled = enabledDrivers.includes(name)
  const reading = driverByName(name, options)
  if (!reading.ok) {
    const error = reading.problems.map(({ field, rule }) => `${field}: ${rule}`).join('; ')
    return { driver: name, enabled, error, devices: [], leftOut: [] }
  }
  if (!enabled && reading.driver.isHere && !(await reading.driver.isHere(io)))
    return { driver: name, enabled, error: null, devices: [], leftOut: [] }
  const section: Section = await new Watch(reading.driver, watching(io)).look()
  if (section.status !== 'ok') return { driver: name, enabled, error: section.error, devices: [], leftOut: [] }
  return { driver: name, enabled, error: null, devices: section.devices, leftOut: await leftOutBy(reading.driver, io) }
}

/** The address of a device, from its control path. */
export const addressOf = ({ controlPath }: ReportedDevice): string => {
  const address = pciAddressOf(jsonIn(controlPath.info))
  return address === null ? controlPath.info : formatPciAddress(address)
}

/** Adds what a control would refuse of all enabled drivers together; it uses the same code that receives reports. */
const withRefusals = (all: readonly SurveyedDriver[]): readonly SurveyedDriver[] => {
  const enabled = all.filter((one) => one.enabled && one.error === null)
  const drivers = enabled.map(({ driver, devices }) => ({ driver, status: 'ok' as const, devices: [...devices] }))
  const { steps, refused } = reconcile(hostDecider.initial, { drivers })
  const recorded = new Set(
    steps.flatMap((step) => (step.do === 'record' ? [`${step.shown.driver} ${step.shown.canonical}`] : [])),
  )
  const isKept = (driver: string, device: ReportedDevice): boolean =>
    device.stub === true || recorded.has(`${driver} ${canonicalInfo(device.controlPath.info)}`)
  const reasonOf = (device: ReportedDevice): string =>
    refused.find(({ canonical }) => canonical === canonicalInfo(device.controlPath.info))?.reason ?? 'it is refused'
  return all.map((one) => {
    if (!enabled.includes(one)) return one
    const lost = one.devices.filter((device) => !isKept(one.driver, device))
    const refusals = lost.map((device) => ({ address: addressOf(device), reason: reasonOf(device) }))
    const devices = one.devices.filter((device) => isKept(one.driver, device))
    return { ...one, devices, leftOut: [...one.leftOut, ...refusals] }
  })
}

/**
 * Why the driver, or a control, does not offer functions, by their addresses; `failure`: why the driver offers nothing
 * at all.
 */
export const refusedOf = (drivers: readonly SurveyedDriver[], name: string) => {
  const own = drivers.find(({ driver }) => driver === name)
  return {
    reasons: new Map(own?.leftOut.map(({ address, reason }) => [address, reason])),
    failure: own === undefined || own.error === null ? null : `${name} failed: ${own.error}`,
  }
}

const deployablesOf = (drivers: readonly SurveyedDriver[], all: boolean) =>
  drivers
    .filter(({ enabled }) => all || enabled)
    .flatMap(({ devices }) => devices)
    .flatMap(({ deployables }) => deployables)

/** What goes to one guest together: the functions of a set, otherwise each function alone. */
const unitOf = ({ name }: { readonly name: string }, address: string, set: number | undefined): string =>
  set === undefined ? address : `${name} ${set}`
/**
 * The functions that drivers offer, whole or divided, by their addresses, each with the units in which a guest gets
 * it. A divided function is not given to guests, so it has none. `all`: also those of drivers that are not enabled.
 */
export const offeredBy = (
  drivers: readonly SurveyedDriver[],
  all = false,
): ReadonlyMap<string, ReadonlySet<string>> => {
  const units = new Map<string, Set<string>>()
  for (const one of deployablesOf(drivers, all))
    for (const { type, info, set } of one.handles) {
      const pci = type === 'TEST_PCI' ? null : pciAddressOf(info)
      if (pci === null) continue
      const address = formatPciAddress(pci)
      const own = units.get(address) ?? new Set()
      units.set(address, type === 'MDEV' ? own : own.add(unitOf(one, address, set)))
    }
  return units
}

/** A card that is not served by it is not shown as one. */
const SHOWN_BY_KERNEL = 'intel_fpga_driver'
const isVgpu = ({ attributes }: ReportedDevice['deployables'][number]): boolean =>
  attributes.some(({ key, value }) => key === 'rc' && value === 'VGPU')
/**
 * The addresses of functions that their kernel driver must keep: it divides them, or they are vGPUs that end without
 * it, or it programs or shows their card.
 */
export const keptByKernel = (drivers: readonly SurveyedDriver[], all = false): ReadonlySet<string> =>
  new Set(
    drivers
      .filter(({ enabled }) => all || enabled)
      .flatMap(({ driver, devices }) =>
        devices
          .flatMap(({ deployables }) => deployables)
          .flatMap((one) => {
            const isKept = one.programmable || isVgpu(one) || driver === SHOWN_BY_KERNEL
            return one.handles.filter(({ type }) => isKept || type === 'MDEV')
          }),
      )
      .flatMap(({ info }) => {
        const address = pciAddressOf(info)
        return address === null ? [] : [formatPciAddress(address)]
      }),
  )

/** `all`: also uses drivers of hardware that are not enabled. */
export const surveyHost = async (what: SurveyWhat, all = true): Promise<readonly SurveyedDriver[]> => {
  const names = [...new Set([...(all ? HARDWARE_DRIVERS : []), ...what.enabledDrivers])]
  return withRefusals(await Promise.all(names.map((name) => surveyedBy(name, what))))
}
