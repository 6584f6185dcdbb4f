/**
 * `gpu_devices.max_instances`: how many vGPUs the virtual functions of one card show together (VGPU-4, drivers.md 4.4).
 */
import { describe, expect, test } from 'vitest'
import type { Driver } from '../../src/drivers/driver.ts'
import { driverByName } from '../../src/drivers/index.ts'
import { driverOf as named } from './machines.ts'
import { never, slotsOf, uuidOf } from './driver.contract.ts'
import { withMdevKernel } from './mdevKernel.ts'
import { recordedHostIo, type Tree } from './recordedHostIo.ts'
import { pciTree } from './trees.ts'

const TYPE = 'nvidia-474'
const CARDS = ['3b', '5e'] as const
const vfsOf = (bus: string) => [4, 5, 6, 7].map((fn) => `0000:${bus}:00.${fn}`)
const VFS = CARDS.flatMap(vfsOf)
const mdev = (): Tree => ({
  mdev_supported_types: {
    [TYPE]: { name: 'GRID A100-10C\n', available_instances: '1\n', create: '', devices: {} },
  },
})
const vfio = (): Tree => ({
  nvidia: { creatable_vgpu_types: '474 : NVIDIA A100-10C\n', current_vgpu_type: '0\n' },
})
/** Two cards with four virtual functions each, of which every one says that it has room for a vGPU. */
const cards = (how: () => Tree): Tree =>
  pciTree(
    Object.fromEntries(
      CARDS.flatMap((bus) => {
        const pf = `0000:${bus}:00.0`
        const card = { vendor: '10de', device: '20f1', class: '030200' }
        return [[pf, card], ...vfsOf(bus).map((vf) => [vf, { ...card, physfn: pf, more: how() }])]
      }),
    ),
  )
const driverOf = (most: Readonly<Record<string, number>>, addresses = VFS): Driver => {
  const gpu = { types: [TYPE], addresses: { [TYPE]: addresses }, most }
  return named('nvidia_gpu_driver', { gpu })
}
const open = (how = mdev) => {
  const io = recordedHostIo({ sys: cards(how) })
  return how === mdev ? withMdevKernel(io, io.tree, VFS) : io
}
type Io = ReturnType<typeof open>
const slotsIn = async (driver: Driver, io: Io) =>
  slotsOf(await driver.discover(io)).filter(({ deployable }) => VFS.some((vf) => deployable.endsWith(vf)))
/** The functions of this card that show a handle. */
const givingOf = async (driver: Driver, io: Io, bus: string = CARDS[0]) =>
  (await slotsIn(driver, io)).map(({ deployable }) => deployable.slice(-12)).filter((vf) => vfsOf(bus).includes(vf))
const fn = (vfs: readonly string[]) => vfs.map((vf) => Number(vf.at(-1)))

describe.each([
  ['mediated devices', mdev],
  ["the vendor's own files", vfio],
])('a card of which each virtual function is divided by %s', (_, how) => {
  test('shows as many vGPUs as it can hold, each card for itself, and without the option those of all functions', async () => {
    const io = open(how)
    expect(fn(await givingOf(driverOf({}), io))).toEqual([4, 5, 6, 7])
    expect(fn(await givingOf(driverOf({ [TYPE]: 9 }), io))).toEqual([4, 5, 6, 7])
    const driver = driverOf({ [TYPE]: 2, other: 1 })
    expect([fn(await givingOf(driver, io)), fn(await givingOf(driver, io, CARDS[1]))]).toEqual([
      [4, 5],
      [4, 5],
    ])
    const devices = await driver.discover(io)
    const [third] = devices.filter(({ deployables }) => deployables[0]!.name.endsWith('0000:3b:00.6'))
    expect(third!.deployables[0]).toMatchObject({ numAccelerators: 0, handles: [] })
  })
  test('says of the others why they give nothing', async () => {
    const left = await driverOf({ [TYPE]: 3 }).leftOut!(open(how))
    expect(left.filter(({ address }) => VFS.includes(address))).toEqual(
      CARDS.map((bus) => ({
        address: `0000:${bus}:00.7`,
        reason: `gpu_devices.max_instances: other functions of its card give all vGPUs of ${TYPE}`,
      })),
    )
  })
  test('shows the same handles whatever is made of them', async () => {
    const [driver, io] = [driverOf({ [TYPE]: 2 }), open(how)]
    const before = await driver.discover(io)
    const [first, second] = await slotsIn(driver, io)
    for (const slot of [second!, first!]) {
      await driver.prepare(io, slot, never)
      expect((await driver.discover(io)).map(({ deployables }) => deployables[0]!.handles)).toEqual(
        before.map(({ deployables }) => deployables[0]!.handles),
      )
    }
    await driver.release(io, first!, never)
    expect(await driver.discover(io)).toEqual(before)
  })
  test('never hides a handle whose vGPU exists, and shows fewer others for it', async () => {
    const io = open(how)
    const slots = await slotsIn(driverOf({}), io)
    await driverOf({}).prepare(io, slots[3]!, never)
    expect(fn(await givingOf(driverOf({ [TYPE]: 2 }), io))).toEqual([4, 7])
    await driverOf({}).prepare(io, slots[2]!, never)
    expect(fn(await givingOf(driverOf({ [TYPE]: 2 }), io))).toEqual([6, 7])
    expect(fn(await givingOf(driverOf({ [TYPE]: 1 }), io))).toEqual([6, 7])
    expect(fn(await givingOf(driverOf({ [TYPE]: 1 }), io, CARDS[1]))).toEqual([4])
  })
})

test('a vGPU that somebody else made takes the room of one', async () => {
  const [driver, io] = [driverOf({ [TYPE]: 2 }), open()]
  await io.write(`/sys/bus/pci/devices/0000:3b:00.7/mdev_supported_types/${TYPE}/create`, uuidOf(99))
  expect(fn(await givingOf(driver, io))).toEqual([4])
})
test('a function that is not configured any more takes the room of what is made of it', async () => {
  const io = open()
  const slots = await slotsIn(driverOf({}), io)
  await driverOf({}).prepare(io, slots[0]!, never)
  expect(fn(await givingOf(driverOf({ [TYPE]: 2 }, VFS.slice(1)), io))).toEqual([4, 5])
})
test.each([0, 1.5, -1])('%j vGPUs on a card are refused', (number) => {
  const gpu = { types: [], addresses: {}, most: { [TYPE]: number } }
  expect(driverByName('nvidia_gpu_driver', { gpu })).toEqual({
    ok: false,
    problems: [{ field: `gpu_devices.max_instances.${TYPE}`, rule: `must be a whole number from 1, is ${number}` }],
  })
})
