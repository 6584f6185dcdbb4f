/** The PCI functions of this machine, with the verdict of the configured whitelist on each. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DriverOptions } from '../../drivers/index.ts'
import type { HostIo } from '../../drivers/driver.ts'
import { realHostIo } from '../../drivers/hostIo.ts'
import { type SeenFunction, seenFunctions } from '../../drivers/pci/scan.ts'
import { readWhitelist, type WhitelistEntry } from '../../drivers/pci/whitelist.ts'
import type { Config } from '../config/config.ts'

export type PciHere = {
  readonly io: HostIo
  readonly sysfsRoot: string
  readonly driverEnabled: boolean
  readonly options: DriverOptions
  readonly enabledDrivers: readonly string[]
  readonly whitelist: readonly WhitelistEntry[]
  readonly look: () => Promise<readonly SeenFunction[]>
}

/**
 * The folder in which the drivers of this machine keep their state: that of `host`, or that of `start`, which has
 * several hosts.
 */
const stateDirIn = (data: string, name: string): string => {
  const [own, among] = [join(data, 'drivers'), join(data, 'hosts', name, 'drivers')]
  return existsSync(own) && !existsSync(among) ? own : among
}

/** Access to this machine that changes nothing. */
export const ioHere = ({ name, data }: { readonly name: string; readonly data: string }): HostIo => ({
  ...realHostIo({ hostname: name, stateDir: stateDirIn(data, name), warn: () => undefined }),
  write: async () => undefined,
  keep: async () => undefined,
})

/** `given`: another host to use instead of this machine. */
export const pciHere = (
  { host: { name }, data, drivers, enabledDrivers }: Pick<Config, 'host' | 'data' | 'drivers' | 'enabledDrivers'>,
  given?: HostIo,
): PciHere => {
  const io = given ?? ioHere({ name, data })
  const sysfsRoot = drivers.pci?.sysfsRoot ?? '/sys'
  const reading = readWhitelist(drivers.pci?.whitelist)
  const whitelist = reading.ok ? reading.entries : []
  const look = () => seenFunctions(io, sysfsRoot, whitelist)
  const driverEnabled = enabledDrivers.includes('pci_driver')
  return { io, sysfsRoot, driverEnabled, options: drivers, enabledDrivers, whitelist, look }
}
