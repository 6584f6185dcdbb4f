/** What is known of the image in an FPGA card follows the card to another address, and no other card has it. */
import { describe, expect, test } from 'vitest'
import type { Driver } from '../../src/drivers/driver.ts'
import { driverOf as named } from './machines.ts'
import { never } from './driver.contract.ts'
import { type Programs, type RecordedHost, recordedHostIo, type Tree } from './recordedHostIo.ts'
import { gbs, INTEL, pciTree, xclbin } from './trees.ts'

const [X, Y, Z] = ['0000:3b:00.0', '0000:5e:00.0', '0000:af:00.0'] as const
const UUID = '862c7020-a250-293e-3203-6f19956669e5'
/** A configuration space with a Device Serial Number. */
const config = (serial: number): string => {
  const view = new DataView(new ArrayBuffer(4096))
  for (const [at, value] of Object.entries({ 0: 1, 256: 0x00010003, 260: serial, 264: 0x11223344 }))
    view.setUint32(Number(at), value, true)
  return String.fromCharCode(...new Uint8Array(view.buffer))
}
type Make = {
  readonly driver: string
  readonly image: string
  /** A card with its functions, by their numbers. */
  readonly card: (serial: number | null) => Readonly<Record<string, { readonly device: string; readonly more: Tree }>>
  readonly programs: Programs
  /** The function that shows what is loaded. */
  readonly shows: string
}
const marked = (serial: number | null): Tree => (serial === null ? {} : { config: config(serial) })
const MAKES: Readonly<Record<string, Make>> = {
  Intel: {
    driver: 'intel_fpga_driver',
    image: '/images/design.gbs',
    card: (serial) => ({
      0: { device: '09c4', more: { ...marked(serial), fpga: intelFpga() } },
    }),
    programs: { '/usr/bin/fpgaconf': () => '' },
    shows: '0',
  },
  Xilinx: {
    driver: 'xilinx_fpga_driver',
    image: '/images/design.xclbin',
    card: (serial) => ({
      0: { device: '5020', more: marked(serial) },
      1: { device: '5021', more: { xclbinuuid: `${UUID}\n` } },
    }),
    programs: { '/opt/xilinx/xrt/bin/xbutil': () => '' },
    shows: '1',
  },
}
const intelFpga = (): Tree => ({
  'intel-fpga-dev.0': {
    'intel-fpga-fme.0': { pr: { interface_id: `${INTEL.region}\n` } },
    'intel-fpga-port.0': { afu_id: `${INTEL.function}\n` },
  },
})

/** All cards show the same from the start, so that only what was kept tells them apart. */
const machine = (make: Make, serials: Readonly<Record<string, number | null>>) => {
  const functions = Object.entries(serials).flatMap(([address, serial]) =>
    Object.entries(make.card(serial)).map(([fn, { device, more }]) => {
      const vendor = make.driver.startsWith('intel') ? '8086' : '10ee'
      return [`${address.slice(0, -1)}${fn}`, { vendor, device, class: '120000', more }] as const
    }),
  )
  const images = { 'design.gbs': gbs(INTEL.region, [INTEL.function]), 'design.xclbin': xclbin(UUID) }
  const opt = { xilinx: { xrt: { bin: { xbutil: '' } } } }
  const sys = pciTree(Object.fromEntries(functions))
  return recordedHostIo({ sys, images, opt }, 'h1', '/state', make.programs)
}
const driverOf = ({ driver: name }: Make): Driver => {
  return named(name)
}
/** The same host program on the machine as it is after a restart. */
const restarted = async (from: RecordedHost, make: Make, serials: Readonly<Record<string, number | null>>) => {
  const io = machine(make, serials)
  for (const [path, text] of Object.entries(from.kept())) await io.keep(path, text)
  return io
}
const loadedOn = async (io: RecordedHost, make: Make) =>
  Object.fromEntries(
    (await driverOf(make).discover(io)).flatMap(({ deployables }) =>
      deployables.map(({ name, bitstreamId }) => [name.slice(3), bitstreamId ?? null]),
    ),
  )
const programmed = async (make: Make, serials: Readonly<Record<string, number | null>>) => {
  const io = machine(make, serials)
  const driver = driverOf(make)
  await driver.discover(io)
  await driver.program!(io, `h1_${X}`, make.image, never)
  return io
}

describe.each(Object.entries(MAKES))('a card of %s', (_name, make) => {
  test('that is at another address shows its image there, and the card in its place shows none', async () => {
    const before = await programmed(make, { [X]: 1, [Y]: 2 })
    expect(await loadedOn(before, make)).toEqual({ [X]: 'design', [Y]: null })
    const exchanged = await restarted(before, make, { [X]: 2, [Y]: 1 })
    expect(await loadedOn(exchanged, make)).toEqual({ [X]: null, [Y]: 'design' })
    const added = await restarted(exchanged, make, { [X]: 3, [Y]: 2, [Z]: 1 })
    expect(await loadedOn(added, make)).toEqual({ [X]: null, [Y]: null, [Z]: 'design' })
    const back = await restarted(added, make, { [X]: 1, [Y]: 2 })
    expect(await loadedOn(back, make)).toEqual({ [X]: 'design', [Y]: null })
  })
  test('that is gone leaves nothing to the card in its place, also when it comes back later', async () => {
    const before = await programmed(make, { [X]: 1 })
    const other = await restarted(before, make, { [X]: 2 })
    expect(await loadedOn(other, make)).toEqual({ [X]: null })
    expect(await loadedOn(await restarted(other, make, { [X]: 2, [Y]: 1 }), make)).toEqual({ [X]: null, [Y]: null })
  })
  test('that is not there for a while keeps its image, while nobody has its place', async () => {
    const before = await programmed(make, { [X]: 1, [Y]: 2 })
    const without = await restarted(before, make, { [Y]: 2 })
    expect(await loadedOn(without, make)).toEqual({ [Y]: null })
    expect(await loadedOn(await restarted(without, make, { [X]: 1, [Y]: 2 }), make)).toEqual({
      [X]: 'design',
      [Y]: null,
    })
  })
  test('that does not say who it is, or of which a former release kept it, is known by its address', async () => {
    const silent = await programmed(make, { [X]: null, [Y]: null })
    expect(await loadedOn(silent, make)).toEqual({ [X]: 'design', [Y]: null })
    const known = await programmed(make, { [X]: 1, [Y]: 2 })
    const path = `/state/${make.driver}.loaded.json`
    const { cards: _, ...former } = JSON.parse(known.kept()[path]!) as { readonly cards: object }
    await known.keep(path, JSON.stringify(former))
    expect(await loadedOn(known, make)).toEqual({ [X]: 'design', [Y]: null })
    // and follows its card from then on
    expect(await loadedOn(await restarted(known, make, { [X]: 2, [Y]: 1 }), make)).toEqual({
      [X]: null,
      [Y]: 'design',
    })
  })
})
