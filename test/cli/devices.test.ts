/** `accelerando device scan` and `record`, against recorded hosts on a disk. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { unpackRecording } from '../drivers/recordedHostIo.ts'
import { pciTree } from '../drivers/trees.ts'
import { commandHere } from '../support/commandHere.ts'
import { tempFolder } from '../support/program.ts'
import { recordedFolder } from '../support/recordedFolder.ts'

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
  const at = out.indexOf('All PCI functions of this machine:\n')
  const lines = out.slice(at).split('\n').slice(1)
  expect(lines[0]).toMatch(/^ADDRESS +VENDOR:PRODUCT +CLASS +OFFERED +WHITELIST ENTRY THAT OFFERS IT$/)
  expect(lines.find((line) => line.startsWith('0000:0a:00.0'))).toMatch(/ dead:\S{4} .* yes +-$/)
  // the functions are recorded, the routes and the network are those of this machine
  expect(lines.find((line) => line.startsWith('0000:00:03.0'))).toMatch(
    / (?:yes|no: (?:the default route of the host leads through|whether the host needs) eth0\b.*) +-$/,
  )
  expect(lines.find((line) => line.startsWith('0000:0a:00.1'))).toMatch(
    / 1b36:0010 +010802 storage +no: no whitelist entry takes it +\{"vendor_id":"1b36","product_id":"0010"\}$/,
  )
  expect(lines.slice(6)).toEqual([
    '',
    expect.stringMatching(/^To offer what a driver finds, add the driver to enabled_drivers\./),
    expect.stringMatching(
      /^takes every device of its vendor and product. Never offer a device that this machine needs/,
    ),
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

const mixed = join(folder.path, 'mixed')
unpackRecording('mixed-host', mixed) // the network is that of this machine, which has none of the recorded interfaces
rmSync(join(mixed, 'class/net'), { recursive: true })

const ENABLED = { ACCELERANDO_PCI_SYSFS_ROOT: mixed, ACCELERANDO_ENABLED_DRIVERS: 'nvidia_gpu_driver,intel_nic_driver' }

test('what each driver finds, what Placement would be told, and what is left out', async () => {
  const { code, out } = await scan(ENABLED)
  expect(code).toBe(0)
  const line = (start: string) => out.split('\n').find((one) => one.startsWith(start))
  expect(line('DRIVER')).toMatch(/^DRIVER +DEVICE +TYPE +MODEL +UNITS +CLASS +TRAITS$/)
  expect(out).toMatch(/^nvidia_gpu_driver +0000:af:00\.0 +GPU +T4 +1 +PGPU +CUSTOM_NVIDIA_1EB8 CUSTOM_GPU_NVIDIA_T4$/m)
  expect(out).toMatch(/^huawei_ascend_driver \(not enabled\) +0000:81:00\.0 +AICHIP /m)
  // a control would refuse the physical function beside its virtual one, so it is not shown as offered
  expect(out).not.toMatch(/^nvidia_gpu_driver +0000:3b:00\.0 +GPU/m)
  expect(out).toMatch(/^nvidia_gpu_driver +0000:3b:00\.0 +it has virtual functions, which would go away with it$/m)
  expect(out).toMatch(/^intel_nic_driver +0000:18:00\.0 +its virtual functions are offered instead$/m)
})

test('a first scan, with nothing enabled yet, judges whether what is found can be passed on', async () => {
  const { out } = await scan({ ACCELERANDO_PCI_SYSFS_ROOT: mixed }, '--json')
  const { passing_on: judged } = JSON.parse(out) as { passing_on: readonly { about: string; verdict: string }[] }
  const gpu = judged.find(({ about }) => about === '0000:af:00.0')
  // the recorded host has no IOMMU
  expect(gpu?.verdict).toBe('problem')
})

test('the same as JSON', async () => {
  const { out } = await scan(ENABLED, '--json')
  const { drivers } = JSON.parse(out) as {
    drivers: readonly { driver: string; enabled: boolean; devices: readonly object[] }[]
  }
  const nic = drivers.find(({ driver }) => driver === 'intel_nic_driver')!
  expect(nic.enabled).toBe(true)
  expect(nic.devices).toContainEqual({
    address: '0000:18:00.0',
    type: 'NIC',
    vendor: '0x8086',
    model: 'miss_model_info',
    usable: true,
    deployables: [
      {
        name: expect.stringMatching(/_0000:18:02\.0$/),
        attach_handles: [{ type: 'PCI', info: { bus: '18', device: '02', domain: '0000', function: '0' } }],
        bitstream_id: null,
        placement: {
          provider: expect.stringMatching(/_0000:18:02\.0$/),
          resource_class: 'CUSTOM_NIC',
          total: 1,
          traits: ['CUSTOM_VF', 'OWNER_CYBORG'],
        },
      },
    ],
  })
})

test('a driver that fails is named with its reason, and the others are shown', async () => {
  const types = join(mixed, 'devices/pci0000:af/0000:af:00.0/mdev_supported_types')
  mkdirSync(join(types, 'nvidia-1'), { recursive: true })
  writeFileSync(join(types, 'nvidia-1/available_instances'), 'many')
  const { code, out } = await scan({
    ...ENABLED,
    ACCELERANDO_GPU_DEVICES_ENABLED_VGPU_TYPES: 'nvidia-1',
    ACCELERANDO_GPU_DEVICES_DEVICE_ADDRESSES: '{"nvidia-1": ["0000:af:00.0"]}',
  })
  rmSync(types, { recursive: true })
  expect(code).toBe(0)
  expect(out.split('\n')[0]).toMatch(/^nvidia_gpu_driver failed: .*available_instances: must be a number, is 'many'$/)
  expect(out).toMatch(/^intel_nic_driver +0000:18:02\.0 +NIC /m)
})

test('a recorded host shows elsewhere what it showed here', async () => {
  const recording = join(folder.path, 'recording')
  const record = (...args: readonly string[]) =>
    commandHere(['devices', 'record', ...args], { ...ENABLED, ACCELERANDO_DATA: data })
  const made = await record(recording)
  expect([made.code, made.err]).toEqual([0, ''])
  expect(made.out).toBe(`recorded in ${recording}: look through it before you send it to anybody\n`)
  const here = await scan(ENABLED, '--json')
  const there = await scan(ENABLED, '--json', '--from', recording)
  expect(there.err).toBe('')
  expect(JSON.parse(there.out)).toEqual(JSON.parse(here.out))
  const again = await record(recording)
  expect([again.code, again.err]).toEqual([1, `${recording}: must be a new or empty folder\n`])
  const nothing = await scan(ENABLED, '--from', data)
  expect([nothing.code, nothing.err]).toEqual([
    1,
    `${join(data, 'commands.json')}: is not a recording of a host, which accelerando device record makes\n`,
  ])
})

test('no entry is advised for the management function of an Alveo card, and none offers it', async () => {
  const [management, user] = ['0000:3b:00.0', '0000:3b:00.1']
  const card = { vendor: '10ee', device: '5020', class: '120000' }
  const recording = join(folder.path, 'alveo')
  const sys = pciTree({ [management]: card, [user]: { ...card, device: '5021' } })
  recordedFolder(recording, { sys })
  const shown = async (entries: string, more = {}) => {
    const env = { ACCELERANDO_PCI_SYSFS_ROOT: '/sys', ACCELERANDO_ENABLED_DRIVERS: 'pci_driver', ...more }
    const given = { ...env, ACCELERANDO_PCI_PASSTHROUGH_WHITELIST: entries }
    const { out } = await scan(given, '--json', '--from', recording)
    const { devices } = JSON.parse(out) as {
      devices: readonly { offered: boolean; reason: string | null; whitelist_entry: unknown }[]
    }
    const { out: text } = await scan(given, '--from', recording)
    expect(text).not.toContain('"product_id":"5020"')
    return devices.map(({ offered, reason, whitelist_entry: entry }) => [offered, reason, entry])
  }
  const stays = 'it is the management function of its card, which stays with the host'
  expect(await shown('')).toEqual([
    [false, stays, null],
    [false, 'no whitelist is set', { vendor_id: '10ee', product_id: '5021' }],
  ])
  expect(await shown('[{"vendor_id": "10ee"}]')).toEqual([
    [false, stays, null],
    [true, null, null],
  ])
  expect(await shown('[{"vendor_id": "10ee"}]', { ACCELERANDO_FPGA_ALVEO_MANAGEMENT: 'true' })).toEqual([
    [true, null, null],
    [true, null, null],
  ])
})

test('a function that the whitelist takes is not shown as offered where its driver leaves it out, or fails', async () => {
  const [whole, divided] = ['0000:3b:00.0', '0000:3c:00.0']
  const gpu = { vendor: '10de', device: '20f1', class: '030200' }
  const gpus = {
    [whole]: { information: 'Device Minor: 0\n' },
    [divided]: { information: 'Device Minor: 1\n' },
  }
  const nvidia = { gpus, capabilities: { gpu0: {}, gpu1: { mig: { gi1: {} } } } }
  const recording = join(folder.path, 'divided')
  const tree = { sys: pciTree({ [whole]: gpu, [divided]: gpu }), proc: { driver: { nvidia } } }
  recordedFolder(recording, tree)
  const env = {
    ACCELERANDO_PCI_SYSFS_ROOT: '/sys',
    ACCELERANDO_ENABLED_DRIVERS: 'pci_driver',
    ACCELERANDO_PCI_PASSTHROUGH_WHITELIST: '[{"vendor_id": "10de"}]',
  }
  const shown = async () => {
    const { out } = await scan(env, '--json', '--from', recording)
    const { devices } = JSON.parse(out) as { devices: readonly { offered: boolean; reason: string | null }[] }
    return devices.map(({ offered, reason }) => ({ offered, reason }))
  }
  expect(await shown()).toEqual([
    { offered: true, reason: null },
    { offered: false, reason: 'it is divided into MIG instances (1)' },
  ])
  const { out } = await scan(env, '--from', recording)
  expect(out).toMatch(/^0000:3c:00\.0 +10de:20f1 +030200 display +no: it is divided into MIG instances \(1\) +-$/m)
  rmSync(join(recording, 'root/proc/driver/nvidia/gpus', divided, 'information'))
  mkdirSync(join(recording, 'root/proc/driver/nvidia/gpus', divided, 'information'))
  const reason = expect.stringMatching(/^pci_driver failed: .*EISDIR/)
  expect(await shown()).toEqual([
    { offered: false, reason },
    { offered: false, reason },
  ])
})

test('doctor --hardware judges what the enabled drivers find, and whether it can be passed on', async () => {
  const doctor = (env: Readonly<Record<string, string>>) =>
    commandHere(['doctor', '--hardware', '--json'], { ...ENABLED, ACCELERANDO_DATA: data, ...env })
  const { code, out } = await doctor({})
  expect(code).toBe(7)
  const findings = JSON.parse(out) as readonly { says: string; verdict: string }[]
  expect(findings.slice(0, 3)).toMatchObject([
    { check: 'hardware', verdict: 'ok', says: 'nvidia_gpu_driver finds 6 devices' },
    { check: 'hardware', verdict: 'ok', says: 'intel_nic_driver finds 2 devices' },
    { check: 'hardware', verdict: 'problem', says: expect.stringMatching(/^IOMMU: off/) },
  ])
  expect(out).not.toContain('flock')
  const bare = await doctor({ PATH: folder.path })
  expect(JSON.parse(bare.out)).toContainEqual(
    expect.objectContaining({ verdict: 'warning', says: expect.stringMatching(/^flock is not installed/) }),
  )
  const blind = await doctor({ ACCELERANDO_PCI_SYSFS_ROOT: join(folder.path, 'nothing') })
  expect(blind.code).toBe(7)
  expect(JSON.parse(blind.out)).toMatchObject([{ check: 'hardware', verdict: 'problem' }])
})

test('a driver without what it asks on this host is told of only where it is enabled', async () => {
  const nowhere = { ACCELERANDO_SPDK_RPC_SOCKET: join(folder.path, 'spdk.sock') }
  expect((await scan(nowhere)).out).not.toContain('nvmf_spdk_driver')
  const enabled = await scan({ ...nowhere, ACCELERANDO_ENABLED_DRIVERS: 'nvmf_spdk_driver' })
  expect(enabled.out).toContain('nvmf_spdk_driver failed: ')
})

test('a recording shows nothing of this machine: links that leave it lead nowhere, and what is no file is not read', async () => {
  const recording = recordedFolder(join(folder.path, 'planted'), { sys: { bus: { pci: { devices: {} } } } })
  const devices = join(recording, 'root/sys/bus/pci/devices')
  symlinkSync(join(folder.path), join(devices, '0000:00:01.0'))
  mkdirSync(join(devices, '0000:00:02.0'))
  execFileSync('mkfifo', [join(devices, '0000:00:02.0/vendor')])
  const shown = async () => {
    const { out, err } = await scan({ ACCELERANDO_PCI_SYSFS_ROOT: '/sys' }, '--json', '--from', recording)
    return `${out}${err}`
  }
  expect(await shown()).toContain('ENOENT: /sys/bus/pci/devices/0000:00:01.0')
  rmSync(join(devices, '0000:00:01.0'))
  expect(await shown()).toContain('is no regular file in the recording')
  rmSync(join(recording, 'commands.json'))
  symlinkSync('/dev/zero', join(recording, 'commands.json'))
  expect((await scan({}, '--from', recording)).err).toContain(
    'is not a recording of a host, which accelerando device record',
  )
})
