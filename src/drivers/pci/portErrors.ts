/**
 * Fatal PCI errors (AER) that only the ports above a device have counted. The kernel cannot read a device behind a
 * broken link, so it counts the error at the root port that was told of it, or at the port that noticed it.
 *
 * PORT-1 an error is that of a device when no other device is below the port that has counted it: all functions of one
 *    slot, and virtual functions, are one device;
 * PORT-2 an error that a function or a port further down has counted as well is that one's alone;
 * PORT-3 which of several devices below a port had the error cannot be told: it counts for none of them, and is shown
 *    of all;
 * PORT-4 what a port has counted before a device below it was pulled, or plugged in again, is over: its counter goes
 *    on, while those of the device begin anew. That is known for as long as the program runs.
 */
import { formatPciAddress, parsePciAddress, type PciAddress } from '../../vocabulary/pci.ts'
import type { HostIo } from '../driver.ts'
import { listed } from '../files.ts'
import { pciFolder } from './sysfs.ts'

/** Undefined: no port above the device tells. */
export type PortErrors = { readonly own: number | undefined; readonly shared: number }

const BRIDGE = /^0x0604/
const FATAL = ['aer_dev_fatal', 'TOTAL_ERR_FATAL'] as const

/** The number after a word at the beginning of a line of a file with error counters; null: it is not told. */
export const counted = async (io: HostIo, path: string, total: string): Promise<number | null> => {
  const text = await io.read(path).catch(() => '')
  const [, found] = new RegExp(`^${total} (\\d{1,15})$`, 'm').exec(text) ?? []
  return found === undefined ? null : Number(found)
}

/** Of a port that has counted errors: those that are over, and what the functions below it counted last. */
type Past = { readonly over: number; readonly counts: ReadonlyMap<string, number> }
/** By port, of all looks of one driver. */
export type PortMemory = Map<string, Past>

/** PORT-4. `unexplained`: what the port has counted, and no function below it. */
const overNow = (before: Past | undefined, counts: Past['counts'], unexplained: number): number => {
  const known = [...(before?.counts ?? [])]
  const isPulled = known.some(([name]) => !counts.has(name))
  const begunAnew = known.reduce((sum, [name, count]) => sum + Math.max(0, count - (counts.get(name) ?? count)), 0)
  return isPulled ? unexplained : Math.min(unexplained, (before?.over ?? 0) + begunAnew)
}

type AtPort = { readonly errors: number; readonly isShared: boolean }
const summed = (all: readonly AtPort[]): PortErrors => {
  const sum = (isShared: boolean) =>
    all.filter((one) => one.isShared === isShared).reduce((total, one) => total + one.errors, 0)
  return { own: all.length === 0 ? undefined : sum(false), shared: sum(true) }
}

/** Reads each file at most once: for one look at the bus. */
export const portErrorsOf = (
  io: HostIo,
  sysfsRoot: string,
  memory: PortMemory = new Map(),
): ((address: PciAddress) => Promise<PortErrors>) => {
  const devices = pciFolder(sysfsRoot)
  /** The functions on the way from the root of the bus to this one, and itself at the end. */
  const wayTo = async (name: string): Promise<readonly string[]> =>
    ((await io.link(`${devices}/${name}`)) ?? '').split('/').filter((part) => parsePciAddress(part) !== null)
  const fatalOf = async (name: string): Promise<number> =>
    (await counted(io, `${devices}/${name}/${FATAL[0]}`, FATAL[1])) ?? 0
  let ways: Promise<readonly (readonly string[])[]> | null = null
  const below = async (port: string): Promise<readonly string[]> => {
    ways ??= listed(io, devices).then((names) => Promise.all(names.map(wayTo)))
    return (await ways).flatMap((way) => (way.slice(0, -1).includes(port) ? [way.at(-1)!] : []))
  }
  const isDevice = async (name: string): Promise<boolean> =>
    (await io.link(`${devices}/${name}/physfn`)) === null &&
    !BRIDGE.test(await io.read(`${devices}/${name}/class`).catch(() => ''))
  const slotsBelow = async (names: readonly string[]): Promise<number> => {
    const own = await Promise.all(
      names.map(async (name) => ((await isDevice(name)) ? [name.replace(/\.\d$/, '')] : [])),
    )
    return new Set(own.flat()).size
  }
  /** Null: the port does not count. */
  const errorsAt = async (port: string): Promise<AtPort | null> => {
    const folder = `${devices}/${port}`
    const [own, told] = await Promise.all([
      counted(io, `${folder}/${FATAL[0]}`, FATAL[1]),
      io.read(`${folder}/aer_rootport_total_err_fatal`).catch(() => ''),
    ])
    const ofAll = /^\d{1,15}$/.test(told.trim()) ? Number(told) : null
    const most = Math.max(own ?? 0, ofAll ?? 0)
    if (most === 0) return own === null && ofAll === null ? null : { errors: 0, isShared: false }
    const names = await below(port)
    const counts = new Map(await Promise.all(names.map(async (name) => [name, await fatalOf(name)] as const)))
    const explained = ofAll === null ? 0 : [...counts.values()].reduce((sum, one) => sum + one, 0)
    const unexplained = Math.max(own ?? 0, most - explained)
    const over = overNow(memory.get(port), counts, unexplained)
    memory.set(port, { over, counts })
    return { errors: unexplained - over, isShared: (await slotsBelow(names)) > 1 }
  }
  // also while nothing below them is measured, as after the only device was pulled
  const ports = new Map([...memory.keys()].map((port) => [port, errorsAt(port)]))
  // nobody may ask for them
  for (const one of ports.values()) one.catch(() => undefined)
  return async (address) => {
    const way = (await wayTo(formatPciAddress(address))).slice(0, -1)
    const found = await Promise.all(
      way.map((port) => {
        const known = ports.get(port) ?? errorsAt(port)
        ports.set(port, known)
        return known
      }),
    )
    return summed(found.filter((one) => one !== null))
  }
}
