/** `accelerando devices scan`, against a recorded PCI bus. */
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { unpackRecording } from '../drivers/recordedHostIo.ts'
import { commandHere } from '../support/commandHere.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('devices')
afterAll(folder.remove)
const sysfs = join(folder.path, 'sys')
unpackRecording('odd-host', sysfs)
const data = join(folder.path, 'data')
mkdirSync(data)

const scan = (env: Readonly<Record<string, string>>, ...args: readonly string[]) =>
  commandHere(['devices', 'scan', ...args], {
    ACCELERANDO_PCI_SYSFS_ROOT: sysfs,
    ACCELERANDO_DATA: data,
    ...env,
  })

test('a table of what is there, and what to do to offer more', async () => {
  const whitelist = { ACCELERANDO_PCI_PASSTHROUGH_WHITELIST: '[{"vendor_id": "dead"}, {"devname": "eth0"}]' }
  const { code, out, err } = await scan(whitelist)
  expect([code, err]).toEqual([0, ''])
  const lines = out.split('\n')
  expect(lines[0]).toMatch(/^ADDRESS +VENDOR:PRODUCT +CLASS +OFFERED +WHITELIST ENTRY THAT OFFERS IT$/)
  expect(lines.find((line) => line.startsWith('0000:0a:00.0'))).toMatch(/ dead:\S{4} .* yes +-$/)
  expect(lines.find((line) => line.startsWith('0000:00:03.0'))).toMatch(/ yes +-$/)
  expect(lines.find((line) => line.startsWith('0000:0a:00.1'))).toMatch(
    / 1b36:0010 +010802 storage +no: no whitelist entry takes it +\{"vendor_id":"1b36","product_id":"0010"\}$/,
  )
  expect(lines.slice(6)).toEqual([
    '',
    expect.stringMatching(/^To offer a device, add its entry to pci\.passthrough_whitelist\./),
    expect.stringMatching(/^Never offer a device that this machine needs itself/),
    ...(out.includes('ACCELERANDO_')
      ? ['', expect.stringMatching(/^ {2}ACCELERANDO_PCI_PASSTHROUGH_WHITELIST='\[/)]
      : []),
    '',
  ])
  // a scan changes nothing, even where the driver would remember an interface
  expect(readdirSync(data)).toEqual([])
})

test('one JSON value', async () => {
  const { code, out } = await scan({ ACCELERANDO_ENABLED_DRIVERS: 'fake_driver' }, '--json')
  expect(code).toBe(0)
  const { devices } = JSON.parse(out) as { devices: readonly object[] }
  expect(devices).toHaveLength(5)
  expect(devices).toContainEqual(
    expect.objectContaining({
      address: '0000:0a:00.1',
      offered: false,
      reason: 'pci_driver is not in enabled_drivers',
    }),
  )
})

test('a machine without a PCI bus is told in one sentence', async () => {
  const { code, out, err } = await scan({ ACCELERANDO_PCI_SYSFS_ROOT: join(folder.path, 'nothing') })
  expect([code, out]).toEqual([1, ''])
  expect(err.trimEnd().split('\n')).toEqual([expect.stringContaining('nothing/bus/pci/devices')])
})
