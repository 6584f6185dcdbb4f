/**
 * A driver without hardware: a fixed list of devices, injected faults, and state kept in a file. The fake and the
 * simulated driver are instances of it with different devices.
 */
import * as v from 'valibot'
import type { DeployableName, HostName } from '../../vocabulary/identifiers.ts'
import { pause } from '../../vocabulary/waiting.ts'
import { type Clock, systemClock } from '../../vocabulary/clock.ts'
import type { Driver, HostIo, InUse, Measured, Slot } from '../driver.ts'
import type { LoadedFacts, ReportedDevice } from '../../vocabulary/hardware.ts'
import type { Numbers } from '../../vocabulary/health.ts'
import { type Loaded, withLoaded, withPrepared, withReleased } from './effects.ts'
import { effectsKeeper } from './effectsFile.ts'
import { type Machine, machineOf, type DeviceSlot, withBitstreams } from './machine.ts'
import { canonicalInfo } from '../../vocabulary/pci.ts'
import { type DriverCall, noFaults, shouldFail, type InjectedFaults, injectedFaultsFile } from './injectedFaults.ts'

export type Control = {
  /** Faults in addition to those of the fault file. They can be changed at any time. */
  readonly faults: InjectedFaults
  /** Unplugs a device, given by its index in the plan, from 0. */
  readonly unplug: (device: number) => void
  readonly replug: (device: number) => void
}
export type SimulatedDriver = Required<Omit<Driver, 'isHere' | 'leftOut' | 'restore' | 'ensure' | 'cardAt'>> & {
  readonly control: Control
}

export type DriverPlan = {
  readonly name: string
  readonly devices: (hostname: HostName) => readonly ReportedDevice[]
  readonly faults?: Partial<InjectedFaults>
  readonly clock?: Clock
}

/** Messages on the bus allow bitstream ids of at most 100 characters. */
const BITSTREAM_MAX = 100

const FUNCTION = v.object({ function_uuid: v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/)) })
/** A file for simulated hardware may say what it does: `{"function_uuid": "..."}`. Any other file says nothing. */
const functionIn = async (io: HostIo, imagePath: string): Promise<string | null> => {
  // the caller has checked that the file exists; a text that cannot be read counts as empty
  const text = await io.read(imagePath).catch(() => '')
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), FUNCTION), text)
  return read.success ? read.output.function_uuid : null
}

/** The file of an image is named by the image id, with or without an extension. */
const bitstreamOf = async (io: HostIo, imagePath: string, facts: LoadedFacts): Promise<Loaded> => {
  const cut = imagePath.lastIndexOf('/')
  const file = imagePath.slice(cut + 1)
  const files = await io.list(cut > 0 ? imagePath.slice(0, cut) : cut === 0 ? '/' : '.')
  if (!files.includes(file)) throw new Error(`${imagePath}: no such image`)
  const id = file.replace(/(?<=.)\.[^.]*$/, '')
  if (id.length > BITSTREAM_MAX)
    throw new Error(`${imagePath}: the name must not be longer than ${BITSTREAM_MAX} characters`)
  return { bitstream: id, functionId: await functionIn(io, imagePath), facts }
}

/** Applies the configured delay and failure. */
const applyFaults = async (
  clock: Clock,
  faultSets: readonly InjectedFaults[],
  call: DriverCall,
  signal: AbortSignal,
): Promise<void> => {
  signal.throwIfAborted()
  const delayMs = Math.max(...faultSets.map((faults) => faults.delayMs))
  if (delayMs > 0) await pause(clock, delayMs, signal)
  if (faultSets.some((faults) => shouldFail(faults, call)))
    throw new Error(`${call.action} of ${call.slot ?? call.deployable} failed, as it was told to`)
}

/** What of the machine is in use when these deployables are. */
const usedIn = ({ devices }: Machine, named: readonly string[]): readonly InUse[] =>
  devices
    .flatMap(({ deployables }) => deployables)
    .filter(({ name }) => named.includes(name))
    .flatMap(({ handles }) =>
      handles.map(({ type, info }) => ({ type, info, by: 'something that the fault file names' })),
    )

