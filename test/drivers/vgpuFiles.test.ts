/** The files by which GPUs are divided: what the kernel may say there, and what the driver makes of each answer. */
import { describe, expect, test } from 'vitest'
import type { Driver, HostIo, Slot } from '../../src/drivers/driver.ts'
import { driverOf as named } from './machines.ts'
import { never } from './driver.contract.ts'
import { recordedHostIo, type Tree } from './recordedHostIo.ts'
import { pciTree } from './trees.ts'

const ADDRESS = '0000:af:00.0'
const TYPE = 'nvidia-223'
const driverOf = (type = TYPE): Driver => {
  const gpu = { types: [type], addresses: { [type]: [ADDRESS] } }
  return named('nvidia_gpu_driver', { gpu })
}
const host = (more: Tree) =>
  recordedHostIo({ sys: pciTree({ [ADDRESS]: { vendor: '10de', device: '1eb8', class: '030200', more } }) }, 'h1')
const FOLDER = `/sys/bus/pci/devices/${ADDRESS}`
const INFO = { bus: 'af', device: '00', domain: '0000', function: '0' }
const failing = (io: HostIo, wanted: string, code: string): HostIo => {
  const refuse = (path: string) =>
    path.endsWith(wanted) ? Promise.reject(Object.assign(new Error(`${code}: ${path}`), { code })) : null
  return {
    ...io,
    read: (path) => refuse(path) ?? io.read(path),
    list: (path) => refuse(path) ?? io.list(path),
    write: (path, text) => refuse(path) ?? io.write(path, text),
  }
}

describe('a mediated device', () => {
  const TYPES = `${FOLDER}/mdev_supported_types/${TYPE}`
  const type = (files: Tree) =>
    host({ mdev_supported_types: { [TYPE]: { name: 'GRID T4-2B\n', create: '', devices: {}, ...files } } })
  const handlesOf = async (io: HostIo) => (await driverOf().discover(io))[0]!.deployables[0]!.numAccelerators
  const slot: Slot = {
    ...{ uuid: 'u-1', deployable: `h1_${ADDRESS}`, type: 'MDEV' },
    info: { ...INFO, asked_type: TYPE, vgpu_mark: `${TYPE}_0` },
  }
  test.each<[Tree, number]>([
    [{ available_instances: ' 12\n' }, 12],
    [{ available_instances: '5000' }, 4096],
    [{ available_instances: '5', description: 'x=1, max_instance=3, y\n' }, 3],
    [{ available_instances: '5', description: 'xmax_instance=3' }, 5],
    [{ available_instances: '9', description: 'max_instance=4', devices: { x: {}, y: {} } }, 2],
    [{ available_instances: '9', description: 'max_instance=1', devices: { x: {}, y: {} } }, 0],
  ])('is one of as many as the kernel says %#', async (files, count) =>
    expect(await handlesOf(type(files))).toBe(count),
  )
  test.each(['', 'x', '-1', '1 2', '1234567', 'y'.repeat(50)])(
    'of which the kernel says %j is an error with the beginning of it',
    async (text) =>
      await expect(handlesOf(type({ available_instances: text }))).rejects.toThrow(
        `${TYPES}/available_instances: must be a number, is '${text.slice(0, 40)}'`,
      ),
  )
  const named = `mediated device u-1 of ${TYPE} at ${ADDRESS}: `
  test('is made by its UUID, unless it is there; whoever was faster has made it as well', async () => {
    const io = type({ available_instances: '3' })
    await driverOf().prepare(io, slot, never)
    expect(await io.read(`${TYPES}/create`)).toBe('u-1')
    const there = type({ available_instances: '3', devices: { 'u-1': {} } })
    await driverOf().prepare(there, slot, never)
    expect(await there.read(`${TYPES}/create`)).toBe('')
    const taken = type({ available_instances: '3' })
    const write: HostIo['write'] = async (path, text) => {
      if (!path.endsWith('/create')) return taken.write(path, text)
      taken.tree(`${TYPES}/devices`)['u-1'] = {}
      throw Object.assign(new Error('EEXIST: write'), { code: 'EEXIST' })
    }
    await driverOf().prepare({ ...taken, write }, slot, never)
    for (const code of ['EEXIST', 'ENOSPC'])
      await expect(
        driverOf().prepare(failing(type({ available_instances: '3' }), '/create', code), slot, never),
      ).rejects.toThrow(`${named}${code}: ${TYPES}/create`)
  })
  test('is removed, also where there is none any more; any other error is told', async () => {
    const made = async (devices: Tree) => {
      const io = type({ available_instances: '3' })
      await driverOf().prepare(io, slot, never)
      io.tree(TYPES)['devices'] = devices
      return io
    }
    const io = await made({ 'u-1': { remove: '' } })
    await expect(driverOf().release(failing(io, '/remove', 'EBUSY'), slot, never)).rejects.toThrow(
      `${named}EBUSY: ${TYPES}/devices/u-1/remove`,
    )
    await driverOf().release(io, slot, never)
    expect(await io.read(`${TYPES}/devices/u-1/remove`)).toBe('1')
    for (const code of ['ENOENT', 'ENODEV'])
      await driverOf().release(failing(await made({ 'u-1': { remove: '' } }), '/remove', code), slot, never)
    await driverOf().release(await made({}), slot, never)
  })
})

