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

  test('says of a physical function why its virtual functions are offered and it is not, or the other way round', async () => {
    const whitelist = (mode?: 'pf') => [{ address: '0000:d0:00.0', ...(mode ? { mode } : {}) }, { product_id: '1001' }]
    const scan = async (mode?: 'pf') => {
      const seen = await seenFunctions(recordedHost('pci-sim'), '/sys', entriesOf(whitelist(mode)))
      return scannedDevices(seen, { driverEnabled: true, whitelistSet: true }).slice(0, 2)
    }
    expect(await scan()).toMatchObject([
      { offered: false, reason: 'it has virtual functions, and its whitelist entry does not have "mode": "pf"' },
      { offered: true, reason: null },
    ])
    expect(await scan('pf')).toMatchObject([
      { offered: true, reason: null },
      { offered: false, reason: 'its physical function 0000:d0:00.0 is offered as a whole' },
    ])
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
