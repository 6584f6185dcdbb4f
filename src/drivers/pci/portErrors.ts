/**
 * Fatal PCI errors (AER) that only the ports above a device have counted. The kernel cannot read a device behind a
 * broken link, so it counts the error at the root port that was told of it, or at the port that noticed it.
 *
 * PORT-1 an error is that of a device when no other device is below the port that has counted it: all functions of one
 *    slot, and virtual functions, are one device;
 * PORT-2 an error that a function or a port further down has counted as well is that one's alone;
 * PORT-3 which of several devices below a port had the error cannot be told: it counts for none of them, and is shown
 *    of all.
 */
import { formatPciAddress, parsePciAddress, type PciAddress } from '../../pci.ts'
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

/** Reads each file at most once: for one look at the bus. */
export const portErrorsOf = (io: HostIo, sysfsRoot: string): ((address: PciAddress) => Promise<PortErrors>) => {
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
  const errorsAt = async (port: string): Promise<{ readonly errors: number; readonly isShared: boolean } | null> => {
    const folder = `${devices}/${port}`
    const [own, told] = await Promise.all([
      counted(io, `${folder}/${FATAL[0]}`, FATAL[1]),
      io.read(`${folder}/aer_rootport_total_err_fatal`).catch(() => ''),
    ])
    const ofAll = /^\d{1,15}$/.test(told.trim()) ? Number(told) : null
    const most = Math.max(own ?? 0, ofAll ?? 0)
    if (most === 0) return own === null && ofAll === null ? null : { errors: 0, isShared: false }
    const names = await below(port)
    const explained = ofAll === null ? 0 : (await Promise.all(names.map(fatalOf))).reduce((sum, one) => sum + one, 0)
    return { errors: Math.max(own ?? 0, most - explained), isShared: (await slotsBelow(names)) > 1 }
  }
  const ports = new Map<string, ReturnType<typeof errorsAt>>()
  return async (address) => {
    const way = (await wayTo(formatPciAddress(address))).slice(0, -1)
    const found = await Promise.all(
      way.map((port) => {
        const known = ports.get(port) ?? errorsAt(port)
        ports.set(port, known)
        return known
      }),
    )
    const all = found.filter((one) => one !== null)
    const sum = (isShared: boolean) =>
      all.filter((one) => one.isShared === isShared).reduce((total, one) => total + one.errors, 0)
    return { own: all.length === 0 ? undefined : sum(false), shared: sum(true) }
  }
}
