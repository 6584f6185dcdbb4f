/** `accelerando devices`: shows the devices on the PCI bus of this machine. */
import { type Flags, type Register, configured, out, withPlainErrors, outLines } from '../command.ts'
import type { Config } from '../config/config.ts'
import { PROGRAM_FLAGS, addFlags } from '../config/flags.ts'
import { tableOf } from '../operators/api.ts'
import type { ScannedDevice } from '../../drivers/pci/scan.ts'
import { visibleJson } from '../../text.ts'

const HEADS = ['ADDRESS', 'VENDOR:PRODUCT', 'CLASS', 'OFFERED', 'WHITELIST ENTRY THAT OFFERS IT']

const rowOf = (device: ScannedDevice) => [
  device.address,
  `${device.vendor_id}:${device.product_id}`,
  `${device.class} ${device.class_name}`,
  device.offered ? 'yes' : `no: ${device.reason}`,
  device.whitelist_entry && visibleJson(device.whitelist_entry),
]

/** Instructions for offering more devices, printed below the table. */
const advice = (example: string | null): readonly string[] => [
  '',
  'To offer a device, add its entry to pci.passthrough_whitelist. An entry takes every device of its vendor and product.',
  'Never offer a device that this machine needs itself: bridges, its own disks and network.',
  ...(example === null ? [] : ['', `  ${example}`]),
]

const scan = async (config: Config) => {
  const [{ pciHere }, { scannedDevices }, { exampleSetting }] = await Promise.all([
    import('../pciHere.ts'),
    import('../../drivers/pci/scan.ts'),
    import('../../drivers/pci/whitelistHint.ts'),
  ])
  const { driverEnabled, whitelist, look } = pciHere(config)
  const seen = await look()
  const devices = scannedDevices(seen, { driverEnabled, whitelistSet: whitelist.length > 0 })
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
        if (flags.json) return out(visibleJson({ devices: found.devices }, 2))
        outLines(tableOf(HEADS, found.devices.map(rowOf)))
        if (found.devices.some(({ offered }) => !offered)) outLines(advice(found.example))
      }),
    )
}
