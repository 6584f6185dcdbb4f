/** What a scan says of each PCI function: offered, or why not and what would offer it. */
import { describe, expect, test } from 'vitest'
import { scannedDevices, seenFunctions } from '../../src/drivers/pci/scan.ts'
import { readWhitelist } from '../../src/drivers/pci/whitelist.ts'
import { exampleSetting } from '../../src/drivers/pci/whitelistHint.ts'
import { recordedHost } from './recordedHostIo.ts'

const entriesOf = (given: unknown) => {
  const reading = readWhitelist(given)
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  return reading.entries
}
const scanned = async (given: unknown, driverEnabled = true) => {
  const whitelist = entriesOf(given)
  const seen = await seenFunctions(recordedHost('odd-host'), '/sys', whitelist)
  return scannedDevices(seen, { driverEnabled, whitelistSet: whitelist.length > 0 })
}
const at = (devices: Awaited<ReturnType<typeof scanned>>, address: string) =>
  devices.find((one) => one.address === address)

describe('a scan of the PCI bus', () => {
  test('names each function with its class and the entry that would offer it', async () => {
    const devices = await scanned(undefined)
    expect(devices).toHaveLength(5)
    expect(at(devices, '0000:0a:00.1')).toEqual({
      address: '0000:0a:00.1',
      vendor_id: '1b36',
      product_id: '0010',
      class: '010802',
      class_name: 'storage',
      offered: false,
      reason: 'no whitelist is set',
      whitelist_entry: { vendor_id: '1b36', product_id: '0010' },
    })
  })

  test('the entry it names offers the device it is named for', async () => {
    for (const { address, whitelist_entry: entry } of await scanned(undefined))
      expect(at(await scanned(entry), address)).toMatchObject({ offered: true, reason: null, whitelist_entry: null })
  })

  test('says that the whitelist does not take a device, or that the driver is not enabled', async () => {
    const [one, other] = [
      at(await scanned({ vendor_id: 'dead' }), '0000:0a:00.1'),
      at(await scanned({}, false), '0000:0a:00.1'),
    ]
    expect(one).toMatchObject({ offered: false, reason: 'no whitelist entry takes it' })
    expect(other).toMatchObject({
      offered: false,
      reason: 'pci_driver is not in enabled_drivers',
      whitelist_entry: null,
    })
  })

  test('gives an example that works as it stands, and not one for what the host runs on', async () => {
    const seen = await seenFunctions(recordedHost('mixed-host'), '/sys', [])
    const setting = exampleSetting(seen.map(({ found }) => found))
    const [, value] = /^ACCELERANDO_PCI_PASSTHROUGH_WHITELIST='(.*)'$/.exec(setting!)!
    const offered = await seenFunctions(recordedHost('mixed-host'), '/sys', entriesOf(value))
    expect(offered.flatMap(({ found, entry }) => (entry ? [found.address] : []))).toEqual([
      { domain: '0000', bus: '00', device: '13', function: '0' },
    ])
    expect(exampleSetting([])).toBeNull()
  })
})
