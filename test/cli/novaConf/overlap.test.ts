/** Which devices of a recorded machine Nova's configuration takes although they are offered here. */
import { expect, test } from 'vitest'
import { compareWithNova } from '../../../src/cli/novaConf/overlap.ts'
import { novaDevicesIn } from '../../../src/cli/novaConf/novaDevices.ts'
import { readOslo } from '../../../src/cli/oslo/osloFile.ts'
import { settingsOf } from '../../../src/cli/oslo/settings.ts'
import { seenFunctions } from '../../../src/drivers/pci/scan.ts'
import { formatPciAddress } from '../../../src/pci.ts'
import { readWhitelist } from '../../../src/drivers/pci/whitelist.ts'
import { recordedHost, recordedHostIo } from '../../drivers/recordedHostIo.ts'

const novaOf = (conf: string) => novaDevicesIn(settingsOf([readOslo(conf, 'nova.conf').assignments]))
const EVERYTHING = {}

const offeredIn = (seen: Awaited<ReturnType<typeof seenFunctions>>): ReadonlySet<string> =>
  new Set(
    seen.flatMap(({ found, entry, leftOut }) =>
      entry !== null && leftOut === null ? [formatPciAddress(found.address)] : [],
    ),
  )

const compared = async (conf: string, whitelist: unknown = EVERYTHING, recording = 'mixed-host') => {
  const reading = readWhitelist(whitelist)
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  const io = { ...recordedHost(recording), write: async () => undefined }
  const seen = await seenFunctions(io, '/sys', reading.entries)
  return compareWithNova({ io, sysfsRoot: '/sys', seen, offered: offeredIn(seen) }, novaOf(conf))
}
const addressesFor = async (spec: string, whitelist?: unknown, recording?: string) => {
  const { overlaps } = await compared(`[pci]\ndevice_spec = ${spec}`, whitelist, recording)
  return overlaps.map(({ address }) => address)
}

test.each<readonly [spec: string, addresses: readonly string[]]>([
  ['{"vendor_id": "8086", "product_id": "37c9"}', ['0000:3d:01.0']],
  // the physical function is not offered here, since it has virtual ones
  ['{"vendor_id": "8086", "product_id": "37c8"}', ['0000:3d:01.0']],
  ['{"vendor_id": " 10DE", "product_id": "*", "address": "*:3b:00.4"}', ['0000:3b:00.4']],
  ['{"address": ":3b:.4", "physical_network": null}', ['0000:3b:00.4']],
  // an address of a physical function names its virtual functions
  ['{"address": "0000:3b:00.0", "product_id": "20f1"}', ['0000:3b:00.4']],
  ['{"address": {"domain": "0000", "bus": "3b", "slot": "00", "function": "0"}}', ['0000:3b:00.4']],
  [
    '{"address": {"domain": ".*", "bus": "3[bd]", "slot": "0[0-1]", "function": "[04]$"}}',
    ['0000:3b:00.4', '0000:3d:01.0'],
  ],
  ['{"devname": "ens24f0", "live_migratable": "yes", "trusted": "true"}', ['0000:18:02.0']],
  [
    '[{"product_id": "37c9"}, {"product_id": "154c", "resource_class": "any thing", "traits": "a-b"}]',
    ['0000:18:02.0', '0000:3d:01.0'],
  ],
  ['{"devname": "nobody0"}', []],
  ['{"vendor_id": "ffff"}', []],
])('%s', async (spec, addresses) => {
  expect(await addressesFor(spec)).toEqual(addresses)
})

test('what is not offered here does not overlap', async () => {
  const conf = '[pci]\ndevice_spec = {"vendor_id": "8086"}'
  expect((await compared(conf, { product_id: '20f1' })).overlaps).toEqual([])
  expect(await compared(conf, { vendor_id: '10de', address: '*:3b:00.4' })).toMatchObject({ offered: 1 })
})

test('each device is named, with what Nova does with it, and the line that says so', async () => {
  const { overlaps, offered, taken } = await compared(
    '[pci]\n\ndevice_spec = {"product_id": "1001", "physical_network": "a"}\ndevice_spec = {"product_id":"1000"}',
    [{ product_id: '1001', address: '*:*:*.1' }],
    'pci-sim',
  )
  expect([offered, taken]).toEqual([1, 8])
  expect(overlaps).toEqual([
    {
      address: '0000:d0:00.1',
      ids: '1d55:1001',
      how: 'Nova passes it through: [pci] device_spec {"product_id":"1001","physical_network":"a"} (nova.conf:3)',
    },
  ])
})