describe('a function that is configured for a type', () => {
  const stubOf = async (io: HostIo) => (await driverOf().discover(io)).map(({ stub = false }) => stub)
  const reasonsOf = (io: HostIo) => driverOf().leftOut!(io)
  test.each<[string, Tree, string]>([
    [
      'offers none at all',
      {},
      `type ${TYPE} is configured for it, and it offers no vGPU types (is its vGPU driver loaded?)`,
    ],
    [
      'has a file where a folder should be',
      { nvidia: '' },
      `type ${TYPE} is configured for it, and it offers no vGPU types (is its vGPU driver loaded?)`,
    ],
    ['offers an empty list', { mdev_supported_types: {} }, `type ${TYPE} is configured for it, and it offers none`],
    [
      'offers others',
      { mdev_supported_types: { b: {}, a: {} } },
      `type ${TYPE} is configured for it, and it offers a, b`,
    ],
    [
      'is a vGPU of another type',
      { nvidia: { creatable_vgpu_types: '223 : T4\n', current_vgpu_type: '222\n' } },
      `it is a vGPU of type 222 now, which is not ${TYPE}`,
    ],
  ])('and %s is shown and not used, with the reason', async (_, more, reason) => {
    expect(await stubOf(host(more))).toEqual([true])
    expect(await reasonsOf(host(more))).toEqual([{ address: ADDRESS, reason }])
  })
  test.each(['creatable_vgpu_types', 'current_vgpu_type', 'mdev_supported_types'])(
    'and whose %s cannot be read fails the look: nothing is concluded',
    async (file) => {
      const io = host({
        mdev_supported_types: {},
        nvidia: { creatable_vgpu_types: '', current_vgpu_type: '0' },
      })
      await expect(driverOf().discover(failing(io, file, 'EIO'))).rejects.toThrow(`EIO: ${FOLDER}`)
    },
  )
})

test('a type that was never called anything has the trait of its id', async () => {
  const io = host({ nvidia: { creatable_vgpu_types: '', current_vgpu_type: '0\n' } })
  const traitsOf = async () => {
    const [device] = await driverOf().discover(io)
    return device!.deployables[0]!.attributes.map(({ value }) => value)
  }
  expect(await traitsOf()).toContain('CUSTOM_NVIDIA_1EB8_NVIDIA_223')
  await io.write('/state/nvidia_gpu_driver.made.json', `{"made":{},"names":{"${TYPE}":""}}`)
  expect(await traitsOf()).toContain('CUSTOM_NVIDIA_1EB8_NVIDIA_223')
})

