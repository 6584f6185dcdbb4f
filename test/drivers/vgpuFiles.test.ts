/** The files by which GPUs are divided: what the kernel may say there, and what the driver makes of each answer. */
import { describe, expect, test } from 'vitest'
import type { Driver, HostIo, Slot } from '../../src/drivers/driver.ts'
import { driverByName } from '../../src/drivers/index.ts'
import { creatableTypes, vfioId } from '../../src/drivers/nvidia/division.ts'
import { marksOf, typeTrait } from '../../src/drivers/nvidia/vgpuReport.ts'
import { createMdev, readMdevType, removeMdev } from '../../src/drivers/pci/mdevFolder.ts'
import { parsePciAddress } from '../../src/pci.ts'
import { never, uuidOf } from './driver.contract.ts'
import { recordedHostIo, type Tree } from './recordedHostIo.ts'
import { pciTree } from './trees.ts'

const ADDRESS = '0000:af:00.0'
const TYPE = 'nvidia-223'
const driverOf = (type = TYPE): Driver => {
  const gpu = { types: [type], addresses: { [type]: [ADDRESS] } }
  const reading = driverByName('nvidia_gpu_driver', { gpu })
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  return reading.driver
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

describe('types that can be made', () => {
  test('are the lines with a number and a name', () => {
    const text =
      ' 1414 : NVIDIA H200X-1-18C \nID : vGPU Name\n1415:Two words\n1416 :\n1417 : \n: none\nx1418 : a\n1234567890 : b\n'
    expect([...creatableTypes(text)]).toEqual([
      ['1414', 'NVIDIA H200X-1-18C'],
      ['1415', 'Two words'],
    ])
  })
  test('are known by their number', () => expect(['nvidia-1414', 'a-b-7', '7'].map(vfioId)).toEqual(['1414', '7', '7']))
})
test('the trait of a type is that of the last word of its name', () =>
  expect(['GRID T4-1B ', 'A100--4c', '', 'x.y+z'].map((name) => typeTrait('1eb8', name))).toEqual([
    'CUSTOM_NVIDIA_1EB8_T4_1B',
    'CUSTOM_NVIDIA_1EB8_A100_4C',
    'CUSTOM_NVIDIA_1EB8_',
    'CUSTOM_NVIDIA_1EB8_X_Y_Z',
  ]))

describe('the handles of a function', () => {
  const marks = (
    given: Partial<Parameters<typeof marksOf>[1]>,
    mine: Readonly<Record<string, string>> = {},
    limit = Infinity,
  ) => marksOf('t', { name: '', available: 0, max: null, made: [], ...given }, new Map(Object.entries(mine)), limit)
  test('are as many as can be made, in the order of their numbers', () => {
    expect(marks({ available: 12 })).toEqual(Array.from({ length: 12 }, (_, n) => `t_${n}`))
    expect(marks({ available: 5000 })).toHaveLength(4096)
    expect(marks({ available: 5 }, {}, 2)).toEqual(['t_0', 't_1'])
    expect(marks({ available: 5, max: 3 })).toEqual(['t_0', 't_1', 't_2'])
    expect(marks({})).toEqual([])
  })
  test('are those of its own vGPUs first, and of foreign ones fewer', () => {
    // of two of its own, one is made already: the kernel does not count that one as available
    expect(marks({ available: 2, made: ['a'] }, { a: 't_7', b: 't_2' })).toEqual(['t_0', 't_2', 't_7'])
    expect(marks({ available: 2, max: 4, made: ['x', 'y'] })).toEqual(['t_0', 't_1'])
    expect(marks({ available: 9, max: 4, made: ['x', 'y', 'a'] }, { a: 't_0' })).toEqual(['t_0', 't_1'])
    expect(marks({ available: 9, max: 1, made: ['x', 'y'] })).toEqual([])
    expect(marks({}, { a: 't_3', b: 't_1' })).toEqual(['t_1', 't_3'])
  })
})

describe('a mediated device', () => {
  const AT = { sysfsRoot: '/sys', address: parsePciAddress(ADDRESS)!, type: TYPE }
  const types = `${FOLDER}/mdev_supported_types/${TYPE}`
  const type = (files: Tree) => host({ mdev_supported_types: { [TYPE]: files } })
  test('has a type with a name, a number of free ones and perhaps a limit', async () => {
    const files = { available_instances: ' 3\n', devices: { b: {}, a: {} } }
    expect(
      await readMdevType(type({ ...files, name: ' GRID T4 \n', description: 'x=1, max_instance=16, y\n' }), AT),
    ).toEqual({
      name: 'GRID T4',
      available: 3,
      max: 16,
      made: ['a', 'b'],
    })
    const least = { name: TYPE, available: 0, max: null, made: [] }
    for (const more of [
      {},
      { name: ' \n' },
      { description: 'xmax_instance=16' },
      { description: 'max_instance=1234567' },
    ])
      expect(await readMdevType(type({ available_instances: '0', ...more }), AT)).toEqual(least)
  })
  test.each(['', 'x', '-1', '1 2', '1234567'])(
    'of which the kernel says %j is an error',
    async (text) =>
      await expect(readMdevType(type({ available_instances: text }), AT)).rejects.toThrow(
        `${types}/available_instances: must be a number, is '${text}'`,
      ),
  )
  test('of which the kernel says very much is an error with the beginning of it', async () =>
    await expect(readMdevType(type({ available_instances: 'y'.repeat(50) }), AT)).rejects.toThrow(
      `is '${'y'.repeat(40)}'`,
    ))
  const named = `mediated device u-1 of ${TYPE} at ${ADDRESS}: `
  test('is made by its UUID, unless it is there; whoever was faster has made it as well', async () => {
    const io = type({ create: '', devices: {} })
    await createMdev(io, AT, 'u-1')
    expect(await io.read(`${types}/create`)).toBe('u-1')
    const there = type({ create: '', devices: { 'u-1': {} } })
    await createMdev(there, AT, 'u-1')
    expect(await there.read(`${types}/create`)).toBe('')
    const taken = type({ create: '', devices: {} })
    const faster: HostIo = {
      ...taken,
      write: async () => {
        taken.tree(`${types}/devices`)['u-1'] = {}
        throw Object.assign(new Error('EEXIST: write'), { code: 'EEXIST' })
      },
    }
    await createMdev(faster, AT, 'u-1')
    for (const code of ['EEXIST', 'ENOSPC'])
      await expect(createMdev(failing(type({ create: '', devices: {} }), '/create', code), AT, 'u-1')).rejects.toThrow(
        `${named}${code}: ${types}/create`,
      )
  })
  test('is removed, also where there is none any more; any other error is told', async () => {
    const io = type({ devices: { 'u-1': { remove: '' } } })
    await removeMdev(io, AT, 'u-1')
    expect(await io.read(`${types}/devices/u-1/remove`)).toBe('1')
    for (const code of ['ENOENT', 'ENODEV']) await removeMdev(failing(io, '/remove', code), AT, 'u-1')
    await removeMdev(host({}), AT, 'u-1')
    await expect(removeMdev(failing(io, '/remove', 'EBUSY'), AT, 'u-1')).rejects.toThrow(
      `${named}EBUSY: ${types}/devices/u-1/remove`,
    )
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
  test('is reported whole', async () => {
    const io = host({ nvidia: { creatable_vgpu_types: '223 : GRID T4-2B\n', current_vgpu_type: '0\n' } })
    const handle = { type: 'PCI', info: INFO }
    expect(await driverOf().discover(io)).toStrictEqual([
      {
        type: 'GPU',
        vendor: '10de',
        model: 'T4',
        stdBoardInfo: '{"product_id": "1eb8", "controller": "3D controller"}',
        vendorBoardInfo: '{"vendor_info": "gpu_vb_info"}',
        controlPath: { type: 'PCI', info: '{"bus": "af", "device": "00", "domain": "0000", "function": "0"}' },
        card: { kind: { pci: '10de:1eb8' }, marks: {} },
        deployables: [
          {
            name: `h1_${ADDRESS}`,
            numAccelerators: 1,
            driverName: 'NVIDIA',
            attributes: [
              { key: 'rc', value: 'VGPU' },
              { key: 'trait0', value: 'OWNER_CYBORG' },
              { key: 'trait1', value: 'CUSTOM_NVIDIA_1EB8_T4_2B' },
            ],
            handles: [handle],
            hostWork: true,
            programmable: false,
          },
        ],
      },
    ])
    // what the type is called is remembered
    const FILE = '/state/nvidia_gpu_driver.made.json'
    expect(JSON.parse(io.kept()[FILE]!)).toEqual({ made: {}, names: { [TYPE]: 'GRID T4-2B' } })
    const slot: Slot = { uuid: uuidOf(1), deployable: `h1_${ADDRESS}`, type: 'PCI', info: INFO }
    await driverOf().prepare(io, slot, never)
    const card = { kind: { pci: '10de:1eb8' }, marks: {} }
    const made = { [slot.uuid]: { address: ADDRESS, type: TYPE, mark: '', card } }
    expect(JSON.parse(io.kept()[FILE]!)).toEqual({ made, names: { [TYPE]: 'GRID T4-2B' } })
    expect(await driverOf().inUse!(io)).toEqual([{ ...handle, by: 'its vGPU exists' }])
    await driverOf().release(io, slot, never)
    expect(JSON.parse(io.kept()[FILE]!)).toEqual({ made: {}, names: { [TYPE]: 'GRID T4-2B' } })
    expect(await driverOf().inUse!(io)).toEqual([])
  })
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
