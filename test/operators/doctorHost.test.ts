/** What `doctor` says of the machine that it runs on: its hardware, and what Nova is configured to offer there. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { loadConfig } from '../../src/cli/config/config.ts'
import type { DoctorOptions } from '../../src/cli/doctor/options.ts'
import { examine } from '../../src/cli/doctor/doctor.ts'
import { handClock } from '../support/lab.ts'
import { unpackRecording } from '../drivers/recordedHostIo.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('doctor-host')
afterAll(folder.remove)
const sysfs = join(folder.path, 'sys')
unpackRecording('pci-sim', sysfs)
const nowhere = join(folder.path, 'nowhere')
const conf = join(folder.path, 'nova.conf')
writeFileSync(conf, '[pci]\ndevice_spec = {"product_id": "1001"}\n')

const found = async (env: Readonly<Record<string, string>>, asked: Partial<DoctorOptions>) => {
  const given = { ACCELERANDO_AUTH: 'noauth', ACCELERANDO_DATA: nowhere, ...env }
  const loaded = loadConfig({ flags: {}, env: given, readFile: () => '', osHostname: 'h' })
  if (!loaded.ok) return expect.fail(loaded.problems.join('\n'))
  const nothing = { api: null, novaConf: [], hardware: false, mend: false, clock: handClock() }
  return examine({ ...loaded.config, ...nothing, ...asked })
}
const PCI = {
  ACCELERANDO_ENABLED_DRIVERS: 'pci_driver',
  ACCELERANDO_PCI_SYSFS_ROOT: sysfs,
  ACCELERANDO_PCI_PASSTHROUGH_WHITELIST: '[{"product_id": "1001"}]',
}
const BLIND = { ...PCI, ACCELERANDO_PCI_SYSFS_ROOT: nowhere }
const ADVICE = 'run this on the host, as a user who may read its PCI bus (pci.sysfs_root)'

test('the hardware is looked at where that is asked for', async () => {
  expect(await found(PCI, {})).toEqual([])
  const [driver, ...others] = await found(PCI, { hardware: true })
  expect(driver).toEqual({ check: 'hardware', verdict: 'ok', says: 'pci_driver finds 7 devices' })
  expect(new Set(others.map(({ check }) => check))).toEqual(new Set(['hardware']))
})
test('the programs that hosts need are looked for in the search path', async () => {
  const path = process.env['PATH']
  process.env['PATH'] = nowhere
  try {
    expect((await found(PCI, { hardware: true })).at(-1)).toEqual({
      check: 'hardware',
      verdict: 'warning',
      says: 'flock is not installed: no card can be programmed or cleaned, and no playbook runs',
      advice: 'install util-linux',
    })
  } finally {
    process.env['PATH'] = path
  }
})
test('a bus that cannot be read is a problem of the check that needs it, with the advice where to run it', async () => {
  const says = expect.stringContaining('nowhere/bus/pci/devices')
  expect(await found(BLIND, { hardware: true })).toEqual([
    { check: 'hardware', verdict: 'problem', says, advice: ADVICE },
  ])
  expect((await found(BLIND, { novaConf: [conf] })).at(-1)).toEqual({
    check: 'overlap with nova',
    verdict: 'problem',
    says,
    advice: ADVICE,
  })
})
test('a driver that fails leaves the comparison with Nova incomplete, and nothing is said to be well', async () => {
  const drivers = { pci: { sysfsRoot: sysfs, whitelist: ['{"vendor_id": "xyz"}'] } }
  expect(await found(PCI, { drivers, novaConf: [conf] })).toEqual([
    {
      check: 'overlap with nova',
      verdict: 'problem',
      says: expect.stringMatching(/^pci_driver failed: \S+vendor_id: must be hex/),
      advice: 'the comparison is not complete without it; accelerando device scan shows more',
    },
  ])
})
test('brokers that cannot be reached are a problem, with what to look at', async () => {
  const kafka = { brokers: ['127.0.0.1:1'], prefix: '', clientId: 'test', tls: null, sasl: null }
  expect(await found({}, { kafka })).toEqual([
    {
      check: 'kafka',
      verdict: 'problem',
      says: expect.stringMatching(/127\.0\.0\.1:1\b/),
      advice: 'check that a broker is running there, and that the TLS and login settings are correct',
    },
  ])
})
