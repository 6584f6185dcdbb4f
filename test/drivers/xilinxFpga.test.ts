/** `xilinx_fpga_driver`: what it shows (drivers.md 3.4), and programming that is verified on the card. */
import { describe, expect, test } from 'vitest'
import type { ReportedDeployable } from '../../src/vocabulary/hardware.ts'
import type { DriverOptions } from '../../src/drivers/index.ts'
import type { Slot } from '../../src/drivers/driver.ts'
import { never } from './driver.contract.ts'
import { driverOf } from './machines.ts'
import { type Programs, recordedHostIo, type Tree } from './recordedHostIo.ts'
import { alveoTree, xclbin } from './trees.ts'

const UUID = '862c7020-a250-293e-3203-6f19956669e5'
const NAME = 'compute1_0000:3b:00.0'
type Given = Partial<NonNullable<DriverOptions['fpga']>>
const driver = (more: Given = {}) =>
  driverOf('xilinx_fpga_driver', { fpga: { fpgaconf: '', xrtFolder: '/opt/xilinx/xrt/bin', ...more } })
const TOOL = '/opt/xilinx/xrt/bin/xbutil'

const open = (shows: string | null = UUID, tools: Tree = { xbutil: '' }) => {
  const calls: (readonly string[])[] = []
  const tool: Programs[string] = (args, root) => {
    calls.push(args)
    const { sys } = root as { sys: { devices: Tree } }
    const user = (sys.devices['pci0000:3b'] as Tree)['0000:3b:00.1'] as Tree
    if (shows !== null) user['xclbinuuid'] = `${shows}\n`
    return ''
  }
  const images = { 'design.xclbin': xclbin(UUID), 'other.bin': 'no image at all' }
  const proc = { sys: { kernel: { random: { boot_id: 'one\n' } } } }
  const tree = { sys: alveoTree(), proc, images, opt: { xilinx: { xrt: { bin: tools } } } }
  const programs = { [TOOL]: tool, '/opt/xilinx/xrt/bin/xrt-smi': tool }
  return { calls, driver: driver(), io: recordedHostIo(tree, 'compute1', '/state', programs) }
}
const shown = async ({ io, driver: one }: Pick<ReturnType<typeof open>, 'io' | 'driver'>) =>
  (await one.discover(io))[0]!.deployables[0]!

describe('what it shows', () => {
  const function_ = (bus: string, fn: string) => ({
    type: 'PCI',
    info: { bus, device: '00', domain: '0000', function: fn },
  })
  test('both functions together, with the trait that makes two requests, where an operator wants that', async () => {
    const devices = await driver({ withManagement: true }).discover(recordedHostIo({ sys: alveoTree() }))
    const [{ attributes, handles }] = devices[1]!.deployables as [ReportedDeployable]
    expect(attributes[1]).toEqual({ key: 'trait0', value: 'CUSTOM_FPGA_XILINX' })
    expect(handles).toEqual(['0', '1'].map((fn) => ({ ...function_('66', fn), set: 0 })))
  })

  test('a card that shows its factory image is not usable, and says so', async () => {
    const io = recordedHostIo({ sys: alveoTree() })
    io.tree('/sys/devices/pci0000:66/0000:66:00.0')['device'] = '0xd020\n'
    const device = (await driver().discover(io))[1]!
    expect([device.stub, device.deployables[0]!.programmable]).toEqual([true, false])
    expect(device.deployables[0]!.attributes.at(-1)).toEqual({ key: 'state', value: 'golden' })
    expect(await driver().leftOut!(io)).toEqual([
      { address: '0000:66:00.0', reason: 'it shows its factory image: it needs a shell' },
    ])
  })
})