test('whoever has the physical function has the virtual ones, and the other way round', async () => {
  const [pf, vf] = ['{"product_id":"1000"}', '{"product_id":"1001"}']
  const one = await compared(`[pci]\ndevice_spec=${pf}`, { address: '0000:d0:00.2' }, 'pci-sim')
  expect(one.overlaps.map(({ how }) => how)).toEqual([
    `Nova passes its physical function 0000:d0:00.0 through: [pci] device_spec ${pf} (nova.conf:2)`,
  ])
  const whole = { product_id: '1000', mode: 'pf' }
  const other = await compared(`[pci]\ndevice_spec=${vf}`, whole, 'pci-sim')
  expect(other.overlaps).toMatchObject([
    {
      address: '0000:d0:00.0',
      how: `Nova passes 7 of its virtual functions through, such as 0000:d0:00.1: [pci] device_spec ${vf} (nova.conf:2)`,
    },
  ])
})

test('the older names of the option count as well', async () => {
  const conf = `[DEFAULT]
pci_passthrough_whitelist = {"product_id": "1000"}
[pci]
passthrough_whitelist = {"address": "*:d0:*.1"}
device_spec = {"address": "*:d0:*.2"}
`
  expect(novaOf(conf).specs.map(({ at }) => at)).toEqual(['nova.conf:2', 'nova.conf:4', 'nova.conf:5'])
})

const MDEV_TREE = {
  sys: {
    bus: {
      pci: {
        devices: { '0000:84:00.0': { '->': '../../../devices/a' }, '0000:85:00.0': { '->': '../../../devices/b' } },
      },
    },
    devices: {
      a: { vendor: '0x10de', device: '0x1eb8', class: '0x030200', mdev_supported_types: { 'nvidia-35': {} } },
      b: { vendor: '0x10de', device: '0x1eb8', class: '0x030200' },
    },
  },
}
const mdevs = async (conf: string) => {
  const reading = readWhitelist(EVERYTHING)
  const io = recordedHostIo(MDEV_TREE)
  const seen = await seenFunctions(io, '/sys', reading.ok ? reading.entries : [])
  const { overlaps } = await compareWithNova({ io, sysfsRoot: '/sys', seen, offered: offeredIn(seen) }, novaOf(conf))
  return overlaps.map(({ address, how }) => `${address} ${how}`)
}

test('functions that Nova divides into mediated devices overlap: those it names, else those that can be divided so', async () => {
  expect(await mdevs('[devices]\nenabled_mdev_types = nvidia-35, nvidia-36')).toEqual([
    '0000:84:00.0 Nova makes mediated devices nvidia-35 of it: [devices] enabled_mdev_types (nova.conf:2)',
  ])
  expect(await mdevs('[devices]\nenabled_vgpu_types = nvidia-36')).toEqual([])
  expect(
    await mdevs(
      '[devices]\nenabled_mdev_types = nvidia-35\n[mdev_nvidia-35]\ndevice_addresses = 0000:85:00.0,0000:86:00.0',
    ),
  ).toEqual(['0000:85:00.0 Nova makes mediated devices nvidia-35 of it: [mdev_nvidia-35] (nova.conf:4)'])
})

test.each<readonly [spec: string, rule: string]>([
  ['', 'pci.device_spec: must be JSON, an object or a list of objects'],
  ["{'vendor_id': '8086'}", 'pci.device_spec: must be JSON, an object or a list of objects'],
  ['["8086"]', 'pci.device_spec: must be an object'],
  ['{"vendor_id": "intel"}', `pci.device_spec.vendor_id: must be hex text or *, is "intel"`],
  ['{"address": "0:0:0:0.0"}', 'pci.device_spec.address: must have the form domain:bus:slot.function'],
  ['{"address": {"bus": "("}}', 'pci.device_spec.address.bus: must be a regular expression, is "("'],
  ['{"address": "*", "devname": "eth0"}', 'pci.device_spec: must not have both address and devname'],
])('%s is refused with its line and its rule, and other entries count', (spec, rule) => {
  const { specs, problems } = novaOf(`[pci]\ndevice_spec = ${spec}\ndevice_spec = {"vendor_id": "8086"}`)
  expect(specs).toMatchObject([{ entry: { vendorId: '8086' } }])
  expect(problems).toEqual([{ at: 'nova.conf:2', rule }])
})

test('an address of a type that is none is refused', () => {
  const { problems } = novaOf('[devices]\nenabled_mdev_types=a\n[vgpu_a]\ndevice_addresses = pci_0000_84_00_0')
  expect(problems).toEqual([
    { at: 'nova.conf:4', rule: "device_addresses: must be PCI addresses with commas, has 'pci_0000_84_00_0'" },
  ])
})
