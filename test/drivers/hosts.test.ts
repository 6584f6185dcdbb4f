/** Whole machines, written after public listings of real ones: what is offered of them, and why the rest is not. */
import { describe, expect, test } from 'vitest'
import type { DriverOptions } from '../../src/drivers/index.ts'
import { judged } from './judged.ts'
import { driverOf, lookedAt, machine, mdevs, type Part, type Parts, vgpu } from './machines.ts'
import type { RecordedHost, Tree } from './recordedHostIo.ts'

const hex = (n: number): string => n.toString(16).padStart(2, '0')
/** The addresses of virtual functions behind a physical one, from the first on. */
const behind = (pf: string, first: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `${pf.slice(0, 8)}${hex((first + i) >> 3)}.${(first + i) & 7}`)
/** A card with virtual functions. */
const divided = (pf: string, own: Part, virtual: readonly string[], part: (n: number) => Part): Parts => ({
  [pf]: own,
  ...Object.fromEntries(virtual.map((address, n) => [address, { ...part(n), physfn: pf }])),
})
/** Each function in a group of its own, but those that say another one. */
const apart = (parts: Parts): Parts =>
  Object.fromEntries(Object.entries(parts).map(([address, one], n) => [address, { group: n + 100, ...one }]))

const scanned = async (io: RecordedHost, enabledDrivers: readonly string[], options: DriverOptions = {}) => {
  const looks = await Promise.all(enabledDrivers.map((name) => lookedAt(driverOf(name, options), io)))
  const found = looks.flatMap(({ devices }) => devices)
  const units = found.flatMap(({ deployables }) => deployables)
  const passable = await judged(io, enabledDrivers, options)
  return {
    /** By address, how many units. */
    totals: Object.fromEntries(units.map(({ name, numAccelerators }) => [name.slice(3), numAccelerators])),
    sum: units.reduce((sum, { numAccelerators }) => sum + numAccelerators, 0),
    stubs: found.filter(({ stub }) => stub).length,
    handles: units.flatMap(({ handles }) => handles.map(({ type }) => type)),
    programmable: units.filter((one) => one.programmable).map(({ name }) => name.slice(3)),
    left: Object.assign({}, ...looks.map(({ left }) => left)) as Readonly<Record<string, string>>,
    advice: Object.fromEntries([...passable].map(([about, { advice }]) => [about, advice])),
  }
}
const gpuOptions = (addresses: Readonly<Record<string, readonly string[]>>, most = {}): DriverOptions => ({
  gpu: { types: Object.keys(addresses), addresses, most },
})
const NVIDIA = ['nvidia_gpu_driver']
const BARE = 'a virtual function of an NVIDIA GPU is a GPU only with a type of vGPU (gpu_devices.device_addresses)'
const HAS_VIRTUAL = 'it has virtual functions, which would go away with it'
const FOREIGN = 'aaaaaaaa-1111-4222-8333-444444444444'

test('an A16 board with mediated devices on virtual functions: vGPUs where they are configured, no bare functions', async () => {
  const cards = ['0000:41:00.0', '0000:42:00.0', '0000:43:00.0', '0000:44:00.0']
  const gpu = { is: '10de:25b6 030200', driver: 'nvidia' }
  const functions = cards.map((pf) => behind(pf, 4, 16))
  const parts = cards.map((pf, card) =>
    divided(pf, gpu, functions[card]!, (n) => {
      const foreign = card === 0 && n === 15
      const types = {
        ...mdevs('nvidia-710', foreign ? 0 : 1, foreign ? [FOREIGN] : [], 4),
        ...mdevs('nvidia-711', card === 0 ? 0 : 1, [], 2),
      }
      return { ...gpu, more: { mdev_supported_types: types } }
    }),
  )
  const options = gpuOptions(
    { 'nvidia-710': functions[0]!, 'nvidia-711': functions[1]! },
    { 'nvidia-710': 4, 'nvidia-711': 2 },
  )
  const { sum, handles, left } = await scanned(machine(apart(Object.assign({}, ...parts))), NVIDIA, options)
  // of the first card somebody else has one already
  expect([sum, new Set(handles)]).toEqual([5, new Set(['MDEV'])])
  expect(left[functions[0]![15]!]).toContain(FOREIGN)
  for (const pf of cards) expect(left[pf]).toBe(HAS_VIRTUAL)
  for (const vf of [...functions[2]!, ...functions[3]!]) expect(left[vf]).toBe(BARE)
})

