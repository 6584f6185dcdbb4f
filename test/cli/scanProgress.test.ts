/** What a person at a terminal sees while the hardware of a machine is looked at, and what a script gets. */
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { HARDWARE_DRIVERS } from '../../src/drivers/index.ts'
import { commandHere } from '../support/commandHere.ts'
import { tempFolder } from '../support/program.ts'
import { recordedFolder } from '../support/recordedFolder.ts'

const folder = tempFolder('scan-progress')
afterAll(folder.remove)

test('each driver is named when it begins, on standard error, and only where that is a terminal', async () => {
  const recording = join(folder.path, 'recording')
  recordedFolder(recording, { sys: { bus: { pci: { devices: {} } } } })
  const env = { ACCELERANDO_DATA: folder.path, ACCELERANDO_ENABLED_DRIVERS: 'fake_driver' }
  const scanned = async (isTTY: boolean) => {
    const before = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY')
    Object.defineProperty(process.stderr, 'isTTY', { configurable: true, value: isTTY })
    try {
      return (await commandHere(['device', 'scan', '--from', recording], env)).err
    } finally {
      Reflect.deleteProperty(process.stderr, 'isTTY')
      if (before) Object.defineProperty(process.stderr, 'isTTY', before)
    }
  }
  expect((await scanned(true)).split('\n')).toEqual([
    ...[...HARDWARE_DRIVERS, 'fake_driver'].map((driver) => `looking with ${driver}`),
    '',
  ])
  expect(await scanned(false)).toBe('')
})