describe('XILINX-3 the management function stays with the host', () => {
  const [management, user] = ['0', '1'].map((fn) => `/sys/bus/pci/devices/0000:3b:00.${fn}`) as [string, string]
  const slot = (fn: string, more: Partial<Slot> = {}): Slot => ({
    uuid: `slot${fn}`,
    deployable: NAME,
    type: 'PCI',
    info: { bus: '3b', device: '00', domain: '0000', function: fn },
    ...more,
  })
  /** A guest has opened the function. */
  const open_ = (io: ReturnType<typeof recordedHostIo>, path: string) =>
    Object.assign(io.tree(path), { driver: { '->': '../../../bus/pci/drivers/vfio-pci' }, enable: '1\n' })

  test('also when an order asks for it, but for a guest that has it already', async () => {
    const io = recordedHostIo({ sys: alveoTree() })
    const reason =
      'slot slot0: 0000:3b:00.0 is not given to a guest: it is the management function of its card, which stays with the host'
    await expect(driver().prepare(io, slot('0'), never)).rejects.toThrow(reason)
    await driver().prepare(io, slot('0', { again: true }), never)
    await driver().prepare(io, slot('1'), never)
    await driver({ withManagement: true }).prepare(io, slot('0'), never)
  })
  test('and while a guest of earlier still has it, no other guest gets the card', async () => {
    const io = recordedHostIo({ sys: alveoTree() })
    open_(io, management)
    const reason =
      'slot slot1: 0000:3b:00.1 is not given to a guest: the management function of its card: a process has opened it through vfio-pci'
    await expect(driver().prepare(io, slot('1'), never)).rejects.toThrow(reason)
    await driver().prepare(io, slot('1', { again: true }), never)
    await driver({ withManagement: true }).prepare(io, slot('1'), never)
  })
  test('so it is not named as in use, and its kernel driver does not keep the user function from guests', async () => {
    const io = recordedHostIo({ sys: alveoTree() })
    io.tree(management)['driver'] = { '->': '../../../bus/pci/drivers/xclmgmt' }
    open_(io, user)
    const one = driver()
    expect((await one.discover(io)).map(({ stub }) => stub)).toEqual([undefined, undefined])
    expect((await one.inUse!(io)).map(({ info }) => info['function'])).toEqual(['1'])
  })
  test('in an IOMMU group that both share, the card is left out, and the reason says what shares it', async () => {
    const io = recordedHostIo({ sys: alveoTree() })
    for (const path of [management, user])
      Object.assign(io.tree(path), { iommu_group: { '->': '../../../../kernel/iommu_groups/7' } })
    io.tree(management)['driver'] = { '->': '../../../bus/pci/drivers/xclmgmt' }
    const [left] = await driver().leftOut!(io)
    expect(left?.reason).toMatch(/^it shares IOMMU group 7 with 0000:3b:00\.0 \(xclmgmt\)/)
    expect((await driver().leftOut!(io)).map(({ address }) => address)).toContain('0000:3b:00.0')
  })
  test('also of a card that no table knows, which its kernel driver tells', async () => {
    const io = recordedHostIo({ sys: alveoTree() })
    io.remove(user)
    Object.assign(io.tree(management), {
      device: '0x5ffe\n',
      driver: { '->': '../../../bus/pci/drivers/xclmgmt' },
    })
    const [device] = await driver().discover(io)
    expect([device!.stub, device!.deployables[0]!.handles]).toEqual([true, []])
  })
})

