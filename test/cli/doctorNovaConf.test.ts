/** `accelerando doctor --nova-conf` against a recorded machine. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { unpackRecording } from '../drivers/recordedHostIo.ts'
import { commandHere } from '../support/commandHere.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('nova-conf')
afterAll(folder.remove)
const sysfs = join(folder.path, 'sys')
unpackRecording('pci-sim', sysfs)
const data = join(folder.path, 'data')
mkdirSync(data)
const parts = join(folder.path, 'nova.conf.d')
mkdirSync(parts)
const conf = join(folder.path, 'nova.conf')
writeFileSync(conf, '[DEFAULT]\nids = 1001\n')
writeFileSync(join(parts, '10-pci.conf'), '[pci]\ndevice_spec = {"product_id": "$ids", "address": "*:d0:00.[23]"}\n')
writeFileSync(join(parts, '20-pci.conf'), '[pci]\ndevice_spec = {"product_id": "$ids", "address": "0000:d0:00.3"}\n')
writeFileSync(join(parts, '30-pci.conf.off'), '[pci]\ndevice_spec = {}\n')

const WHITELIST = '[{"product_id": "1001"}]'
const doctor = (paths: readonly string[], whitelist: string | null = WHITELIST, root = sysfs) =>
  commandHere(['doctor', '--json', ...paths.flatMap((path) => ['--nova-conf', path])], {
    ACCELERANDO_PCI_SYSFS_ROOT: root,
    ACCELERANDO_DATA: data,
    ...(whitelist !== null && { ACCELERANDO_PCI_PASSTHROUGH_WHITELIST: whitelist }),
  })
const CHECK = 'overlap with nova'
const shown = async (...given: Parameters<typeof doctor>) => {
  const { code, out, err } = await doctor(...given)
  expect(err).toBe('')
  return { code, findings: JSON.parse(out) as readonly object[] }
}

test('names each device that both offer, from all files that Nova reads, and says what to do', async () => {
  const { code, findings } = await shown([conf, parts])
  expect(code).toBe(7)
  expect(findings).toEqual([
    {
      check: CHECK,
      verdict: 'problem',
      says: `${join(parts, '10-pci.conf')}:2: pci.device_spec.address.function: must be hex or *, is '[23]'`,
      advice: 'correct it; the comparison is not complete without it',
    },
    {
      check: CHECK,
      verdict: 'problem',
      says: `0000:d0:00.3 (1d55:1001) is offered here, and Nova passes it through: [pci] device_spec {"product_id":"1001","address":"0000:d0:00.3"} (${join(parts, '20-pci.conf')}:2)`,
      advice: "offer it in one place: take it out of pci.passthrough_whitelist here, or out of Nova's configuration",
    },
  ])
  expect(readdirSync(data)).toEqual([])
})

test('says so when no device is offered twice, or none at all', async () => {
  const says = async (...given: Parameters<typeof doctor>) => {
    const { code, findings } = await shown(...given)
    return [code, ...findings]
  }
  expect(await says([conf])).toEqual([
    0,
    { check: CHECK, verdict: 'ok', says: '7 PCI functions offered here, 0 by Nova, none by both' },
  ])
  const nothing = 'this machine offers no PCI function: none of its enabled drivers finds one that it may offer'
  expect(await says([conf], null)).toEqual([0, { check: CHECK, verdict: 'ok', says: nothing }])
})

test('a file or a bus that cannot be read is a problem, and then nothing is said to be well', async () => {
  const gone = join(folder.path, 'gone.conf')
  const { code, findings } = await shown([gone, conf])
  expect([code, ...findings]).toMatchObject([
    7,
    { verdict: 'problem', says: expect.stringMatching(/gone\.conf: it cannot be read: ENOENT/) },
  ])
  const blind = await shown([conf], WHITELIST, join(folder.path, 'nothing'))
  expect([blind.code, ...blind.findings]).toMatchObject([
    7,
    { verdict: 'problem', says: expect.stringContaining('nothing/bus/pci/devices') },
  ])
})
