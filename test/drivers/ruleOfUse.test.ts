/** Which PCI functions are given to guests: the one rule that all drivers ask, when they look and at each bind. */
import { describe, expect, test } from 'vitest'
import { never } from './driver.contract.ts'
import { driverOf, lookedAt, machine, mdevs, type Part, type Parts, slotAt, vgpu } from './machines.ts'
import type { RecordedHost, Tree } from './recordedHostIo.ts'

const [PF, VF, OTHER] = ['0000:81:00.0', '0000:81:00.4', '0000:82:00.0'] as const
const A40 = '10de:2235 030200'
const MDEV = 'aaaaaaaa-1111-4222-8333-444444444444'
const everything = { pci: { whitelist: [{}] } }
const rows = (is: string, driver?: 'id_table_driver') => {
  const [vendor = '', device = ''] = is.split(' ')[0]!.split(':')
  const row = { vendor, product: device, lastProduct: device, type: 'GPU' as const, family: null, name: 'n' }
  return { ...row, vfOf: null, driver: driver ?? 'id_table_driver', resourceClass: null, traits: [], pciClass: '' }
}
/** Each driver that could offer the functions. */
const looks = async (parts: Parts, more: Tree = {}) => {
  const [first] = Object.values(parts)
  const drivers = {
    pci_driver: driverOf('pci_driver', everything),
    nvidia_gpu_driver: driverOf('nvidia_gpu_driver'),
    id_table_driver: driverOf('id_table_driver', { cards: [rows(first!.is)] }),
  }
  return Promise.all(
    Object.entries(drivers)
      .filter(([name]) => name !== 'nvidia_gpu_driver' || first!.is.startsWith('10de'))
      .map(async ([name, driver]) => ({
        name,
        ...(await lookedAt(driver, machine(parts, more))),
      })),
  )
}
const leftOutByAll = async (parts: Parts, address: string, reason: string, more: Tree = {}) => {
  for (const { name, offered, left } of await looks(parts, more)) {
    expect({ name, offered }).toEqual({ name, offered: expect.not.arrayContaining([address]) })
    expect(left[address], name).toContain(reason)
  }
}
const refused = async (io: RecordedHost, address: string, name = 'pci_driver', options: object = everything) =>
  driverOf(name, options)
    .prepare(io, slotAt(address), never)
    .then(
      () => null,
      (error: Error) => error.message,
    )
const VFIO_NAMES = [
  'vfio-pci',
  'mlx5_vfio_pci',
  'hisi_acc_vfio_pci',
  'pds_vfio_pci',
  'virtio_vfio_pci',
  'nvgrace_gpu_vfio_pci',
  'qat_vfio_pci',
  'xe-vfio-pci',
]

describe('USE-1 a physical function with virtual ones is left out by every driver', () => {
  const parts = { [PF]: { is: A40, driver: 'nvidia' }, [VF]: { is: A40, driver: 'nvidia', physfn: PF } }
  test('also where no table knows the id of the virtual one', async () => {
    await leftOutByAll(parts, PF, 'it has virtual functions')
    const other = { ...parts, [VF]: { is: '1002:75b0 120000', driver: 'vfio-pci', physfn: PF } }
    await leftOutByAll(other, PF, 'it has virtual functions')
    expect(await refused(machine(other), PF)).toContain(`${PF} is not given to a guest: it has virtual functions`)
  })
  test('and bare virtual functions of NVIDIA are no GPUs, unless an entry says so', async () => {
    await leftOutByAll(parts, VF, 'only with a type of vGPU')
    const named = driverOf('pci_driver', { pci: { whitelist: [{ vendor_id: '10de', mode: 'vf' }] } })
    expect((await lookedAt(named, machine(parts))).offered).toEqual([VF])
    await named.prepare(machine(parts), slotAt(VF), never)
  })
  test('unless its entry says that it is meant, while nobody has a part of it', async () => {
    const pf = () => driverOf('pci_driver', { pci: { whitelist: [{ vendor_id: '10de', mode: 'pf' }] } })
    expect((await lookedAt(pf(), machine(parts))).offered).toEqual([PF])
    await pf().prepare(machine(parts), slotAt(PF), never)
    const taken: readonly (readonly [Part, string])[] = [
      [{ is: A40, driver: 'nvidia', more: vgpu(1148) }, 'it is a vGPU of type 1148'],
      [{ is: A40, driver: 'nvidia', more: { mdev_supported_types: mdevs('nvidia-1', 0, [MDEV]) } }, MDEV],
    ]
    for (const [part, by] of taken) {
      const io = machine({ ...parts, [VF]: { ...part, physfn: PF } })
      const { offered, left } = await lookedAt(pf(), io)
      expect([offered, left[PF]]).toEqual([[], expect.stringContaining(`its virtual function ${VF}: `)])
      expect(left[PF]).toContain(by)
    }
    const opened = machine({ ...parts, [VF]: { is: A40, driver: 'qat_vfio_pci', enable: 1, physfn: PF } })
    expect((await lookedAt(pf(), opened)).used[PF]).toContain(`its virtual function ${VF}: a process has opened it`)
    await expect(pf().prepare(opened, slotAt(PF), never)).rejects.toThrow('a process has opened it')
  })
})

