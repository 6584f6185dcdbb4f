/** vGPUs of cards that are at other addresses after a restart of the machine: each is made again on its own card. */
import { describe, expect, test } from 'vitest'
import type { Driver, Slot } from '../../src/drivers/driver.ts'
import { pciInfo, parsePciAddress } from '../../src/vocabulary/pci.ts'
import { driverOf as named } from './machines.ts'
import { never, uuidOf } from './driver.contract.ts'
import { withMdevKernel } from './mdevKernel.ts'
import { type Tree, recordedHostIo } from './recordedHostIo.ts'
import { pciTree } from './trees.ts'

const [X, Y, TYPE] = ['0000:af:00.0', '0000:b0:00.0', 'nvidia-223']
const driverOf = (): Driver => {
  return named('nvidia_gpu_driver', { gpu: { types: [TYPE], addresses: { [TYPE]: [X, Y] } } })
}
/** A configuration space with a Device Serial Number. */
const config = (serial: number): string => {
  const space = new Uint8Array(4096)
  const view = new DataView(space.buffer)
  for (const [at, value] of [
    [0x100, 0x00010003],
    [0x104, serial],
    [0x108, 0x11223344],
  ] as const)
    view.setUint32(at, value, true)
  return String.fromCharCode(...space)
}
const HOW = {
  'mediated devices': (): Tree => ({
    mdev_supported_types: {
      [TYPE]: { name: 'GRID T4-2B\n', available_instances: '8\n', create: '', devices: {} },
    },
  }),
  'types of functions': (): Tree => ({ nvidia: { creatable_vgpu_types: '223 : T4\n', current_vgpu_type: '0\n' } }),
} as const
type How = keyof typeof HOW

const machine = (how: How, marked = true) => {
  const gpu = (serial: number) => ({
    vendor: '10de',
    device: '1eb8',
    class: '030200',
    more: { ...HOW[how](), ...(marked ? { config: config(serial) } : {}) },
  })
  const recorded = recordedHostIo({ sys: pciTree({ [X]: gpu(1), [Y]: gpu(2) }) }, 'h1')
  const io = withMdevKernel(recorded, recorded.tree, [X, Y])
  const folder = (address: string): Tree => recorded.tree(`/sys/devices/pci${address.slice(0, -5)}`)
  const nvidia = (address: string) => (folder(address)[address] as Tree)['nvidia'] as Tree | undefined
  /** Restarted, with the cards in each other's places. */
  const exchange = () => {
    const [one, other] = [folder(X)[X]!, folder(Y)[Y]!]
    if (how === 'mediated devices') io.restart()
    for (const address of [X, Y]) if (nvidia(address)) nvidia(address)!['current_vgpu_type'] = '0\n'
    folder(X)[X] = other
    folder(Y)[Y] = one
  }
  const made = async (address: string): Promise<unknown> => {
    const at = `/sys/bus/pci/devices/${address}`
    return how === 'mediated devices'
      ? io.list(`${at}/mdev_supported_types/${TYPE}/devices`)
      : (await io.read(`${at}/nvidia/current_vgpu_type`)).trim()
  }
  const slot = (n: number, address: string): Slot => {
    const info = pciInfo(parsePciAddress(address)!)
    const asked = how === 'mediated devices' ? { asked_type: TYPE, vgpu_mark: `${TYPE}_${n}` } : {}
    const type = how === 'mediated devices' ? 'MDEV' : 'PCI'
    return { uuid: uuidOf(n), deployable: `h1_${address}`, type, info: { ...info, ...asked } }
  }
  const [none, its] = how === 'mediated devices' ? [[], (n: number) => [uuidOf(n)]] : ['0', () => '223']
  return {
    io,
    exchange,
    made,
    slot,
    none,
    its,
    leave: (address: string) => recorded.remove(`/sys/bus/pci/devices/${address}`),
  }
}

describe.each(Object.keys(HOW) as readonly How[])('a vGPU by %s', (how) => {
  test('is made again on its card, at the address where that is now, and released there', async () => {
    const { io, exchange, made, slot, none, its } = machine(how)
    await driverOf().prepare(io, slot(1, X), never)
    exchange()
    const driver = driverOf()
    expect(await driver.restore!(io, never)).toBe(true)
    expect([await made(X), await made(Y)]).toEqual([none, its(1)])
    await driver.prepare(io, slot(2, X), never)
    await driver.release(io, slot(1, Y), never)
    expect([await made(X), await made(Y)]).toEqual([its(2), none])
  })
  test('is not made on another card that has the place of its own, and its release leaves that one alone', async () => {
    const { io, exchange, made, slot, none, its, leave } = machine(how)
    await driverOf().prepare(io, slot(1, X), never)
    exchange()
    leave(Y)
    const driver = driverOf()
    expect(await driver.restore!(io, never)).toBe(false)
    expect(io.warnings.at(-1)).toMatchObject({
      event: 'vgpu_not_restored',
      detail: { reason: expect.stringContaining(`another card is at ${X}`) },
    })
    expect(await made(X)).toEqual(none)
    await driver.prepare(io, slot(2, X), never)
    await driver.release(io, slot(1, X), never)
    expect(await made(X)).toEqual(its(2))
    expect(await driver.restore!(io, never)).toBe(true)
  })
  test('goes by its address where cards say nothing of themselves', async () => {
    const { io, exchange, made, slot, none, its } = machine(how, false)
    await driverOf().prepare(io, slot(1, X), never)
    exchange()
    await driverOf().restore!(io, never)
    expect([await made(X), await made(Y)]).toEqual([its(1), none])
  })
})
