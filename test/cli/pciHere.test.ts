/** What the commands for hardware take from the configuration, and where they look for what drivers remember. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ioHere, pciHere } from '../../src/cli/hardware/pciHere.ts'
import { addressOf } from '../../src/cli/hardware/survey.ts'
import type { ReportedDevice } from '../../src/hardware.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('pci-here')
afterAll(folder.remove)
const host = (name: string) => ({ name }) as Parameters<typeof pciHere>[0]['host']
const here = (more: Partial<Parameters<typeof pciHere>[0]> = {}) =>
  pciHere({ host: host('h1'), data: folder.path, drivers: {}, enabledDrivers: [], ...more }, recordedHostIo({}, 'h1'))

test('the devices of this machine are looked for in /sys unless the configuration names another folder', () => {
  expect(here()).toMatchObject({ sysfsRoot: '/sys', driverEnabled: false, whitelist: [], enabledDrivers: [] })
  expect(here({ drivers: { pci: { whitelist: [] } } }).sysfsRoot).toBe('/sys')
  expect(here({ drivers: { pci: { sysfsRoot: '/x' } } }).sysfsRoot).toBe('/x')
})
test('the whitelist is read, and whether its driver is enabled', () => {
  const drivers = { pci: { whitelist: ['{"vendor_id": "10de"}'] } }
  const { whitelist, driverEnabled, options } = here({ drivers, enabledDrivers: ['pci_driver'] })
  expect([whitelist.length, driverEnabled, options]).toEqual([1, true, drivers])
  expect(here({ drivers: { pci: { whitelist: ['{"vendor_id": 7}'] } } }).whitelist).toEqual([])
})

test('what a driver remembers is that of the host program, unless this folder holds several hosts', () => {
  const data = join(folder.path, 'data')
  const [own, among] = [join(data, 'drivers'), join(data, 'hosts', 'h1', 'drivers')]
  const stateDir = () => ioHere({ name: 'h1', data }).stateDir
  const after = (dir: string) => {
    mkdirSync(dir, { recursive: true })
    return stateDir()
  }
  expect(stateDir()).toBe(among)
  expect(after(own)).toBe(own)
  expect(after(join(data, 'hosts', 'h2', 'drivers'))).toBe(own)
  expect(after(among)).toBe(among)
})
test('nothing of this machine is changed', async () => {
  const data = join(folder.path, 'unchanged')
  const io = ioHere({ name: 'h1', data })
  mkdirSync(io.stateDir, { recursive: true })
  const file = join(io.stateDir, 'file')
  writeFileSync(file, 'as it was')
  await io.write(file, 'changed')
  await io.keep(file, 'changed')
  expect(await io.read(file)).toBe('as it was')
})

test('a device is named by its PCI address, and by all that is known of its control path when that has none', () => {
  const named = (info: string) => addressOf({ controlPath: { type: 'PCI', info } } as ReportedDevice)
  expect(named('{"domain": "0000", "bus": "0a", "device": "00", "function": "1"}')).toBe('0000:0a:00.1')
  expect(named('{"path": "/dev/x"}')).toBe('{"path": "/dev/x"}')
  expect(named('no JSON')).toBe('no JSON')
})