test('two L40S that the vendor divides: vGPUs of the configured one, and no advice that would end them', async () => {
  const [one, other] = ['0000:3d:00.0', '0000:e1:00.0']
  const gpu = { is: '10de:26b9 030200', driver: 'nvidia' }
  const [first, second] = [behind(one, 4, 32), behind(other, 4, 32)]
  const parts = {
    ...divided(one, gpu, first, (n) => ({ ...gpu, more: vgpu(n < 2 ? 1148 : 0) })),
    ...divided(other, gpu, second, (n) => ({ ...gpu, more: vgpu(n === 0 ? 1152 : 0) })),
  }
  const options = gpuOptions({ 'nvidia-1148': first }, { 'nvidia-1148': 6 })
  const { totals, sum, left, advice } = await scanned(machine(apart(parts)), NVIDIA, options)
  expect([sum, Object.keys(totals).filter((at) => totals[at] === 1)]).toEqual([4, first.slice(2, 6)])
  expect([left[first[0]!], left[one], left[other]]).toEqual([
    expect.stringContaining('somebody else made'),
    ...[HAS_VIRTUAL, HAS_VIRTUAL],
  ])
  for (const vf of second) expect(left[vf]).toBe(BARE)
  for (const vf of first.slice(2, 6)) expect(advice[vf]).toBe(null)
})

test('four T4 with mediated devices: as many as each can still make, and why one makes none', async () => {
  const addresses = ['0000:3b:00.0', '0000:5e:00.0', '0000:af:00.0', '0000:d8:00.0']
  const parts = addresses.map((address, n): Parts => {
    const types = {
      ...mdevs('nvidia-222', n === 1 ? 0 : 16),
      ...mdevs('nvidia-230', 13, n === 1 ? [FOREIGN] : []),
      ...mdevs('nvidia-231', n === 1 ? 0 : 8, [], 8),
      ...mdevs('nvidia-234', n === 1 ? 0 : 1, [], 1),
    }
    return { [address]: { is: '10de:1eb8 030200', driver: 'nvidia', more: { mdev_supported_types: types } } }
  })
  const options = gpuOptions({
    'nvidia-222': addresses.slice(0, 2),
    'nvidia-231': [addresses[2]!],
    'nvidia-234': [addresses[3]!],
  })
  const { totals, left } = await scanned(machine(apart(Object.assign({}, ...parts))), NVIDIA, options)
  expect(addresses.map((address) => totals[address])).toEqual([16, 0, 8, 1])
  expect(left).toEqual({
    [addresses[1]!]: 'no vGPU of nvidia-222 can be made now: vGPUs of other types use what it needs',
  })
})

test('a workstation: neither its display nor a GPU whose sound and USB functions it uses', async () => {
  const parts: Parts = {
    '0000:01:00.0': {
      ...{ is: '10de:2684 030000', driver: 'nvidia', group: 15 },
      more: { boot_vga: '1\n', drm: { card0: { 'card0-VGA': { status: 'connected\n' } } } },
    },
    '0000:01:00.1': { is: '10de:22ba 040300', driver: 'snd_hda_intel', group: 15 },
    '0000:21:00.0': { is: '10de:1e07 030000', driver: 'nvidia', group: 27, more: { boot_vga: '0\n' } },
    '0000:21:00.1': { is: '10de:10f7 040300', driver: 'snd_hda_intel', group: 27 },
    '0000:21:00.2': { is: '10de:1ad6 0c0330', driver: 'xhci_hcd', group: 27 },
  }
  const { sum, left } = await scanned(machine(parts), NVIDIA)
  expect([sum, left]).toEqual([
    0,
    {
      '0000:01:00.0': 'a display is connected to its output VGA',
      '0000:21:00.0': expect.stringContaining('with 0000:21:00.1 (snd_hda_intel), 0000:21:00.2 (xhci_hcd)'),
    },
  ])
  expect(left['0000:21:00.0']).toContain('bind the others to vfio-pci')
})

