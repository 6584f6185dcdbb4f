/** Cards whose illness the PCI bus shows: they answer no more, or a port above them counts their fatal errors. */
import { describe, expect, test } from 'vitest'
import { judgedBy, type Numbers } from '../../src/vocabulary/health.ts'
import { never } from './driver.contract.ts'
import { driverOf } from './machines.ts'
import { type RecordedHost, recordedHostIo, type Tree } from './recordedHostIo.ts'

const pathOf = (address: string): string => {
  const [, domain, bus, device, fn] = /^(.{4,8}):(..):(..)\.(.)$/.exec(address)!
  return `{"bus": "${bus}", "device": "${device}", "domain": "${domain}", "function": "${fn}"}`
}
const GPU: Tree = { vendor: '0x10de\n', device: '0x20b5\n', class: '0x030200\n' }
const BRIDGE: Tree = { vendor: '0x8086\n', device: '0x347a\n', class: '0x060400\n' }
/** Functions by their place below `pci0000:00`, as the kernel nests them. */
const bus = (places: Readonly<Record<string, Tree>>): RecordedHost => {
  const [links, root]: [Tree, Tree] = [{}, {}]
  for (const [place, files] of Object.entries(places)) {
    const names = place.split('/')
    const folder = names.reduce((at, name) => (at[name] ??= {}) as Tree, root)
    Object.assign(folder, files)
    links[names.at(-1)!] = { '->': `../../../devices/pci0000:00/${place}` }
  }
  return recordedHostIo({ sys: { bus: { pci: { devices: links } }, devices: { 'pci0000:00': root } } })
}
const measured = async (io: RecordedHost, ...addresses: readonly string[]): Promise<readonly Numbers[]> => {
  const { devices } = await driverOf('pci_driver').measure!(io, addresses.map(pathOf), never)
  return devices.map(({ numbers }) => numbers)
}
const healthOf = async (...given: Parameters<typeof measured>) =>
  (await measured(...given)).map((numbers) => judgedBy(numbers).health)

const fatal = (count: number): Tree => ({ aer_dev_fatal: `Undefined 0\nTOTAL_ERR_FATAL ${count}\n` })
const rootPort = (count: number, own = 0): Tree => ({
  ...BRIDGE,
  ...fatal(own),
  aer_rootport_total_err_fatal: `${count}\n`,
})
const gpu = (count = 0): Tree => ({ ...GPU, ...fatal(count) })