describe('a card of which one function is not there', () => {
  const without = async (fn: string) => {
    const io = recordedHostIo({ sys: alveoTree() })
    io.remove(`/sys/bus/pci/devices/0000:3b:00.${fn}`)
    return [(await driver().discover(io))[0]!, await driver().leftOut!(io)] as const
  }
  const MANAGEMENT_ONLY =
    'only its management function is there, which stays with the host: its user function comes with a shell'
  test.each([
    ['0', ['1'], 'only one of its two functions is there'],
    ['1', [], MANAGEMENT_ONLY],
  ])('function %s: it keeps its name, is not usable, and never another accelerator', async (fn, handles, reason) => {
    const [device, left] = await without(fn)
    expect([device.stub, device.controlPath.info]).toEqual([
      true,
      '{"bus": "3b", "device": "00", "domain": "0000", "function": "0"}',
    ])
    expect(device.deployables[0]).toMatchObject({ name: NAME, programmable: false })
    expect(device.deployables[0]!.handles.map(({ info }) => info['function'])).toEqual(handles)
    expect(left).toEqual([{ address: '0000:3b:00.0', reason }])
  })
  test('of a kind that has one function only, is an accelerator of one request', async () => {
    const io = recordedHostIo({ sys: alveoTree() })
    io.tree('/sys/devices/pci0000:66/0000:66:00.0')['device'] = '0x50bc\n'
    io.remove('/sys/bus/pci/devices/0000:66:00.1')
    const device = (await driver().discover(io))[1]!
    expect(device.stub).toBeUndefined()
    expect(device.deployables[0]!.handles[0]).not.toHaveProperty('set')
    expect(device.deployables[0]!.attributes.map(({ value }) => value)).not.toContain('CUSTOM_FPGA_XILINX')
  })
})

describe('what is reported of a card does not change because a guest has it', () => {
  const taken = (host: ReturnType<typeof open>) => {
    const user = host.io.tree('/sys/bus/pci/devices/0000:3b:00.1')
    delete user['xclbinuuid']
    user['driver'] = { '->': '../../../bus/pci/drivers/vfio-pci' }
    return user
  }
  test('and as soon as it is back, it is what the card shows', async () => {
    const host = open()
    await host.driver.program!(host.io, NAME, '/images/design.xclbin', never)
    const before = await shown(host)
    const user = taken(host)
    expect(await shown(host)).toEqual(before)
    // it shows something else when it is back
    user['xclbinuuid'] = '11111111-2222-4333-8444-555555555555'
    delete user['driver']
    expect(await shown(host)).not.toHaveProperty('bitstreamId')
  })
  test('not even if the guest took it before anybody looked after the programming', async () => {
    const [host, other] = [open(), open()]
    host.io.tree('/sys/bus/pci/devices/0000:3b:00.1')['xclbinuuid'] = '11111111-2222-4333-8444-555555555555'
    for (const each of [host, other]) {
      await shown(each)
      await each.driver.program!(each.io, NAME, '/images/design.xclbin', never, { functionId: UUID })
    }
    taken(host)
    expect(await shown({ ...host, driver: driver() })).toEqual(await shown(other))
    expect(await shown(host)).toMatchObject({ bitstreamId: 'design' })
  })
})

test('after a restart of the machine nobody knows what a card holds that a guest took before', async () => {
  const host = open()
  await host.driver.program!(host.io, NAME, '/images/design.xclbin', never)
  const user = host.io.tree('/sys/bus/pci/devices/0000:3b:00.1')
  delete user['xclbinuuid']
  user['driver'] = { '->': '../../../bus/pci/drivers/vfio-pci' }
  expect(await shown(host)).toHaveProperty('bitstreamId', 'design')
  host.io.tree('/proc/sys/kernel/random')['boot_id'] = 'two\n'
  expect(await shown(host)).not.toHaveProperty('bitstreamId')
})