/** A good one is as warm as its place in the machine makes it. */
const numbersOf = (device: number, bad: readonly number[]): Numbers => ({
  temperature_celsius: 40 + (device % 30),
  pci_fatal_errors: bad.includes(device) ? 1 : 0,
})

const measuredIn = (
  { devices }: Machine,
  controlPaths: readonly string[],
  injected: readonly InjectedFaults[],
): Measured => {
  const [out, bad] = [injected.flatMap(({ unplugged }) => unplugged), injected.flatMap((faults) => faults.bad)]
  const measured = devices.flatMap(({ controlPath: { info } }, device) =>
    controlPaths.includes(info) && !out.includes(device)
      ? [{ controlPath: info, numbers: numbersOf(device, bad) }]
      : [],
  )
  return { devices: measured }
}

const controlOf = (faults: InjectedFaults): Control => ({
  faults,
  unplug: (device) => void (faults.unplugged = [...new Set([...faults.unplugged, device])]),
  replug: (device) => void (faults.unplugged = faults.unplugged.filter((one) => one !== device)),
})

/** Creates the driver. One instance serves one host. */
export const createSimulatedDriver = (plan: DriverPlan): SimulatedDriver => {
  const { name, devices, faults: start, clock = systemClock } = plan
  const faults: InjectedFaults = { ...noFaults(), ...start }
  const fromFile = injectedFaultsFile()
  const { read: effectsOf, change } = effectsKeeper(name)
  const machines = new Map<string, Machine>()

  const machine = (hostname: HostName): Machine => {
    const made = machines.get(hostname) ?? machineOf(devices(hostname))
    machines.set(hostname, made)
    return made
  }
  const place = (io: HostIo, deployable: DeployableName, injected: InjectedFaults): DeviceSlot => {
    const found = machine(io.hostname).places.get(deployable)
    const isOut = ({ unplugged }: InjectedFaults): boolean => found !== undefined && unplugged.includes(found.device)
    if (found === undefined || isOut(faults) || isOut(injected)) throw new Error(`${io.hostname} has no ${deployable}`)
    return found
  }
  /** The content of the fault file when the operation began. */
  const endure = async (io: HostIo, call: DriverCall, signal: AbortSignal): Promise<InjectedFaults> => {
    const injected = await fromFile(io)
    await applyFaults(clock, [faults, injected], call, signal)
    return injected
  }

  return {
    name,
    control: controlOf(faults),
    discover: async (io) => {
      const effects = await effectsOf(io)
      const out = [...faults.unplugged, ...(await fromFile(io)).unplugged]
      return machine(io.hostname)
        .devices.filter((_, device) => !out.includes(device))
        .map((device) => withBitstreams(device, effects))
    },
    prepare: async (io, slot: Slot, signal) => {
      const injected = await endure(io, { action: 'prepare', deployable: slot.deployable, slot: slot.uuid }, signal)
      const { infos } = place(io, slot.deployable, injected)
      const info = canonicalInfo(slot.info)
      if (!infos.has(info)) throw new Error(`slot ${slot.uuid}: ${slot.deployable} has no ${info}`)
      await change(io, signal, (effects) => withPrepared(effects, slot))
    },
    // An unplugged device holds nothing, so its slots are released without it.
    release: async (io, slot: Slot, signal) => {
      await endure(io, { action: 'release', deployable: slot.deployable, slot: slot.uuid }, signal)
      await change(io, signal, (effects) => withReleased(effects, slot))
    },
    inUse: async (io) => usedIn(machine(io.hostname), [...faults.inUse, ...(await fromFile(io)).inUse]),
    measure: async (io, paths) => measuredIn(machine(io.hostname), paths, [faults, await fromFile(io)]),
    program: async (io, deployable, imagePath, signal, facts = {}) => {
      const injected = await endure(io, { action: 'program', deployable, slot: null }, signal)
      if (!place(io, deployable, injected).programmable) throw new Error(`${deployable} cannot be programmed`)
      const loaded = await bitstreamOf(io, imagePath, facts)
      await change(io, signal, (effects) => withLoaded(effects, deployable, loaded))
    },
  }
}