describe('USE-2 what others have parts of is not given as a whole', () => {
  test.each([
    ['a mediated device', { mdev_supported_types: mdevs('nvidia-222', 3, [MDEV]) }, `mediated device ${MDEV}`],
    ['a type of vGPU', vgpu(1152), 'it is a vGPU of type 1152'],
  ])('%s', async (_what, more, reason) => {
    const parts = { [PF]: { is: A40, driver: 'nvidia', more } }
    await leftOutByAll(parts, PF, reason)
    expect(await refused(machine(parts), PF)).toContain(reason)
    expect(await refused(machine(parts), PF, 'nvidia_gpu_driver', {})).toContain(reason)
  })
})

describe('USE-5 what a process has opened', () => {
  test.each(VFIO_NAMES)('through %s stays offered, is named as in use, and is given to nobody else', async (driver) => {
    const parts = { [PF]: { is: A40, driver, enable: 1 }, [OTHER]: { is: A40, driver, enable: 0 } }
    for (const { name, offered, used } of await looks(parts)) {
      expect({ name, offered }).toEqual({ name, offered: [PF, OTHER] })
      expect(used).toEqual({ [PF]: `a process has opened it through ${driver}` })
    }
    expect(await refused(machine(parts), PF)).toContain('a process has opened it')
    expect(await refused(machine(parts), OTHER)).toBe(null)
  })
  test('through a driver of any name that the kernel shows as one for guests', async () => {
    const more = { 'vfio-dev': { vfio0: {} } }
    expect(await refused(machine({ [PF]: { is: A40, driver: 'acme', enable: 1, more } }), PF)).toContain('acme')
    // NVIDIA's driver goes on serving what is a vGPU
    const own = { ...more, ...vgpu(0) }
    expect(await refused(machine({ [PF]: { is: A40, driver: 'nvidia', enable: 1, more: own } }), PF)).toBe(null)
  })
  test('is prepared again for the request that has it, after its host has lost what it knew', async () => {
    const io = machine({ [PF]: { is: A40, driver: 'vfio-pci', enable: 1 } })
    await driverOf('pci_driver', everything).prepare(io, { ...slotAt(PF), again: true }, never)
  })
  test('by its physical function is given to nobody', async () => {
    const vf = { is: '8086:1889 020000', driver: 'vfio-pci', physfn: PF }
    const parts = (enable: number) => ({ [PF]: { is: '8086:1592 020000', driver: 'vfio-pci', enable }, [VF]: vf })
    expect(await refused(machine(parts(1)), VF)).toContain('its physical function: a process has opened it')
    expect(await refused(machine(parts(0)), VF)).toBe(null)
  })
})

