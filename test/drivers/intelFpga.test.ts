/** `intel_fpga_driver`: what it shows (drivers.md 3.2), and programming that is verified on the card. */
import { describe, expect, test } from 'vitest'
import { BadImage } from '../../src/vocabulary/images.ts'
import { never } from './driver.contract.ts'
import { driverOf } from './machines.ts'
import { type Programs, type RecordedHost, recordedHostIo, type Tree } from './recordedHostIo.ts'
import { dflTree, gbs, INTEL, opaeTree } from './trees.ts'

const NEW_FUNCTION = '00112233445566778899aabbccddeeff'
const OTHER_REGION = 'f'.repeat(32)
const IMAGES: Tree = {
  'design.gbs': gbs(INTEL.region, [NEW_FUNCTION]),
  'elsewhere.gbs': gbs(OTHER_REGION, [NEW_FUNCTION]),
  'none.bin': 'something else altogether, which is long enough',
}
const driver = () => driverOf('intel_fpga_driver')
/** What `fpgaconf` was called with. */
type Calls = (readonly string[])[]

/** `loads`: what the card shows afterwards. */
const fpgaconf =
  (calls: Calls, loads: string | Error): Programs[string] =>
  (args, root) => {
    calls.push(args)
    if (loads instanceof Error) throw loads
    const sys = (root as { sys: { devices: Tree } }).sys.devices
    const ports = [
      ((sys['pci0000:be'] as Tree)['0000:be:00.0'] as { fpga: { 'intel-fpga-dev.1': { 'intel-fpga-port.2': Tree } } })
        .fpga['intel-fpga-dev.1']['intel-fpga-port.2'],
    ]
    for (const port of ports) port['afu_id'] = `${loads}\n`
    return ''
  }
const open = (loads: string | Error = NEW_FUNCTION) => {
  const calls: Calls = []
  const programs = { '/usr/bin/fpgaconf': fpgaconf(calls, loads) }
  return {
    calls,
    io: recordedHostIo({ sys: opaeTree(), images: IMAGES }, 'compute1', '/state', programs),
    driver: driver(),
  }
}
const NAME = 'compute1_0000:be:00.0'
const shown = async ({ io, driver: one }: { readonly io: RecordedHost; readonly driver: ReturnType<typeof driver> }) =>
  (await one.discover(io)).flatMap(({ deployables }) => deployables).find(({ name }) => name === NAME)!

describe('what it shows', () => {
  test('a card of the driver that is part of the kernel', async () => {
    const [device] = await driver().discover(recordedHostIo({ sys: dflTree() }))
    expect(device!.deployables[0]!.attributes.map(({ value }) => value)).toEqual([
      'FPGA',
      'CUSTOM_FPGA_INTEL',
      'CUSTOM_FPGA_INTEL_PAC_D5005',
      `CUSTOM_FPGA_FUNCTION_ID_INTEL_${INTEL.function.toUpperCase()}`,
      `CUSTOM_FPGA_REGION_INTEL_${INTEL.region.toUpperCase()}`,
      INTEL.region,
    ])
  })

  test('a card that no kernel driver serves is not usable yet, and has no traits', async () => {
    const io = recordedHostIo({ sys: opaeTree() })
    io.remove('/sys/devices/pci0000:be/0000:be:00.0/fpga')
    const device = (await driver().discover(io))[1]!
    expect([device.stub, device.deployables[0]!.attributes]).toEqual([true, [{ key: 'rc', value: 'FPGA' }]])
    expect(await driver().leftOut!(io)).toContainEqual({
      address: '0000:be:00.0',
      reason: 'no FPGA driver of the kernel serves it',
    })
  })
})

