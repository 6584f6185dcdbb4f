/** `nvidia_gpu_driver` with vGPUs, on a kernel that makes mediated devices (drivers.md 4). */
import { describe, expect, test } from 'vitest'
import type { Driver, Slot } from '../../src/drivers/driver.ts'
import { driverByName } from '../../src/drivers/index.ts'
import { driverOf as named } from './machines.ts'
import { never, slotsOf, uuidOf } from './driver.contract.ts'
import { type MdevKernel, withMdevKernel } from './mdevKernel.ts'
import { recordedHostIo, type Tree } from './recordedHostIo.ts'
import { pciTree, vgpuTree } from './trees.ts'

const ADDRESS = '0000:af:00.0'
const driverOf = (types: readonly string[] = ['nvidia-223'], address = ADDRESS): Driver => {
  const addresses = Object.fromEntries(types.map((type) => [type, [address]]))
  return named('nvidia_gpu_driver', { gpu: { types, addresses } })
}
const hostOf = (sys: Tree = vgpuTree()): MdevKernel => {
  const io = recordedHostIo({ sys })
  return withMdevKernel(io, io.tree, [ADDRESS])
}
const vgpuOf = async (driver: Driver, io: MdevKernel) =>
  (await driver.discover(io)).find(({ deployables }) => deployables[0]!.name.endsWith(ADDRESS))!
const marksOf = async (driver: Driver, io: MdevKernel) =>
  (await vgpuOf(driver, io)).deployables[0]!.handles.map(({ info }) => info['vgpu_mark'])
const vgpuSlots = async (driver: Driver, io: MdevKernel): Promise<readonly Slot[]> =>
  slotsOf(await driver.discover(io)).filter(({ type }) => type === 'MDEV')
const TYPES = `/sys/bus/pci/devices/${ADDRESS}/mdev_supported_types`
const madeOf = (io: MdevKernel, type = 'nvidia-223') => io.list(`${TYPES}/${type}/devices`)

