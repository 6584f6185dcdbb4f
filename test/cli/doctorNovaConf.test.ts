/** `accelerando doctor --nova-conf` against a recorded machine. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { unpackRecording } from '../drivers/recordedHostIo.ts'
import { commandHere } from '../support/commandHere.ts'
import { tempFolder } from '../support/program.ts'
import { recordedFolder } from '../support/recordedFolder.ts'

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

const mixed = join(folder.path, 'mixed')
unpackRecording('mixed-host', mixed)
/** What is said of a configuration where this machine offers everything that it may. */
const overlapsOf = async (text: string, whitelist = '{}', root = mixed) => {
  writeFileSync(join(folder.path, 'one.conf'), text)
  const { findings } = await shown([join(folder.path, 'one.conf')], whitelist, root)
  return (findings as readonly { readonly says: string }[]).map(({ says }) => says)
}
const offeredTwice = (says: readonly string[]) =>
  says.flatMap((one) => /^(\S+) \(\S+\) is offered here/.exec(one)?.[1] ?? [])
test.each<readonly [spec: string, addresses: readonly string[]]>([
  ['{"vendor_id": "8086", "product_id": "37c9"}', ['0000:3d:01.0']],
  // the physical function is not offered here, since it has virtual ones
  ['{"vendor_id": "8086", "product_id": "37c8"}', ['0000:3d:01.0']],
  ['{"vendor_id": " 8086", "product_id": "*", "address": "*:3d:01.0"}', ['0000:3d:01.0']],
  ['{"address": ":3d:01.", "physical_network": null}', ['0000:3d:01.0']],
  // an address of a physical function names its virtual functions
  ['{"address": "0000:3d:00.0", "product_id": "37c8"}', ['0000:3d:01.0']],
  ['{"address": {"domain": "0000", "bus": "3d", "slot": "00", "function": "0"}}', ['0000:3d:01.0']],
  ['{"address": {"domain": ".*", "bus": "3[bd]", "slot": "0[0-1]", "function": "[04]$"}}', ['0000:3d:01.0']],
  ['[{"product_id": "37c9"}, {"product_id": "154c", "traits": "a-b"}]', ['0000:18:02.0', '0000:3d:01.0']],
  ['{"vendor_id": "ffff"}', []],
])('device_spec %s takes what is offered here', async (spec, addresses) => {
  expect(offeredTwice(await overlapsOf(`[pci]\ndevice_spec = ${spec}`))).toEqual(addresses)
})
test('who has the physical function has the virtual ones, and the other way round', async () => {
  const [pf, vf] = ['{"product_id":"1000"}', '{"product_id":"1001"}']
  const one = await overlapsOf(`[pci]\ndevice_spec=${pf}`, '{"address": "0000:d0:00.2"}', sysfs)
  expect(one[0]).toContain(`Nova passes its physical function 0000:d0:00.0 through: [pci] device_spec ${pf}`)
  const other = await overlapsOf(`[pci]\ndevice_spec=${vf}`, '{"product_id": "1000", "mode": "pf"}', sysfs)
  expect(other[0]).toContain('Nova passes 7 of its virtual functions through, such as 0000:d0:00.1')
})
/** Of both files oslo.config makes the same: sections, repeated keys, quotes, lines that go on, stand-ins. */
test.each([
  ['the older names of the option', '[DEFAULT]\npci_passthrough_whitelist = {"product_id": "37c9"}'],
  ['a name of the first releases', '[pci]\npassthrough_whitelist = {"product_id": "37c9"}'],
  ['a section in capitals, and a colon', '# a comment\n; another\n[PCI]\ndevice_spec: {"product_id": "37c9"}  '],
  ['a value of several lines', '[pci]\r\ndevice_spec = [\r\n  {"product_id":\r\n\t"37c9"}\r\n  ]\r\n\r\na = b'],
  [
    'a value that stands elsewhere',
    '[pci]\ndevice_spec = {"product_id": "${ids.of}c9"}\n[IDS]\nof = $other\nother = 37',
  ],
  ['a value of the section DEFAULT', '[DEFAULT]\nid = 37c9\n[pci]\ndevice_spec = {"product_id": "$id"}'],
])('%s is understood', async (_, text) => {
  expect(offeredTwice(await overlapsOf(text))).toEqual(['0000:3d:01.0'])
})
test.each([
  ['[pci]\ndevice_spec =', '2: pci.device_spec: must be JSON, an object or a list of objects'],
  ['[pci]\ndevice_spec = ["8086"]', '2: pci.device_spec: must be an object'],
  ['[pci]\ndevice_spec = {"vendor_id": "intel"}', '2: pci.device_spec.vendor_id: must be hex text or *, is "intel"'],
  [
    '[pci]\ndevice_spec = {"address": "0:0:0:0.0"}',
    '2: pci.device_spec.address: must have the form domain:bus:slot.function',
  ],
  [
    '[pci]\ndevice_spec = {"address": {"bus": "("}}',
    '2: pci.device_spec.address.bus: must be a regular expression, is "("',
  ],
  [
    '[pci]\ndevice_spec = {"address": "*", "devname": "e"}',
    '2: pci.device_spec: must not have both address and devname',
  ],
  ['[pci]\ndevice_spec = $nothing', '2: $nothing must be set in the files that are named'],
  ['[pci]\ndevice_spec = $device_spec', '2: $device_spec leads back to itself'],
  ['a = 1', '1: a must stand in a section'],
  ['[pci', '1: a section must have the form [name]'],
  ['[pci]\nnothing', '2: the line must be a section, a comment, or have = or :'],
  ['[pci]\n\n too late', '3: the line continues nothing: it must not begin with a space'],
  [
    '[devices]\nenabled_mdev_types=a\n[vgpu_a]\ndevice_addresses = x',
    "4: device_addresses: must be PCI addresses with commas, has 'x'",
  ],
])('%j is a problem with its line and its rule', async (text, problem) => {
  expect((await overlapsOf(text)).join('\n')).toContain(`one.conf:${problem}`)
})
test('functions that Nova divides into mediated devices overlap: those it names, else those that can be divided so', async () => {
  const divided = join(folder.path, 'divided')
  const gpu = { vendor: '0x10de', device: '0x1eb8', class: '0x030200' }
  const tree = {
    bus: {
      pci: {
        devices: { '0000:84:00.0': { '->': '../../../devices/a' }, '0000:85:00.0': { '->': '../../../devices/b' } },
      },
    },
    devices: { a: { ...gpu, mdev_supported_types: { 'nvidia-35': {} } }, b: gpu },
  }
  const root = join(recordedFolder(divided, tree), 'root')
  const of = async (...lines: readonly string[]) =>
    offeredTwice(await overlapsOf(`[devices]\n${lines.join('\n')}`, '{}', root))
  expect(await of('enabled_mdev_types = nvidia-35, nvidia-36')).toEqual(['0000:84:00.0'])
  expect(await of('enabled_vgpu_types = nvidia-36')).toEqual([])
  expect(await of('enabled_mdev_types = nvidia-35', '[mdev_nvidia-35]', 'device_addresses = 0000:85:00.0')).toEqual([
    '0000:85:00.0',
  ])
})
