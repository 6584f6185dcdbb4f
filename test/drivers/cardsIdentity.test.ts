/** What drivers say of a card, by which it is known at another address of its host. */
import { describe, expect, test } from 'vitest'
import { likeness } from '../../src/vocabulary/card.ts'
import type { Driver } from '../../src/drivers/driver.ts'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { driverOf as named } from './machines.ts'
import { type Tree, recordedHostIo } from './recordedHostIo.ts'

const bytes = (...all: readonly number[]): string => String.fromCharCode(...all)
/** A configuration space of 4096 bytes with these extended capabilities, each after the one before. */
const config = (...capabilities: readonly (readonly [id: number, ...content: readonly number[]])[]): string => {
  const space = new Uint8Array(4096)
  const view = new DataView(space.buffer)
  capabilities.forEach(([id, ...content], n) => {
    const [at, next] = [0x100 + n * 0x40, n + 1 < capabilities.length ? 0x140 + n * 0x40 : 0]
    view.setUint32(at, id | (1 << 16) | (next << 20), true)
    space.set(content, at + 4)
  })
  return bytes(...space)
}
const SERIAL = [0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]
const withSerial = (...serial: readonly number[]) => config([0x0001], [0x0003, ...serial])
const vpdOf = (sn: string) =>
  bytes(0x82, 2, 0, 0x41, 0x42, 0x90, sn.length + 7, 0, 0x50, 0x4e, 1, 0x31, 0x53, 0x4e, sn.length) + sn + bytes(0x78)

const fn = (more: Tree = {}): Tree => ({
  vendor: '0x8086\n',
  device: '0x0b60\n',
  class: '0x120000\n',
  subsystem_vendor: '0x8086\n',
  subsystem_device: '0x0001\n',
  ...more,
})
const driverOf = (): Driver => {
  return named('pci_driver', { pci: { whitelist: '{"vendor_id": "8086"}' } })
}
const discovered = async (functions: Tree, more: Tree = {}): Promise<readonly ReportedDevice[]> =>
  driverOf().discover(recordedHostIo({ sys: { bus: { pci: { devices: functions } } }, ...more }))
const cardAt = async (functions: Tree, more: Tree = {}) => (await discovered(functions, more))[0]!.card
const marksAt = async (more: Tree, address = '0000:02:00.0', root: Tree = {}) =>
  (await cardAt({ [address]: fn(more) }, root))!.marks