describe('a fatal error that only a port above has counted', () => {
  test('is that of the device below the port, with all of its functions, and of no other device', async () => {
    const io = bus({
      '0000:00:01.0': rootPort(1),
      '0000:00:01.0/0000:01:00.0': gpu(),
      '0000:00:01.0/0000:01:00.1': { ...gpu(), class: '0x040300\n' },
      '0000:00:01.0/0000:01:00.4': { ...gpu(), physfn: { '->': '../0000:01:00.0' } },
      '0000:00:01.0/0000:01:02.0': { ...gpu(), physfn: { '->': '../0000:01:00.0' } },
      '0000:00:02.0': rootPort(0),
      '0000:00:02.0/0000:02:00.0': gpu(),
    })
    expect(await measured(io, '0000:01:00.0', '0000:01:00.4', '0000:02:00.0')).toEqual([
      { pci_fatal_errors: 1 },
      { pci_fatal_errors: 1 },
      { pci_fatal_errors: 0 },
    ])
  })
  test('is that of a device that counts nothing itself', async () => {
    const io = bus({ '0000:00:01.0': rootPort(2), '0000:00:01.0/0000:01:00.0': GPU })
    expect(await measured(io, '0000:01:00.0')).toEqual([{ pci_fatal_errors: 2 }])
  })
  const behindSwitch = (root: Tree, ports: readonly Tree[], gpus: readonly Tree[]) =>
    bus({
      '0000:00:01.0': root,
      '0000:00:01.0/0000:01:00.0': { ...BRIDGE, ...fatal(0) },
      ...Object.fromEntries(
        gpus.flatMap((one, at) => {
          const port = `0000:00:01.0/0000:01:00.0/0000:02:0${at}.0`
          return [
            [port, { ...BRIDGE, ...ports[at] }],
            [`${port}/0000:0${at + 3}:00.0`, one],
          ]
        }),
      ),
    })
  const TWO = ['0000:03:00.0', '0000:04:00.0'] as const
  test('is shown as a warning of all devices below the port where there are several', async () => {
    const io = behindSwitch(rootPort(1), [fatal(0), fatal(0)], [gpu(), gpu()])
    expect(await measured(io, ...TWO)).toEqual([
      { pci_fatal_errors: 0, pci_shared_fatal_errors: 1 },
      { pci_fatal_errors: 0, pci_shared_fatal_errors: 1 },
    ])
    expect(await healthOf(io, ...TWO)).toEqual(['warning', 'warning'])
  })
  test('is that of one of several devices where that one, or the port next to it, has counted it too', async () => {
    const byDevice = behindSwitch(rootPort(1), [fatal(0), fatal(0)], [gpu(1), gpu()])
    const byPort = behindSwitch(rootPort(1), [fatal(1), fatal(0)], [gpu(), gpu()])
    for (const io of [byDevice, byPort]) {
      expect(await healthOf(io, ...TWO)).toEqual(['bad', 'ok'])
      expect((await measured(io, ...TWO))[0]).toEqual({ pci_fatal_errors: 1 })
    }
  })
  test('is counted once where a device and its port have counted it', async () => {
    const io = bus({ '0000:00:01.0': rootPort(1), '0000:00:01.0/0000:01:00.0': gpu(1) })
    expect(await measured(io, '0000:01:00.0')).toEqual([{ pci_fatal_errors: 1 }])
  })
  test.each([
    ['the device has counted it too, and is plugged in again', 1, false],
    ['only the port has counted it, and the device is pulled and plugged in again', 0, true],
  ])('is over when %s', async (_, own, isPulled) => {
    const io = bus({ '0000:00:01.0': rootPort(1), '0000:00:01.0/0000:01:00.0': gpu(own) })
    const measure = driverOf('pci_driver').measure!
    const read = async () => (await measure(io, [pathOf('0000:01:00.0')], never)).devices[0]?.numbers.pci_fatal_errors
    expect([await read(), await read()]).toEqual([1, 1])
    const links = io.tree('/sys/bus/pci/devices')
    const link = links['0000:01:00.0']!
    Object.assign(io.tree('/sys/bus/pci/devices/0000:01:00.0'), fatal(0))
    if (isPulled) {
      io.remove('/sys/bus/pci/devices/0000:01:00.0')
      expect(await read()).toBeUndefined()
      links['0000:01:00.0'] = link
    }
    expect([await read(), await read()]).toEqual([0, 0])
    io.tree('/sys/bus/pci/devices/0000:00:01.0')['aer_rootport_total_err_fatal'] = '2\n'
    expect(await read()).toBe(1)
  })
  test('is none where the counters of ports make no sense', async () => {
    const odd = { ...BRIDGE, aer_dev_fatal: 'garbage\n', aer_rootport_total_err_fatal: '-1\n' }
    const io = bus({ '0000:00:01.0': odd, '0000:00:01.0/0000:01:00.0': GPU })
    expect(await measured(io, '0000:01:00.0')).toEqual([{}])
  })
})

const GONE = '\u00FF'.repeat(64)
const THERE = `\u00DE\u0010${'\u0000'.repeat(62)}`
/** Of a virtual function the ids read as ones, also of a healthy one. */
const VIRTUAL = `${'\u00FF'.repeat(4)}${'\u0000'.repeat(60)}`