describe('USE-3 what this machine needs', () => {
  const screen = (status: string): Tree => ({
    drm: { card1: { 'card1-HDMI-A': { status: `${status}\n` }, power: {} } },
  })
  const gpu = (more: Tree, driver = 'nvidia'): Parts => ({ [PF]: { is: '10de:2684 030000', driver, more } })
  test('a GPU with a display is left out', async () => {
    await leftOutByAll(gpu(screen('connected')), PF, 'a display is connected to its output HDMI-A')
    await leftOutByAll(gpu({ boot_vga: '1\n', ...screen('connected') }), PF, 'output HDMI-A')
    await leftOutByAll(gpu({ boot_vga: '1\n' }), PF, 'boot_vga')
    expect(await refused(machine(gpu(screen('connected'))), PF)).toContain('a display is connected')
  })
  test('also where the card cannot tell whether one is connected, and shows a picture', async () => {
    const lit = { drm: { card1: { 'card1-VGA': { status: 'unknown\n', enabled: 'enabled\n' } } } }
    await leftOutByAll(gpu(lit), PF, 'a display is connected to its output VGA')
  })
  test('one without any, or that is kept for guests, is offered', async () => {
    const free = [gpu({ boot_vga: '1\n', ...screen('disconnected') }), gpu({ boot_vga: '0\n' })]
    for (const parts of [...free, gpu({ boot_vga: '1\n' }, 'vfio-pci'), gpu(screen('unknown'))])
      for (const { name, offered } of await looks(parts)) expect({ name, offered }).toEqual({ name, offered: [PF] })
  })
  test('the function through which an OFS board is programmed is left out by an entry for its kind, and not its others', async () => {
    const board = Object.fromEntries([0, 1, 2].map((n) => [`0000:b1:00.${n}`, { is: '8086:bcce 120000' }]))
    const driver = (entry: object) => driverOf('pci_driver', { pci: { whitelist: [{ vendor_id: '8086', ...entry }] } })
    const { offered, left } = await lookedAt(driver({}), machine(board))
    expect([offered, left]).toEqual([
      ['0000:b1:00.1', '0000:b1:00.2'],
      { '0000:b1:00.0': expect.stringContaining('its card is programmed through it') },
    ])
    await expect(driver({}).prepare(machine(board), slotAt('0000:b1:00.0'), never)).rejects.toThrow(
      'programmed through',
    )
    const meant = driver({ mode: 'pf', address: '0000:b1:00.0' })
    expect((await lookedAt(meant, machine(board))).offered).toEqual(['0000:b1:00.0'])
    await meant.prepare(machine(board), slotAt('0000:b1:00.0'), never)
    // a board that has no other is given whole
    const alone = machine({ [PF]: { is: '8086:bcce 120000' } })
    expect((await lookedAt(driver({}), alone)).offered).toEqual([PF])
  })
  const nic = (vpd: string | null, is = '15b3:1021 020700'): Parts => ({
    [PF]: { is, driver: 'mlx5_core', more: vpd === null ? {} : { vpd } },
  })
  test('what manages the links of GPUs is left out, by what it says of itself', async () => {
    await leftOutByAll(nic('\x82\x08\x00ConnectX\x90\x0e\x00V3\x0bSMDL=SW_MNG'), PF, 'it manages the NVLink')
    for (const parts of [nic('\x82\x08\x00ConnectX'), nic(null)])
      expect((await lookedAt(driverOf('id_table_driver'), machine(parts))).offered).toEqual([PF])
    expect(await refused(machine(nic('SMDL=SW_MNG')), PF, 'id_table_driver', {})).toContain('it manages the NVLink')
  })
  test('of which it cannot be said is left out; what was said once counts while it cannot', async () => {
    const broken = (parts: Parts) => {
      const io = machine(parts)
      const head = () => Promise.reject(Object.assign(new Error('EIO: vpd'), { code: 'EIO' }))
      return { io, broken: { ...io, head } as RecordedHost }
    }
    const { io, broken: host } = broken(nic('fine'))
    const driver = driverOf('id_table_driver')
    expect((await lookedAt(driver, host)).left[PF]).toBe(
      'whether it manages the links of GPUs cannot be said: EIO: vpd',
    )
    expect((await lookedAt(driver, io)).offered).toEqual([PF])
    expect((await lookedAt(driver, host)).offered).toEqual([PF])
    const ethernet = broken(nic('fine', '15b3:1021 020000')).broken
    expect((await lookedAt(driverOf('id_table_driver'), ethernet)).offered).toEqual([PF])
  })
})