describe('a divided GPU', () => {
  test('shows one attach handle for each vGPU that it can be divided into, as the contract has it', async () => {
    const [whole, divided] = await driverOf().discover(hostOf())
    expect(whole!.deployables[0]!.name).toBe('compute1_0000:b0:00.0')
    const { deployables, ...device } = divided!
    expect(device).toMatchObject({ type: 'GPU', vendor: '10de', vendorBoardInfo: '{"vendor_info": "gpu_vb_info"}' })
    const [{ handles, ...deployable }] = [deployables[0]!]
    expect(deployable).toEqual({
      name: `compute1_${ADDRESS}`,
      numAccelerators: 8,
      driverName: 'NVIDIA',
      attributes: [
        { key: 'rc', value: 'VGPU' },
        { key: 'trait0', value: 'OWNER_CYBORG' },
        { key: 'trait1', value: 'CUSTOM_NVIDIA_1EB8_T4_2B' },
      ],
      hostWork: true,
      programmable: false,
    })
    expect(handles).toHaveLength(8)
    expect(handles[7]).toEqual({
      type: 'MDEV',
      info: {
        asked_type: 'nvidia-223',
        bus: 'af',
        device: '00',
        domain: '0000',
        function: '0',
        vgpu_mark: 'nvidia-223_7',
      },
    })
    expect(Object.keys(handles[0]!.info)).toEqual(Object.keys(handles[0]!.info).toSorted())
  })

  test.each([
    ['GRID T4-1B', 'CUSTOM_NVIDIA_1EB8_T4_1B'],
    ['NVIDIA A100-4C', 'CUSTOM_NVIDIA_1EB8_A100_4C'],
    ['GRID A100D-1-10C', 'CUSTOM_NVIDIA_1EB8_A100D_1_10C'],
    ['NVIDIA RTX6000-Ada-48Q', 'CUSTOM_NVIDIA_1EB8_RTX6000_ADA_48Q'],
    ['Onlyword', 'CUSTOM_NVIDIA_1EB8_ONLYWORD'],
  ])('a type called %s has the trait %s', async (name, trait) => {
    const io = hostOf()
    ;(io.tree(TYPES)['nvidia-223'] as Tree)['name'] = `${name}\n`
    const { deployables } = await vgpuOf(driverOf(), io)
    expect(deployables[0]!.attributes.map(({ value }) => value)).toContain(trait)
  })

  test('makes a mediated device with the UUID of the attach handle, once, and removes it, once', async () => {
    const [driver, io] = [driverOf(), hostOf()]
    const [slot] = await vgpuSlots(driver, io)
    for (let n = 0; n < 2; n++) await driver.prepare(io, slot!, never)
    expect(await madeOf(io)).toEqual([slot!.uuid])
    for (let n = 0; n < 2; n++) await driver.release(io, slot!, never)
    expect(await madeOf(io)).toEqual([])
    expect(io.told).toEqual([`create ${slot!.uuid}`, `remove ${slot!.uuid}`])
  })

  describe('that a guest has opened', () => {
    const opened = async () => {
      const [driver, io] = [driverOf(), hostOf()]
      const [slot, other] = await vgpuSlots(driver, io)
      for (const one of [slot!, other!]) await driver.prepare(io, one, never)
      const made = io.tree(`${TYPES}/nvidia-223/devices`) as Record<string, Tree>
      made[slot!.uuid]!['iommu_group'] = { '->': '../../../kernel/iommu_groups/31' }
      made[other!.uuid]!['iommu_group'] = { '->': '../../../kernel/iommu_groups/32' }
      const guest: MdevKernel = {
        ...io,
        list: async (path) =>
          path === '/proc' ? ['1', '4711', 'self'] : path === '/proc/4711/fd' ? ['0', '9'] : io.list(path),
        link: async (path) => (path === '/proc/4711/fd/9' ? '/dev/vfio/31' : io.link(path)),
      }
      return { driver, io, guest, slot: slot!, other: other! }
    }
    test('is not removed, and the release fails at once with the reason; others of the card are released', async () => {
      const { driver, io, guest, slot, other } = await opened()
      await expect(driver.release(guest, slot, never)).rejects.toThrow(
        `mediated device ${slot.uuid} of nvidia-223 at ${ADDRESS}: a guest still has it: process 4711 has opened /dev/vfio/31`,
      )
      await driver.release(guest, other, never)
      expect(await madeOf(io)).toEqual([slot.uuid])
      await driver.release(io, slot, never)
      expect(await madeOf(io)).toEqual([])
    })
    test('is not made again once its release was begun, but for another preparation', async () => {
      const { driver, io, guest, slot, other } = await opened()
      await driver.release(guest, slot, never).catch(() => undefined)
      io.restart()
      await driverOf().restore!(io, never)
      expect(await madeOf(io)).toEqual([other.uuid])
      await driver.prepare(io, slot, never)
      io.restart()
      await driverOf().restore!(io, never)
      expect((await madeOf(io)).toSorted()).toEqual([slot.uuid, other.uuid].toSorted())
    })
  })

  test('does not take a failed write for success, also when the device is there', async () => {
    const [driver, io] = [driverOf(), hostOf()]
    const [slot] = await vgpuSlots(driver, io)
    const failing: MdevKernel = {
      ...io,
      write: async (path, text) => {
        await io.write(path, text)
        throw Object.assign(new Error('EIO: write'), { code: 'EIO' })
      },
    }
    await expect(driver.prepare(failing, slot!, never)).rejects.toThrow(/EIO/)
    expect(await madeOf(io)).toEqual([slot!.uuid])
  })
  test('shows as many handles whatever is made of them, and those that are made always', async () => {
    const [driver, io] = [driverOf(), hostOf()]
    const slots = await vgpuSlots(driver, io)
    const all = await marksOf(driver, io)
    for (const slot of slots.slice(5)) await driver.prepare(io, slot, never)
    expect(await marksOf(driver, io)).toEqual(all)
    for (const slot of slots.slice(0, 5)) await driver.prepare(io, slot, never)
    expect(await marksOf(driver, io)).toEqual(all)
  })

  test('a vGPU that somebody else made takes one handle away, and never one that is in use', async () => {
    const [driver, io] = [driverOf(), hostOf()]
    const slots = await vgpuSlots(driver, io)
    await driver.prepare(io, slots[7]!, never)
    const foreign = uuidOf(99)
    await io.write(`${TYPES}/nvidia-223/create`, foreign)
    expect(await marksOf(driver, io)).toEqual([0, 1, 2, 3, 4, 5, 7].map((n) => `nvidia-223_${n}`))
    expect(await driver.leftOut!(io)).toEqual([
      { address: ADDRESS, reason: `mediated device ${foreign} was made by somebody else, or is a leftover` },
    ])
    // and it is not ours to remove
    await driver.release(io, slots[0]!, never)
    expect(await madeOf(io)).toEqual([slots[7]!.uuid, foreign].toSorted())
  })

  test('while another type is in use there is nothing to give; afterwards the same handles are back', async () => {
    const [driver, io] = [driverOf(), hostOf()]
    const all = await marksOf(driver, io)
    const foreign = uuidOf(98)
    await io.write(`${TYPES}/nvidia-222/create`, foreign)
    expect(await marksOf(driver, io)).toEqual([])
    await io.write(`${TYPES}/nvidia-222/devices/${foreign}/remove`, '1')
    expect(await marksOf(driver, io)).toEqual(all)
  })

  test('says why nothing more can be made', async () => {
    const [driver, io] = [driverOf(), hostOf()]
    const slots = await vgpuSlots(driver, io)
    for (let n = 0; n < 8; n++) await io.write(`${TYPES}/nvidia-223/create`, uuidOf(100 + n))
    await expect(driver.prepare(io, slots[0]!, never)).rejects.toThrow(
      `mediated device ${slots[0]!.uuid} of nvidia-223 at ${ADDRESS}: ENOSPC`,
    )
    // it is not shown as one of ours afterwards
    expect(await marksOf(driver, io)).toEqual([])
  })

  test('what a restart of the machine undid is made again', async () => {
    const [driver, io] = [driverOf(), hostOf()]
    const slots = await vgpuSlots(driver, io)
    await driver.prepare(io, slots[0]!, never)
    await driver.prepare(io, slots[3]!, never)
    await driver.release(io, slots[0]!, never)
    io.restart()
    expect(await madeOf(io)).toEqual([])
    const again = driverOf()
    expect(await marksOf(again, io)).toHaveLength(8)
    await again.restore!(io, never)
    expect(await madeOf(io)).toEqual([slots[3]!.uuid])
    await again.restore!(io, never)
    expect(io.warnings).toEqual([])
  })

  test('what cannot be made again is told, and the rest is made', async () => {
    const [driver, io] = [driverOf(), hostOf()]
    const slots = await vgpuSlots(driver, io)
    for (const slot of slots.slice(0, 2)) await driver.prepare(io, slot, never)
    io.restart()
    for (let n = 0; n < 7; n++) await io.write(`${TYPES}/nvidia-223/create`, uuidOf(100 + n))
    await driverOf().restore!(io, never)
    expect(await madeOf(io)).toHaveLength(8)
    expect(io.warnings).toEqual([
      {
        event: 'vgpu_not_restored',
        detail: expect.objectContaining({ address: ADDRESS, reason: expect.stringContaining('ENOSPC') }),
      },
    ])
  })

  test('what is made is in use, and what others made is not taken for an attach handle', async () => {
    const [driver, io] = [driverOf(), hostOf()]
    const slots = await vgpuSlots(driver, io)
    await driver.prepare(io, slots[2]!, never)
    await io.write(`${TYPES}/nvidia-223/create`, uuidOf(97))
    expect(await driver.inUse!(io)).toEqual([
      { type: 'MDEV', info: slots[2]!.info, by: `mediated device ${slots[2]!.uuid}` },
    ])
  })

  test('what could not be made again is tried again until it is there', async () => {
    const [driver, io] = [driverOf(), hostOf()]
    const [slot] = await vgpuSlots(driver, io)
    await driver.prepare(io, slot!, never)
    io.restart()
    const types = io.tree(TYPES)
    const own = types['nvidia-223']!
    delete types['nvidia-223']
    const again = driverOf()
    expect(await again.restore!(io, never)).toBe(false)
    types['nvidia-223'] = own
    expect(await again.restore!(io, never)).toBe(true)
    expect(await madeOf(io)).toEqual([slot!.uuid])
  })

  test('a function that is not configured any more keeps its vGPUs, gives no more, and is not given as a whole', async () => {
    const [driver, io] = [driverOf(), hostOf()]
    const slots = await vgpuSlots(driver, io)
    await driver.prepare(io, slots[2]!, never)
    const plain = driverOf([])
    expect(await marksOf(plain, io)).toEqual(['nvidia-223_2'])
    await plain.release(io, slots[2]!, never)
    expect(await madeOf(io)).toEqual([])
    expect((await vgpuOf(plain, io)).deployables[0]!.attributes[0]!.value).toBe('PGPU')
  })

  test('a type that the card does not offer makes it unusable, not gone, and the others are shown', async () => {
    const [driver, io] = [driverOf(['nvidia-999']), hostOf()]
    const devices = await driver.discover(io)
    expect(devices.map(({ stub = false }) => stub)).toEqual([false, true])
    expect(await driver.leftOut!(io)).toEqual([
      { address: ADDRESS, reason: 'type nvidia-999 is configured for it, and it offers nvidia-222, nvidia-223' },
    ])
  })
})