describe('a card that does not answer on its bus', () => {
  const host = () =>
    bus({
      '0000:17:00.0': { ...GPU, config: THERE },
      '0000:3d:00.0': { ...GPU, config: GONE },
      '0000:ca:00.0': { ...GPU, config: VIRTUAL, physfn: { '->': '../0000:c9:00.0' } },
    })
  const ALL = ['0000:17:00.0', '0000:3d:00.0', '0000:ca:00.0'] as const
  test('is bad, and well when it answers again; what the host does not show says nothing', async () => {
    const io = host()
    expect(await healthOf(io, ...ALL)).toEqual(['ok', 'bad', 'ok'])
    io.tree('/sys/bus/pci/devices/0000:3d:00.0')['config'] = THERE
    expect((await measured(io, ...ALL)).map((one) => one.off_the_bus)).toEqual([0, 0, 0])
    for (const empty of ['', '\u00FF'.repeat(8)]) {
      io.tree('/sys/bus/pci/devices/0000:3d:00.0')['config'] = empty
      expect(await measured(io, '0000:3d:00.0')).toEqual([{}])
    }
  })
  test.each(['nvidia_gpu_driver', 'pci_driver'])('is not offered by %s, which says why', async (name) => {
    const driver = driverOf(name, {
      pci: { whitelist: '{"vendor_id": "10de", "product_id": "20b5", "mode": "pf"}' },
    })
    const io = host()
    const usable = (await driver.discover(io)).filter(({ stub }) => stub !== true).map((one) => one.controlPath.info)
    expect(usable).toContain(pathOf('0000:17:00.0'))
    expect(usable).not.toContain(pathOf('0000:3d:00.0'))
    const reasons = (await driver.leftOut!(io)).filter(({ address }) => address === '0000:3d:00.0')
    expect(reasons).toEqual([
      { address: '0000:3d:00.0', reason: expect.stringContaining('does not answer on its bus') },
    ])
    const slot = {
      uuid: 'u',
      deployable: 'd',
      type: 'PCI',
      info: JSON.parse(pathOf('0000:3d:00.0')) as Record<string, string>,
    } as const
    await expect(driver.prepare(io, slot, never)).rejects.toThrow('0000:3d:00.0 is not given to a guest')
  })
})

test.each(['id_table_driver', 'pci_driver'])(
  'a virtual function has gone with its physical one: %s neither offers nor gives it away',
  async (name) => {
    const mi300x: Tree = { vendor: '0x1002\n', device: '0x74a1\n', class: '0x120000\n' }
    const virtual = { ...mi300x, device: '0x74b5\n', config: VIRTUAL }
    const io = bus({
      '0000:c1:00.0': { ...mi300x, config: GONE },
      '0000:c1:02.0': { ...virtual, physfn: { '->': '../0000:c1:00.0' } },
      '0000:c5:00.0': { ...mi300x, config: THERE },
      '0000:c5:02.0': { ...virtual, physfn: { '->': '../0000:c5:00.0' } },
    })
    const driver = driverOf(name, { pci: { whitelist: '{"vendor_id": "1002", "product_id": "74b5"}' } })
    const usable = (await driver.discover(io)).filter(({ stub }) => stub !== true).map((one) => one.controlPath.info)
    expect(usable).toEqual([pathOf('0000:c5:02.0')])
    expect(await driver.leftOut!(io)).toContainEqual({
      address: '0000:c1:02.0',
      reason: expect.stringMatching(/^its physical function 0000:c1:00.0: it does not answer on its bus/),
    })
    const prepared = (address: string) => {
      const info = JSON.parse(pathOf(address)) as Record<string, string>
      return driver.prepare(io, { uuid: 'u', deployable: 'd', type: 'PCI', info }, never)
    }
    await expect(prepared('0000:c1:02.0')).rejects.toThrow('0000:c1:02.0 is not given to a guest')
    await prepared('0000:c5:02.0')
  },
)

test('the link of a GPU that idles slowly is not reduced; one that is narrow, or slow under load, is', async () => {
  const link = (speed: string, width = '16'): Tree => ({
    current_link_speed: `${speed} GT/s PCIe\n`,
    max_link_speed: '16.0 GT/s PCIe\n',
    current_link_width: `${width}\n`,
    max_link_width: '16\n',
  })
  const io = bus({
    '0000:17:00.0': { ...GPU, ...link('2.5') },
    '0000:18:00.0': { ...GPU, ...link('2.5', '8') },
    '0000:19:00.0': { vendor: '0x1002\n', device: '0x74a1\n', class: '0x120000\n', ...link('2.5') },
    '0000:1a:00.0': { vendor: '0x144d\n', device: '0xa80a\n', class: '0x010802\n', ...link('2.5') },
  })
  const all = await measured(io, '0000:17:00.0', '0000:18:00.0', '0000:19:00.0', '0000:1a:00.0')
  expect(all.map((one) => one.link_reduced)).toEqual([0, 1, 0, 1])
  const busyAt = (percent: number) => {
    const row = `00000000:17:00.0, 41, ${percent}, 12, 71.35, 0, 0, No\n`
    const run = async (_program: string, [query]: readonly string[]) => (query!.startsWith('--query-gpu') ? row : '')
    return driverOf('nvidia_gpu_driver').measure!({ ...io, run }, [pathOf('0000:17:00.0')], never)
  }
  for (const percent of [0, 90])
    expect((await busyAt(percent)).devices[0]!.numbers.link_reduced).toBe(percent === 0 ? 0 : 1)
})