describe('USE-4 what cannot reach a guest is left out', () => {
  test('a PCI domain above ffff, also where an entry names it', async () => {
    const address = '10000:e1:00.0'
    const parts = { [address]: { is: A40, driver: 'nvidia' } }
    await leftOutByAll(parts, address, 'its PCI domain 10000 is above ffff')
    const named = driverOf('pci_driver', { pci: { whitelist: [{ address }] } })
    expect((await lookedAt(named, machine(parts))).left).toEqual({ [address]: expect.stringContaining('above ffff') })
    const gpu = { types: ['nvidia-222'], addresses: { 'nvidia-222': [address] } }
    const divided = { [address]: { is: A40, more: { mdev_supported_types: mdevs('nvidia-222', 16) } } }
    const look = await lookedAt(driverOf('nvidia_gpu_driver', { gpu }), machine(divided))
    expect([look.offered, look.left[address]]).toEqual([[], expect.stringContaining('above ffff')])
  })
  test('a bridge to other buses, also where an entry takes it', async () => {
    const bridge = { [PF]: { is: '8086:347a 060400', driver: 'pcieport' } }
    await leftOutByAll(bridge, PF, 'it is a bridge to other buses')
    expect(await refused(machine(bridge), PF)).toContain('it is a bridge to other buses')
  })
  const shared = (more: Parts, own: Partial<Part> = {}): Parts => ({
    [PF]: { is: A40, driver: 'nvidia', group: 7, ...own },
    ...more,
  })
  const audio = (driver?: string): Parts => ({ '0000:81:00.1': { is: '10de:10f7 040300', driver, group: 7 } })
  test('a function that shares its IOMMU group with one of the machine', async () => {
    const reason = 'it shares IOMMU group 7 with 0000:81:00.1 (snd_hda_intel): a guest gets all of a group or nothing'
    await leftOutByAll(shared(audio('snd_hda_intel')), PF, reason)
    expect(await refused(machine(shared(audio('snd_hda_intel'))), PF)).toContain(reason)
    await leftOutByAll(shared(audio('snd_hda_intel'), { driver: 'vfio-pci', enable: 0 }), PF, reason)
    const others = { [OTHER]: { is: A40, driver: 'nvidia', group: 7 } }
    await leftOutByAll(shared(others), OTHER, `with ${PF} (nvidia)`)
    await leftOutByAll({ [PF]: { is: A40 }, [OTHER]: { is: A40, group: 1 } }, PF, 'it is in no IOMMU group')
  })
  test('also where that is a bridge that leads to no other bus, as an ISA bridge or an NVSwitch', async () => {
    for (const [is, driver] of [
      ['8086:a305 060100', 'lpc_ich'] as const,
      ['10de:22a3 068000', 'nvidia-nvswitch'] as const,
    ])
      await leftOutByAll(shared({ '0000:00:1f.0': { is, driver, group: 7 } }), PF, `with 0000:00:1f.0 (${driver})`)
  })
  test('but not beside bridges and what is kept for guests, nor while a guest has it, nor without any IOMMU', async () => {
    const bridge = { '0000:80:01.0': { is: '8086:2030 060400', driver: 'pcieport', group: 7 } }
    const fine = [shared(bridge), shared(audio('xe-vfio-pci')), shared(audio('pci-stub')), shared(audio())]
    const opened = shared(audio('snd'), { driver: 'vfio-pci', enable: 1 })
    for (const parts of [...fine, opened, { [PF]: { is: A40, driver: 'nvidia' } }])
      expect((await lookedAt(driverOf('nvidia_gpu_driver'), machine(parts))).offered).toEqual([PF])
  })
  test('the two functions of an Alveo card go together, where both are given', async () => {
    const card = (driver: string): Parts => ({
      [PF]: { is: '10ee:5000 120000', driver: 'xclmgmt', group: 7 },
      '0000:81:00.1': { is: '10ee:5001 120000', driver: 'xocl', group: 7 },
      [OTHER]: { is: '8086:1592 020000', driver, group: 7 },
    })
    const driver = driverOf('xilinx_fpga_driver', { fpga: { fpgaconf: '', xrtFolder: '', withManagement: true } })
    const io = machine(card('vfio-pci'))
    expect((await lookedAt(driver, io)).offered).toEqual([PF, '0000:81:00.1'])
    for (const address of [PF, '0000:81:00.1']) await driver.prepare(io, slotAt(address), never)
    const look = await lookedAt(driver, machine(card('ice')))
    expect([look.offered, look.left[PF]]).toEqual([[], expect.stringContaining(`with ${OTHER} (ice)`)])
    await expect(driver.prepare(machine(card('ice')), slotAt(PF), never)).rejects.toThrow('(ice)')
  })
  test('of an Intel FPGA the virtual functions that can be given are, and the others are named', async () => {
    const region: Tree = { fpga_region: { region0: { 'dfl-fme.0': {} } } }
    const parts: Parts = {
      [PF]: { is: '8086:0b2b 120000', driver: 'dfl-pci', group: 1, more: region },
      '0000:81:00.1': { is: '8086:0b2c 120000', driver: 'vfio-pci', group: 2, physfn: PF },
      '0000:81:00.2': { is: '8086:0b2c 120000', driver: 'vfio-pci', group: 1, physfn: PF },
    }
    const { devices, offered, left } = await lookedAt(driverOf('intel_fpga_driver'), machine(parts))
    expect([offered, devices[0]!.deployables[0]!.numAccelerators]).toEqual([['0000:81:00.1'], 1])
    expect(left['0000:81:00.2']).toContain(`with ${PF} (dfl-pci)`)
  })
})