describe('a virtual function that the vendor divides by files of its own', () => {
  const VF = '0000:3b:00.4'
  const tree = () =>
    pciTree({
      '0000:3b:00.0': { vendor: '10de', device: '233b', class: '030200' },
      [VF]: {
        vendor: '10de',
        device: '233b',
        class: '030200',
        physfn: '0000:3b:00.0',
        more: {
          nvidia: {
            creatable_vgpu_types: 'ID    : vGPU Name\n1414 : NVIDIA H200X-1-18C\n1415 : NVIDIA H200X-2-35C\n',
            current_vgpu_type: '0\n',
          },
        },
      },
    })
  const open = () => [driverOf(['nvidia-1414'], VF), recordedHostIo({ sys: tree() })] as const
  const files = `/sys/bus/pci/devices/${VF}/nvidia`
  const shown = async (driver: Driver, io: ReturnType<typeof open>[1]) =>
    (await driver.discover(io)).find(({ deployables }) => deployables[0]!.name.endsWith(VF))!.deployables[0]!

  test('becomes a vGPU when it is bound, and none again', async () => {
    const [driver, io] = open()
    const before = await shown(driver, io)
    expect(before).toMatchObject({ numAccelerators: 1, hostWork: true })
    expect(before.attributes.map(({ value }) => value)).toEqual([
      'VGPU',
      'OWNER_CYBORG',
      'CUSTOM_NVIDIA_233B_H200X_1_18C',
    ])
    const slot = { uuid: uuidOf(1), deployable: before.name, ...before.handles[0]! }
    for (let n = 0; n < 2; n++) await driver.prepare(io, slot, never)
    expect(await io.read(`${files}/current_vgpu_type`)).toBe('1414')
    // the kernel lists what can still be made
    await io.write(`${files}/creatable_vgpu_types`, '')
    expect(await shown(driver, io)).toEqual(before)
    expect(await driverOf(['nvidia-1414'], VF).inUse!(io)).toEqual([expect.objectContaining({ by: 'its vGPU exists' })])
    for (let n = 0; n < 2; n++) await driver.release(io, slot, never)
    expect(await io.read(`${files}/current_vgpu_type`)).toBe('0')
  })

  test.each([
    ['whose vGPU driver was unloaded', files],
    ['that is gone', `/sys/bus/pci/devices/${VF}`],
  ])('is released although it is one %s, and nothing else of it is remembered', async (_name, gone) => {
    const [driver, io] = open()
    const { name, handles } = await shown(driver, io)
    const slot = { uuid: uuidOf(1), deployable: name, ...handles[0]! }
    await driver.prepare(io, slot, never)
    expect(JSON.stringify(io.kept())).toContain(slot.uuid)
    io.remove(gone)
    await driver.release(io, slot, never)
    expect(JSON.stringify(io.kept())).not.toContain(slot.uuid)
  })

  test('has nothing to give while others use up its card', async () => {
    const [driver, io] = open()
    const before = await shown(driver, io)
    await io.write(`${files}/creatable_vgpu_types`, '')
    expect(await shown(driver, io)).toEqual({ ...before, numAccelerators: 0, handles: [] })
  })

  test('is not given, and not undone, when somebody else has made it', async () => {
    const [driver, io] = open()
    const { name, handles } = await shown(driver, io)
    await io.write(`${files}/current_vgpu_type`, '1414')
    expect(await shown(driver, io)).toMatchObject({ numAccelerators: 0, handles: [] })
    expect(await driver.leftOut!(io)).toContainEqual({
      address: VF,
      reason: 'it is a vGPU that somebody else made, or a leftover',
    })
    const slot = { uuid: uuidOf(1), deployable: name, ...handles[0]! }
    await expect(driver.prepare(io, slot, never)).rejects.toThrow(`${VF} is a vGPU already, which somebody else made`)
    await driver.release(io, slot, never)
    expect(await io.read(`${files}/current_vgpu_type`)).toBe('1414')
  })

  test('is not taken from whoever made another vGPU of it', async () => {
    const [driver, io] = open()
    const { name, handles } = await shown(driver, io)
    await io.write(`${files}/current_vgpu_type`, '1415')
    const slot = { uuid: uuidOf(1), deployable: name, ...handles[0]! }
    await expect(driver.prepare(io, slot, never)).rejects.toThrow(`${VF} is a vGPU of type 1415 already`)
    await driver.release(io, { ...slot, uuid: uuidOf(2) }, never)
    expect(await io.read(`${files}/current_vgpu_type`)).toBe('1415')
  })
})