describe('a device on the PCI bus', () => {
  test('says its ids, and leaves its numbers on the host but for a hash', async () => {
    const card = await cardAt({ '0000:02:00.0': fn({ config: withSerial(...SERIAL) }) })
    expect(card).toEqual({
      kind: { pci: '8086:0b60', subsystem: '8086:0001' },
      marks: { serial_number: expect.stringMatching(/^[0-9a-f]{32}$/) },
    })
  })
  test('says the same at every address', async () => {
    const more = { config: withSerial(...SERIAL), nvme: { nvme0: { serial: 'S4EWNX0R \n' } } }
    expect(await marksAt(more, '0000:02:00.0')).toEqual(await marksAt(more, '0001:81:00.0'))
    expect(Object.keys(await marksAt(more))).toEqual(['serial_number', 'nvme'])
  })
  test('says another one for each of its functions, which have their number in common', async () => {
    const more = { config: withSerial(...SERIAL) }
    expect(await marksAt(more, '0000:02:00.0')).not.toEqual(await marksAt(more, '0000:02:00.1'))
  })
  test('is asked for vital product data only where it has no other number', async () => {
    expect(Object.keys(await marksAt({ vpd: vpdOf('MT1234') }))).toEqual(['vpd'])
    expect(Object.keys(await marksAt({ vpd: vpdOf('MT1234'), config: withSerial(...SERIAL) }))).toEqual([
      'serial_number',
    ])
  })
  test('of NVIDIA is known by the UUID that its driver shows, while it shows one', async () => {
    const uuid = 'GPU-11111111-2222-4333-8444-555555555555'
    const shows = (text: string): Tree => ({
      proc: { driver: { nvidia: { gpus: { '0000:02:00.0': { information: text } } } } },
    })
    const at = (text: string) => marksAt({}, '0000:02:00.0', shows(text))
    expect(Object.keys(await at(`Model: \t\t T4\nGPU UUID: \t ${uuid}\nBus Location: x\n`))).toEqual(['gpu'])
    expect(await at('GPU UUID: \t GPU-????????-????-????-????-????????????\n')).toEqual({})
    expect(await at('')).toEqual({})
  })
  test.each([
    ['only zeros', { config: withSerial(0, 0, 0, 0, 0, 0, 0, 0) }],
    ['only ones', { config: withSerial(255, 255, 255, 255, 255, 255, 255, 255) }],
    ['a number of blanks', { vpd: vpdOf('     ') }],
    ['a short number', { nvme: { nvme0: { serial: '01\n' } } }],
    ['a folder in the place of a file', { config: {}, vpd: {}, nvme: '' }],
    ['64 bytes of configuration', { config: 'x'.repeat(64) }],
    ['as a card that has left', { config: bytes(0xff).repeat(4096) }],
    ['no such capability', { config: config([0x0001], [0x000d]) }],
    [
      'capabilities that lead to themselves',
      { config: config([0x0001]).slice(0, 0x102) + bytes(1, 16) + config().slice(0x104) },
    ],
    ...[bytes(0x90, 255, 0, 0x53), bytes(0xff, 0xff, 0xff), bytes(0x78), bytes(0).repeat(64)].map(
      (vpd) => ['vital product data that ends early', { vpd }] as const,
    ),
  ] as const)('has no mark where it says %s', async (_, more) => {
    expect(await marksAt(more as unknown as Tree)).toEqual({})
  })
  test('that is a virtual function is known by its physical function and its number', async () => {
    const parent = (bus: string, ...parts: readonly string[]): Tree =>
      fn({
        config: withSerial(...SERIAL),
        sriov_totalvfs: '2\n',
        ...Object.fromEntries(parts.map((part, n) => [`virtfn${n}`, { '->': `../${part}` }])),
      })
    const part = (of: string): Tree => fn({ device: '0x0b61\n', physfn: { '->': `../${of}` }, config: '' })
    const host = (bus: string): Tree => ({
      [`0000:${bus}:00.0`]: parent(bus, `0000:${bus}:01.0`, `0000:${bus}:01.1`),
      [`0000:${bus}:01.0`]: part(`0000:${bus}:00.0`),
      [`0000:${bus}:01.1`]: part(`0000:${bus}:00.0`),
    })
    const marks = async (bus: string) => (await discovered(host(bus))).map(({ card }) => card!.marks['serial_number'])
    const [one, other] = await marks('02')
    expect(one).toMatch(/^[0-9a-f]{32}$/)
    expect(one).not.toBe(other)
    expect(await marks('44')).toEqual([one, other])
  })
})

test('the card in the place of a deployable is told afresh, whatever was discovered before', async () => {
  const driver = driverOf()
  const io = recordedHostIo({
    sys: { bus: { pci: { devices: { '0000:02:00.0': fn({ config: withSerial(...SERIAL) }) } } } },
  })
  const [device] = await driver.discover(io)
  const { name } = device!.deployables[0]!
  expect(await driver.cardAt!(io, name)).toEqual(device!.card)
  io.tree('/sys/bus/pci/devices/0000:02:00.0')['config'] = withSerial(...SERIAL.toReversed())
  expect(likeness(device!.card!, (await driver.cardAt!(io, name))!)).toBe('other')
  io.remove('/sys/bus/pci/devices/0000:02:00.0')
  expect(await driver.cardAt!(io, name)).toEqual({ kind: {}, marks: {} })
  expect(await driver.cardAt!(io, 'h1_no_address')).toBe(null)
})