describe('a slot', () => {
  const vfio = () => host({ nvidia: { creatable_vgpu_types: '223 : T4\n', current_vgpu_type: '0\n' } })
  const slot = (more: Partial<Slot>): Slot => ({ uuid: 'u-1', deployable: 'd', type: 'MDEV', info: INFO, ...more })
  test.each<[Partial<Slot>, string]>([
    [{ info: {} }, 'slot u-1: info must hold a PCI address'],
    [{}, 'slot u-1: info must name asked_type and vgpu_mark'],
    [{ info: { ...INFO, asked_type: TYPE } }, 'slot u-1: info must name asked_type and vgpu_mark'],
    [{ info: { ...INFO, vgpu_mark: 'm' } }, 'slot u-1: info must name asked_type and vgpu_mark'],
    [{ info: { ...INFO, asked_type: '../x', vgpu_mark: 'm' } }, 'slot u-1: info must name asked_type and vgpu_mark'],
    [{ info: { ...INFO, asked_type: TYPE, vgpu_mark: 'm', bus: 'b0' } }, 'slot u-1: no PCI device 0000:b0:00.0 on h1'],
  ])('of %j is refused, and nothing is noted', async (more, reason) => {
    const io = vfio()
    await expect(driverOf().prepare(io, slot(more), never)).rejects.toThrow(reason)
    expect(io.kept()).toEqual({})
  })
  test('whose vGPU could not be made is not remembered', async () => {
    const io = vfio()
    await expect(
      driverOf().prepare(failing(io, '/current_vgpu_type', 'EIO'), slot({ type: 'PCI' }), never),
    ).rejects.toThrow('EIO')
    const refusing: HostIo = {
      ...io,
      write: async () => Promise.reject(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })),
    }
    await expect(driverOf().prepare(refusing, slot({ type: 'PCI' }), never)).rejects.toThrow('ENOSPC')
    expect(JSON.parse(io.kept()['/state/nvidia_gpu_driver.made.json'] ?? '{"made":{}}')).toMatchObject({ made: {} })
  })
  test('is neither prepared nor released when its time is over', async () => {
    const io = vfio()
    const over = AbortSignal.abort(new Error('over'))
    await expect(driverOf().prepare(io, slot({ type: 'PCI' }), over)).rejects.toThrow('over')
    await expect(driverOf().release(io, slot({ type: 'PCI' }), over)).rejects.toThrow('over')
    expect([io.kept(), await io.read(`${FOLDER}/nvidia/current_vgpu_type`)]).toEqual([{}, '0\n'])
  })
})

describe('what is remembered of vGPUs', () => {
  const FILE = '/state/nvidia_gpu_driver.made.json'
  const tree = () => ({ nvidia: { creatable_vgpu_types: '', current_vgpu_type: '0\n' } })
  test('is made again, or told with its place, its type and the reason', async () => {
    const io = host(tree())
    const made = {
      one: { address: ADDRESS, type: TYPE, mark: '' },
      two: { address: ADDRESS, type: 'nvidia-9', mark: '' },
      three: { address: 'nowhere', type: TYPE, mark: 'm' },
    }
    await io.write(FILE, JSON.stringify({ made }))
    expect(await driverOf().restore!(io, never)).toBe(false)
    expect(await io.read(`${FOLDER}/nvidia/current_vgpu_type`)).toBe('223')
    expect(io.warnings).toEqual([
      {
        event: 'vgpu_not_restored',
        detail: {
          uuid: 'two',
          address: ADDRESS,
          type: 'nvidia-9',
          reason: `${ADDRESS} is a vGPU of type 223 already, and not of nvidia-9`,
        },
      },
      {
        event: 'vgpu_not_restored',
        detail: { uuid: 'three', address: 'nowhere', type: TYPE, reason: 'nowhere: is not a PCI address' },
      },
    ])
    await expect(driverOf().restore!(io, AbortSignal.abort(new Error('over')))).rejects.toThrow('over')
  })
  test('is nothing without a file, and an error with a damaged one', async () => {
    expect(await driverOf().restore!(host(tree()), never)).toBe(true)
    for (const text of ['{}', '[]', '{"made":{"u":{"address":"a","type":"t"}}}', '{"made":{},"names":{"a":1}}']) {
      const io = host(tree())
      await io.write(FILE, text)
      await expect(driverOf().restore!(io, never)).rejects.toThrow(FILE)
    }
  })
})