test('what is reported of a card does not change because a guest has a virtual function of it', async () => {
  const io = recordedHostIo({ sys: opaeTree() })
  const before = await driver().discover(io)
  const vf = io.tree('/sys/bus/pci/devices/0000:5e:00.1')
  vf['driver'] = { '->': '../../../bus/pci/drivers/vfio-pci' }
  delete vf['fpga']
  delete io.tree('/sys/bus/pci/devices/0000:5e:00.0/fpga/intel-fpga-dev.0')['intel-fpga-port.0']
  expect(await driver().discover(io)).toEqual(before)
})

test('the image that was loaded last is reported, also if a guest took a virtual function before anybody looked', async () => {
  const name = 'compute1_0000:5e:00.0'
  const devices = '/sys/bus/pci/devices'
  const ports = [
    `${devices}/0000:5e:00.0/fpga/intel-fpga-dev.0/intel-fpga-port.0`,
    `${devices}/0000:5e:00.1/fpga/intel-fpga-dev.2/intel-fpga-port.1`,
  ]
  const io: RecordedHost = recordedHostIo({ sys: opaeTree(), images: IMAGES }, 'compute1', '/state', {
    '/usr/bin/fpgaconf': () => {
      for (const port of ports) io.tree(port)['afu_id'] = `${NEW_FUNCTION}\n`
      return ''
    },
  })
  await driver().discover(io)
  await driver().program!(io, name, '/images/design.gbs', never)
  const vf = io.tree('/sys/bus/pci/devices/0000:5e:00.1')
  vf['driver'] = { '->': '../../../bus/pci/drivers/vfio-pci' }
  delete vf['fpga']
  delete io.tree('/sys/bus/pci/devices/0000:5e:00.0/fpga/intel-fpga-dev.0')['intel-fpga-port.0']
  const one = (await driver().discover(io))[0]!.deployables[0]!
  expect(one).toMatchObject({ name, bitstreamId: 'design' })
  expect(one.attributes.map(({ value }) => value)).toContain(
    `CUSTOM_FPGA_FUNCTION_ID_INTEL_${NEW_FUNCTION.toUpperCase()}`,
  )
})

test('a board of another maker is found by its row', async () => {
  const sys = opaeTree() as { devices: Tree }
  const card = (sys.devices['pci0000:be'] as Tree)['0000:be:00.0'] as Tree
  card['vendor'] = '0x1c2c\n'
  card['device'] = '0x1000\n'
  const devices = await driver().discover(recordedHostIo({ sys }))
  expect(devices.map(({ vendor }) => vendor)).toEqual(['0x8086', '0x1c2c'])
})