describe('programming', () => {
  test('writes the user partition through the user function, and shows what is loaded', async () => {
    const host = open()
    await host.driver.program!(host.io, NAME, '/images/design.xclbin', never)
    expect(host.calls).toEqual([['program', '--device', '0000:3b:00.1', '--user', '/images/design.xclbin']])
    const { bitstreamId, attributes } = await shown(host)
    expect(bitstreamId).toBe('design')
    expect(attributes.map(({ value }) => value)).toContain(
      `CUSTOM_FPGA_FUNCTION_ID_XILINX_${UUID.toUpperCase().replaceAll('-', '_')}`,
    )
    expect((await shown({ ...host, driver: driver() })).bitstreamId).toBe('design')
  })

  test('shows the function that the image store said the image has, as long as the card shows the image', async () => {
    const host = open()
    const trait = 'CUSTOM_FPGA_FUNCTION_ID_XILINX_0AF76519_16CD_43DD_8448_EB211C80319C'
    await host.driver.program!(host.io, NAME, '/images/design.xclbin', never, {
      functionId: '0af76519-16cd-43dd-8448-eb211c80319c',
    })
    const traits = async () => (await shown({ ...host, driver: driver() })).attributes.map(({ value }) => value)
    expect(await traits()).toContain(trait)
    host.io.tree('/sys/bus/pci/devices/0000:3b:00.1')['xclbinuuid'] = '11111111-2222-4333-8444-555555555555'
    expect(await traits()).not.toContain(trait)
    await host.driver.program!(host.io, NAME, '/images/design.xclbin', never)
    expect(await traits()).not.toContain(trait)
  })

  test.each([
    ['nothing', null, 'none'],
    ['another image', '11111111-2222-4333-8444-555555555555', '11111111-2222-4333-8444-555555555555'],
    ['the UUID of nothing', '00000000-0000-0000-0000-000000000000', 'none'],
  ])('has failed when the card shows %s afterwards', async (_what, shows, said) => {
    const host = open(shows)
    await expect(host.driver.program!(host.io, NAME, '/images/design.xclbin', never)).rejects.toThrow(
      `${NAME} does not show image ${UUID} of /images/design.xclbin after programming, but ${said}`,
    )
    expect(await shown(host)).not.toHaveProperty('bitstreamId')
  })

  test.each([
    ['/images/other.bin', NAME, '/images/other.bin: is not an xclbin'],
    ['/images/none', NAME, 'ENOENT'],
    ['/images/design.xclbin', 'compute1_none', 'compute1 has no compute1_none'],
  ])('%s into %s is refused before the card is touched', async (image, name, reason) => {
    const host = open()
    await expect(host.driver.program!(host.io, name, image, never)).rejects.toThrow(reason)
    expect(host.calls).toEqual([])
  })

  test('does not touch a card when the time of the order is over, also while its image is read', async () => {
    const host = open()
    const program = (io: typeof host.io, signal: AbortSignal) =>
      host.driver.program!(io, NAME, '/images/design.xclbin', signal)
    await expect(program(host.io, AbortSignal.abort(new Error('over')))).rejects.toThrow('over')
    const abort = new AbortController()
    const head: typeof host.io.head = (path, bytes) => {
      abort.abort(new Error('meanwhile'))
      return host.io.head(path, bytes)
    }
    await expect(program({ ...host.io, head }, abort.signal)).rejects.toThrow('meanwhile')
    expect(host.calls).toEqual([])
  })

  test('runs the program of the folder that an operator names; xrt-smi may not know the commands for Alveo any more', async () => {
    const host = open()
    const list: typeof host.io.list = async (path) => (path === '/own' ? ['xbutil', 'xrt-smi'] : host.io.list(path))
    const calls: unknown[] = []
    const change: typeof host.io.change = async (...call) => (calls.push(call.slice(0, 4)), '')
    const io = { ...host.io, list, change }
    await driver({ xrtFolder: '/own' }).program!(io, NAME, '/images/design.xclbin', never).catch(() => undefined)
    const args = ['program', '--device', '0000:3b:00.1', '--user', '/images/design.xclbin']
    expect(calls).toEqual([[NAME, '/own/xbutil', args, 600_000]])
  })

  test('without XRT it is refused', async () => {
    const host = open(UUID, {})
    await expect(host.driver.program!(host.io, NAME, '/images/design.xclbin', never)).rejects.toThrow(
      '/opt/xilinx/xrt/bin: has none of xbutil, xrt-smi; is XRT installed, and does fpga.xrt_folder say where its programs are?',
    )
  })
})