test('Intel FPGA cards of four kinds are four devices', async () => {
  const fpga = (device: string) => ({ is: `8086:${device} 120000` })
  const port = (id: string): Tree => ({ 'dfl-port.0': { afu_id: `${id.repeat(32)}\n` } })
  const fme = (id: string): Tree => ({
    'dfl-fme.0': { 'dfl-fme-region.1': { fpga_region: { region1: { compat_id: `${id.repeat(32)}\n` } } } },
  })
  const dfl = (device: string, region: Tree): Part => ({
    ...{ ...fpga(device), driver: 'dfl-pci' },
    more: { fpga_region: { region0: region } },
  })
  const opae: Tree = {
    'intel-fpga-dev.0': { 'intel-fpga-fme.0': { pr: { interface_id: `${'a'.repeat(32)}\n` } } },
  }
  const [arria, n3000, d5005, ofs] = ['0000:5e:00.0', '0000:b2:00.0', '0000:d8:00.0', '0000:b1:00.0'] as const
  const guests = { driver: 'vfio-pci', enable: 0 }
  const parts: Parts = {
    ...divided(arria, { ...fpga('09c4'), driver: 'intel-fpga-pci', more: { fpga: opae } }, behind(arria, 1, 1), () => ({
      ...{ ...fpga('09c5'), ...guests },
    })),
    [n3000]: dfl('0b30', { 'dfl-fme.0': {}, ...port('b') }),
    ...divided(d5005, dfl('0b2b', { ...fme('c'), ...port('0') }), behind(d5005, 1, 1), () => dfl('0b2c', port('d'))),
    ...divided(ofs, dfl('bcce', { ...fme('e'), ...port('0') }), behind(ofs, 5, 3), () => ({
      ...{ ...fpga('bccf'), ...guests },
    })),
    ...Object.fromEntries([1, 4].map((n) => [`0000:b1:00.${n}`, { ...fpga('bcce'), ...guests }])),
    '0000:b1:00.2': fpga('bcce'),
    '0000:b1:00.3': { is: '1af4:1000 120000', driver: 'virtio-pci' },
  }
  const { totals, stubs, programmable, advice } = await scanned(machine(apart(parts)), ['intel_fpga_driver'])
  expect([totals, stubs]).toEqual([{ [arria]: 1, [n3000]: 1, [d5005]: 1, [ofs]: 5 }, 0])
  // with the virtual functions those that are kept for guests, and never the one through which the card is programmed
  expect(Object.keys(advice).filter((at) => at.startsWith('0000:b1'))).toEqual(
    [1, 4, 5, 6, 7].map((n) => `0000:b1:00.${n}`),
  )
  // a board without a region has nothing to write to, and is shown by its kernel driver all the same
  expect([programmable.toSorted(), advice[n3000]]).toEqual([[arria, ofs, d5005].toSorted(), null])
  const unserved = machine(apart(Object.fromEntries(Object.entries(parts).filter(([at]) => /:b1:00\.[124]$/.test(at)))))
  expect((await scanned(unserved, ['intel_fpga_driver'])).stubs).toBe(1)
})

test('network cards with virtual functions are left out themselves, whichever driver knows these', async () => {
  const nic = (ids: string, driver: string) => ({ is: `${ids} 020000`, driver })
  const [divisible, e810] = ['0000:3b:00.0', '0000:d8:00.0'] as const
  const parts: Parts = {
    ...divided(divisible, nic('15b3:101d', 'mlx5_core'), behind(divisible, 2, 4), () =>
      nic('15b3:101e', 'mlx5_vfio_pci'),
    ),
    '0000:3c:00.0': nic('15b3:101d', 'mlx5_core'),
    ...divided(e810, nic('8086:1592', 'ice'), behind(e810, 8, 2), () => nic('8086:1889', 'iavf')),
  }
  const { totals, left } = await scanned(machine(apart(parts)), ['id_table_driver', 'intel_nic_driver'])
  expect([totals['0000:3c:00.0'], totals['0000:d8:01.0'], totals['0000:d8:01.1']]).toEqual([1, 1, 1])
  for (const pf of [divisible, e810]) expect([totals[pf], left[pf]]).toEqual([undefined, expect.any(String)])
})