describe('programming', () => {
  test('calls the program of the card as it always was called, and shows what it did', async () => {
    const host = open()
    await host.driver.program!(host.io, NAME, '/images/design.gbs', never)
    expect(host.calls).toEqual([['--bus', '0xbe', '--device', '0x00', '--function', '0x0', '/images/design.gbs']])
    const { bitstreamId, attributes } = await shown(host)
    expect(bitstreamId).toBe('design')
    expect(attributes.map(({ value }) => value)).toContain(
      `CUSTOM_FPGA_FUNCTION_ID_INTEL_${NEW_FUNCTION.toUpperCase()}`,
    )
    // a new start of the program knows it too
    expect((await shown({ ...host, driver: driver() })).bitstreamId).toBe('design')
  })

  test('when the card shows something else later, what is loaded is not known any more', async () => {
    const host = open()
    await host.driver.program!(host.io, NAME, '/images/design.gbs', never)
    host.io.tree('/sys/bus/pci/devices/0000:be:00.0/fpga/intel-fpga-dev.1/intel-fpga-port.2')['afu_id'] =
      `${INTEL.function}\n`
    expect(await shown(host)).not.toHaveProperty('bitstreamId')
  })

  test('an exit status alone proves nothing: the card must show each function of the image', async () => {
    const port = (io: RecordedHost) =>
      io.tree('/sys/bus/pci/devices/0000:be:00.0/fpga/intel-fpga-dev.1/intel-fpga-port.2')
    const images = { 'two.gbs': gbs(INTEL.region, [INTEL.function, NEW_FUNCTION]) }
    const io = { ...recordedHostIo({ sys: opaeTree(), images }), change: async () => '' }
    const missing = (functions: string, shown: string) =>
      `${NAME} does not show function ${functions} of /images/two.gbs after programming, but ${shown}`
    const program = () => driver().program!(io, NAME, '/images/two.gbs', never)
    await expect(program()).rejects.toThrow(missing(NEW_FUNCTION, INTEL.function))
    expect((await driver().discover(io))[1]!.deployables[0]).not.toHaveProperty('bitstreamId')
    delete port(io)['afu_id']
    await expect(program()).rejects.toThrow(missing(`${INTEL.function}, ${NEW_FUNCTION}`, 'none'))
  })

  test('a failure leaves an unknown state, also of a card that was programmed before', async () => {
    const host = open()
    await host.driver.program!(host.io, NAME, '/images/design.gbs', never)
    const failing = recordedHostIo({}, 'compute1')
    const io = {
      ...host.io,
      change: async () => Promise.reject(new Error('fpgaconf: no such card')),
      head: host.io.head,
      warn: failing.warn,
    }
    await expect(host.driver.program!(io, NAME, '/images/design.gbs', never)).rejects.toThrow('fpgaconf: no such card')
    expect(await shown(host)).not.toHaveProperty('bitstreamId')
  })

  test.each([
    ['elsewhere.gbs', `is made for a region of type ${OTHER_REGION}, and ${NAME} has ${INTEL.region}`],
    ['none.bin', 'is not an Intel FPGA bitstream (GBS)'],
  ])('%s is refused before the card is touched', async (image, reason) => {
    const host = open()
    await expect(host.driver.program!(host.io, NAME, `/images/${image}`, never)).rejects.toThrow(reason)
    expect(host.calls).toEqual([])
  })

  test('an image whose header holds another function than the image store says is refused before the card is touched', async () => {
    const host = open()
    const load = (functionId: string) =>
      host.driver.program!(host.io, NAME, '/images/design.gbs', never, { functionId })
    await expect(load(INTEL.function)).rejects.toEqual(
      new BadImage('unusable', `its description says function ${INTEL.function}, and its header holds ${NEW_FUNCTION}`),
    )
    expect(host.calls).toEqual([])
    const spelled = NEW_FUNCTION.toUpperCase().replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    for (const functionId of [spelled, '3AFB']) await load(functionId)
    expect(await shown(host)).toMatchObject({ bitstreamId: 'design', bitstream: { functionId: '3AFB' } })
  })

  test('a card that is not there, or is not served, is refused', async () => {
    const host = open()
    await expect(host.driver.program!(host.io, 'compute1_none', '/images/design.gbs', never)).rejects.toThrow(
      'compute1 has no compute1_none',
    )
    host.io.remove('/sys/devices/pci0000:be/0000:be:00.0/fpga')
    await expect(host.driver.program!(host.io, NAME, '/images/design.gbs', never)).rejects.toThrow(
      `${NAME}: no FPGA driver of the kernel serves 0000:be:00.0`,
    )
    expect(host.calls).toEqual([])
  })

  test('where two cards differ by their segment alone, it is given', async () => {
    const sys = opaeTree() as { bus: { pci: { devices: Tree } }; devices: Tree }
    const other = structuredClone((sys.devices['pci0000:be'] as Tree)['0000:be:00.0']) as Tree
    sys.devices['pci0001:be'] = { '0001:be:00.0': other }
    sys.bus.pci.devices['0001:be:00.0'] = { '->': '../../../devices/pci0001:be/0001:be:00.0' }
    const calls: Calls = []
    const io = recordedHostIo({ sys, images: IMAGES }, 'compute1', '/state', {
      '/usr/bin/fpgaconf': fpgaconf(calls, NEW_FUNCTION),
    })
    await driver().program!(io, NAME, '/images/design.gbs', never)
    expect(calls[0]!.slice(0, 2)).toEqual(['--segment', '0x0000'])
  })
})
