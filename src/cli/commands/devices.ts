/** `accelerando devices`: shows the devices on the PCI bus of this machine. */
import { join } from 'node:path'
import { type Flags, type Register, configured, out, withPlainErrors } from '../command.ts'
import type { Config } from '../config/config.ts'
import { PROGRAM_FLAGS, addFlags } from '../config/flags.ts'
import { tableOf } from '../operators/api.ts'
import type { ScannedDevice } from '../../drivers/pci/scan.ts'

const HEADS = ['ADDRESS', 'VENDOR:PRODUCT', 'CLASS', 'OFFERED', 'WHITELIST ENTRY THAT OFFERS IT']

const rowOf = (device: ScannedDevice) => [
  device.address,
  `${device.vendor_id}:${device.product_id}`,
  `${device.class} ${device.class_name}`,
  device.offered ? 'yes' : `no: ${device.reason}`,
  device.whitelist_entry && JSON.stringify(device.whitelist_entry),
]

/** Instructions for offering more devices, printed below the table. */
const advice = (example: string | null): readonly string[] => [
  '',
  'To offer a device, add its entry to pci.passthrough_whitelist. An entry takes every device of its vendor and product.',
  'Never offer a device that this machine needs itself: bridges, its own disks and network.',
  ...(example === null ? [] : ['', `  ${example}`]),
]

const scan = async (config: Config) => {
  const [{ realHostIo }, { scannedDevices, seenFunctions }, { readWhitelist }, { exampleSetting }] = await Promise.all([
    import('../../drivers/hostIo.ts'),
    import('../../drivers/pci/scan.ts'),
    import('../../drivers/pci/whitelist.ts'),
    import('../../drivers/pci/whitelistHint.ts'),
  ])
  const { name } = config.host
  const stateDir = join(config.data, 'hosts', name, 'drivers')
  const host = realHostIo({ hostname: name, stateDir, warn: () => undefined })
  // A scan only reads, so nothing is ever written here.
  const io = { ...host, write: async () => undefined }
  const reading = readWhitelist(config.drivers.pci?.whitelist)
  const entries = reading.ok ? reading.entries : []
  const seen = await seenFunctions(io, config.drivers.pci?.sysfsRoot ?? '/sys', entries)
  const driverEnabled = config.enabledDrivers.includes('pci_driver')
  const devices = scannedDevices(seen, { driverEnabled, whitelistSet: entries.length > 0 })
  return { devices, example: exampleSetting(seen.flatMap(({ found, entry }) => (entry === null ? [found] : []))) }
}

export const devices: Register = (program) => {
  const family = program.command('devices').description('The PCI devices of this machine.')
  addFlags(
    family
      .command('scan')
      .description('Shows each PCI device of this machine, whether the whitelist offers it, and what would offer it.'),
    PROGRAM_FLAGS.scan,
  )
    .option('--json', 'one JSON value instead of a table')
    .action(
      withPlainErrors(async (flags: Flags & { readonly json?: true }) => {
        const config = configured(flags)
        if (!config) return
        const found = await scan(config)
        if (flags.json) return out(JSON.stringify({ devices: found.devices }, null, 2))
        for (const line of tableOf(HEADS, found.devices.map(rowOf))) out(line)
        if (found.devices.some(({ offered }) => !offered)) for (const line of advice(found.example)) out(line)
      }),
    )
}