test('Intel GPUs: the virtual functions of one that has them, and the others whole', async () => {
  const flex = { is: '8086:56c0 038000', driver: 'i915' }
  const pf = '0000:4d:00.0'
  const virtual = behind(pf, 1, 5)
  const parts: Parts = {
    ...divided(pf, flex, virtual, () => ({ ...flex, driver: 'vfio-pci' })),
    '0000:57:00.0': { is: '8086:56c1 038000', driver: 'i915' },
  }
  const { totals, left } = await scanned(machine(apart(parts)), ['id_table_driver'])
  expect(Object.keys(totals).toSorted()).toEqual([...virtual, '0000:57:00.0'].toSorted())
  expect(left).toEqual({ [pf]: HAS_VIRTUAL })
})

describe('drives behind Intel VMD', () => {
  const drive = { is: '144d:a80a 010802', driver: 'nvme', group: 6 }
  const parts: Parts = {
    '0000:5d:05.5': { is: '8086:28c0 010400', driver: 'vmd', group: 6 },
    '10000:e1:00.0': drive,
    '10000:e2:00.0': drive,
  }
  const proc = { '1': { mountinfo: '' } }
  test.each<[readonly string[], DriverOptions]>([
    [['nvme_ssd_driver'], {}],
    [['pci_driver'], { pci: { whitelist: [{ address: '10000:e1:00.0' }, { address: '10000:e2:00.0' }] } }],
  ])('are left out by %j', async (enabled, options) => {
    const { totals, left } = await scanned(machine(parts, { proc }), enabled, options)
    const reason = 'its PCI domain 10000 is above ffff, and Nova passes on none of those'
    expect([totals, left]).toEqual([{}, { '10000:e1:00.0': reason, '10000:e2:00.0': reason }])
  })
})

test('Grace Hopper: GPUs with their domains, their own driver in the advice, and the console left out', async () => {
  const parts: Parts = {
    '0009:01:00.0': { is: '10de:2342 030200', driver: 'nvgrace_gpu_vfio_pci', enable: 1 },
    '0019:01:00.0': { is: '10de:2348 030200', driver: 'nvidia' },
    '0029:01:00.0': { is: '10de:2348 030200', driver: 'vfio-pci' },
    '000f:01:00.0': { is: '10de:2e12 030000', driver: 'nvidia', more: { boot_vga: '1\n' } },
  }
  const { totals, left, advice } = await scanned(machine(apart(parts)), NVIDIA)
  expect(totals).toEqual({ '0009:01:00.0': 1, '0019:01:00.0': 1, '0029:01:00.0': 1 })
  expect(left).toEqual({ '000f:01:00.0': expect.stringContaining('boot_vga') })
  expect(advice['0009:01:00.0']).toBe(null)
  expect(advice['0019:01:00.0']).toContain('driverctl set-override 0019:01:00.0 nvgrace-gpu-vfio-pci')
  expect(advice['0029:01:00.0']).toBe('bind it to nvgrace-gpu-vfio-pci')
})

test('HGX B200: the GPUs and the network cards of tenants, not what manages NVLink', async () => {
  const parts = Object.fromEntries(
    Array.from({ length: 12 }, (_, n): [string, Part] => [
      `0000:${hex(n + 5)}:00.0`,
      {
        ...{ is: '15b3:1021 020700', driver: 'mlx5_core' },
        more: { vpd: n < 4 ? '\x90\x10\x00V3\x0bSMDL=SW_MNG' : '\x90\x10\x00V3\x0bSMDL=NIC' },
      },
    ]),
  )
  const { sum, left } = await scanned(machine(apart(parts)), ['id_table_driver'])
  expect([sum, Object.keys(left)]).toEqual([8, ['0000:05:00.0', '0000:06:00.0', '0000:07:00.0', '0000:08:00.0']])
})
