/** On a host on which each access takes a while, what a driver was asked to do is done when it says so. */
import { describe, expect, test } from 'vitest'
import type { Driver, HostIo } from '../../src/drivers/driver.ts'
import { recorder } from '../../src/drivers/recording.ts'
import { quiet } from '../support/lab.ts'
import { never, slotsOf } from './driver.contract.ts'
import { withMdevKernel } from './mdevKernel.ts'
import { driverOf } from './machines.ts'
import { recordedHostIo } from './recordedHostIo.ts'
import { alveoTree, gbs, INTEL, opaeTree, pciTree, vgpuTree, xclbin } from './trees.ts'

const slowly = <Io extends HostIo>(io: Io): Io => {
  const late =
    <Given extends readonly unknown[], Answer>(ask: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      await quiet(2)
      return ask(...given)
    }
  return {
    ...io,
    read: late(io.read),
    list: late(io.list),
    link: late(io.link),
    head: late(io.head),
    write: late(io.write),
    keep: late(io.keep),
    change: late(io.change),
  }
}
const GPU = '0000:af:00.0'
const gpuDriver = (type: string): Driver => {
  const gpu = { types: [type], addresses: { [type]: [GPU] } }
  return driverOf('nvidia_gpu_driver', { gpu })
}
const MADE = '/state/nvidia_gpu_driver.made.json'

describe('a vGPU', () => {
  test('as a mediated device is there after its preparation, and gone after its release', async () => {
    const host = recordedHostIo({ sys: vgpuTree() }, 'h1')
    const kernel = withMdevKernel(host, host.tree, [GPU])
    const [io, driver] = [slowly(kernel), gpuDriver('nvidia-223')]
    const slot = slotsOf(await driver.discover(io)).find(({ type }) => type === 'MDEV')!
    const devices = () => Object.keys(host.tree(`/sys/bus/pci/devices/${GPU}/mdev_supported_types/nvidia-223/devices`))
    await driver.prepare(io, slot, never)
    expect([devices(), host.kept()[MADE]!.includes(slot.uuid)]).toEqual([[slot.uuid], true])
    kernel.restart()
    expect(await gpuDriver('nvidia-223').restore!(io, never)).toBe(true)
    expect(devices()).toEqual([slot.uuid])
    await driver.release(io, slot, never)
    expect([devices(), host.kept()[MADE]!.includes(slot.uuid)]).toEqual([[], false])
  })
  test('by files of the vendor is there after its preparation, and gone after its release', async () => {
    const more = { nvidia: { creatable_vgpu_types: '7 : T4\n', current_vgpu_type: '0\n' } }
    const host = recordedHostIo(
      { sys: pciTree({ [GPU]: { vendor: '10de', device: '1eb8', class: '030200', more } }) },
      'h1',
    )
    const [io, driver] = [slowly(host), gpuDriver('nvidia-7')]
    const [slot] = slotsOf(await driver.discover(io))
    const now = () => host.tree(`/sys/bus/pci/devices/${GPU}/nvidia`)['current_vgpu_type']
    await driver.prepare(io, slot!, never)
    expect([now(), host.kept()[MADE]!.includes(slot!.uuid)]).toEqual(['7', true])
    await driver.release(io, slot!, never)
    expect([now(), host.kept()[MADE]!.includes(slot!.uuid)]).toEqual(['0', false])
  })
})

describe('an FPGA', () => {
  const UUID = '862c7020-a250-293e-3203-6f19956669e5'
  const images = { 'design.xclbin': xclbin(UUID), 'design.gbs': gbs(INTEL.region, [INTEL.function]) }
  test('of Xilinx is written, and what it holds is noted, when its programming ends', async () => {
    const tree = { sys: alveoTree(), images, opt: { xilinx: { xrt: { bin: { xbutil: '' } } } } }
    const host = recordedHostIo(tree, 'h1')
    const change: HostIo['change'] = async () => {
      host.tree('/sys/bus/pci/devices/0000:3b:00.1')['xclbinuuid'] = UUID
      return ''
    }
    const driver = driverOf('xilinx_fpga_driver')
    await driver.program!(slowly({ ...host, change }), 'h1_0000:3b:00.0', '/images/design.xclbin', never)
    expect(JSON.parse(host.kept()['/state/xilinx_fpga_driver.loaded.json']!)).toMatchObject({
      loaded: { 'h1_0000:3b:00.0': { image: 'design', shows: UUID } },
      seen: { 'h1_0000:3b:00.0': UUID },
    })
  })
  test('of Intel is written, and what it holds is noted, when its programming ends', async () => {
    const host = recordedHostIo({ sys: opaeTree(), images }, 'h1')
    const kept = (): unknown => JSON.parse(host.kept()['/state/intel_fpga_driver.loaded.json'] ?? 'null')
    const seen: unknown[] = []
    const change: HostIo['change'] = async () => {
      seen.push(kept())
      return ''
    }
    const [driver, io] = [driverOf('intel_fpga_driver'), slowly({ ...host, change })]
    const program = () => driver.program!(io, 'h1_0000:be:00.0', '/images/design.gbs', never)
    await program()
    const holds = {
      loaded: { 'h1_0000:be:00.0': { image: 'design', shows: `${INTEL.region}/${INTEL.function}` } },
      seen: { 'h1_0000:be:00.0': INTEL.function },
    }
    expect(kept()).toMatchObject(holds)
    // while it is written, nothing of it is known
    await program()
    expect([seen, kept()]).toMatchObject([[null, { loaded: {}, seen: {} }], holds])
  })
})

test('simulated hardware holds what it was given, and nothing that was taken from it', async () => {
  const host = recordedHostIo({ images: { 'a.bin': '' } }, 'h1')
  const [io, driver] = [slowly(host), driverOf('fake_driver', { fake: { handles: 1 } })]
  const [slot] = slotsOf(await driver.discover(io))
  const holds = () => host.kept()['/state/fake_driver.effects.json'] ?? ''
  await driver.prepare(io, slot!, never)
  expect(holds()).toContain(slot!.uuid)
  await driver.program!(io, slot!.deployable, '/images/a.bin', never)
  expect(holds()).toContain('"h1_FakeDevice":"a"')
  await driver.release(io, slot!, never)
  expect(holds()).not.toContain(slot!.uuid)
})

test('a recording holds what was read when it was read', async () => {
  const host = recordedHostIo({ sys: { a: { '->': 'b' }, b: { file: 'text', folder: { other: '' } } } })
  const { io, recording } = recorder(slowly(host))
  await io.read('/sys/a/file')
  expect(recording().tree).toEqual({ sys: { a: { '->': 'b' }, b: { file: 'text' } } })
  await io.list('/sys/b')
  expect(recording().tree).toEqual({ sys: { a: { '->': 'b' }, b: { file: 'text', folder: {} } } })
  const links = recorder(slowly(host))
  await links.io.link('/sys/a')
  expect(links.recording().tree).toEqual({ sys: { a: { '->': 'b' } } })
})