describe('the configuration', () => {
  test.each([
    [
      { types: ['nvidia-1'], addresses: {} },
      'gpu_devices.device_addresses',
      'must have addresses for the enabled type nvidia-1',
    ],
    [
      { types: ['nvidia-1'], addresses: { 'nvidia-1': ['af:00.0'] } },
      'gpu_devices.device_addresses.nvidia-1',
      "must hold addresses like 0000:af:00.0, holds 'af:00.0'",
    ],
    [
      { types: ['a', 'b'], addresses: { a: ['0000:AF:00.0'], b: [ADDRESS] } },
      'gpu_devices.device_addresses.b',
      `${ADDRESS} is listed for a already`,
    ],
  ])('%j is refused', (gpu, field, rule) =>
    expect(driverByName('nvidia_gpu_driver', { gpu: { ...gpu } })).toEqual({
      ok: false,
      problems: [{ field, rule }],
    }),
  )
  test('addresses of a type that is not enabled mean nothing', async () => {
    const gpu = { types: [], addresses: { 'nvidia-223': [ADDRESS] } }
    const reading = driverByName('nvidia_gpu_driver', { gpu })
    const devices = reading.ok ? await reading.driver.discover(hostOf()) : []
    expect(devices.map(({ deployables }) => deployables[0]!.attributes[0]!.value)).toEqual(['PGPU', 'PGPU'])
  })
})
