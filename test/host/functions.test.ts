/** The functions that a loaded image gives a card (data-model 10). */
import { beforeEach, describe, expect, test } from 'vitest'
import type { ReportedDeployable } from '../../src/hardware.ts'
import { dividedInto, undividable } from '../../src/host/functions.ts'
import { parsePciAddress, pciInfo, pciJson } from '../../src/pci.ts'
import { type PhysicalFunction, functionAt, topologyOf } from '../../src/topology.ts'
import { type HostLab, IMAGE, openHostLab } from '../support/hostLab.ts'
import { filesOf, imageOf } from '../support/images.ts'

const at = (text: string) => parsePciAddress(text)!
const handle = (address: string) => ({ type: 'PCI' as const, info: pciInfo(at(address)) })
const region = (...addresses: readonly string[]): ReportedDeployable => ({
  name: 'compute1_0000:3b:00.0',
  numAccelerators: addresses.length,
  driverName: 'intel',
  attributes: [{ key: 'rc', value: 'FPGA' }],
  handles: addresses.map(handle),
  hostWork: true,
  programmable: true,
  bitstreamId: IMAGE,
})
const BASE = at('0000:3b:00.0')
const pf = (name: string, offset: number, vfs: readonly (readonly [string, number])[] = []): PhysicalFunction => ({
  name,
  offset,
  capability: '',
  kpi: '',
  vfs: vfs.map(([own, away]) => ({ name: own, offset: away })),
})
/** The example of data-model 10.3. */
const TWO = [pf('pf_1', 0, [['vf_1', 1]]), pf('pf_2', 2, [['vf_2', 3]])]
const FACTS = { image: IMAGE, facts: {} }
const shapeOf = (tree: ReturnType<typeof dividedInto>) =>
  tree &&
  [tree.root, ...tree.below].map(({ name, parent = null, kind, numAccelerators, handles }) => [
    name.replace('compute1_0000:3b:00.0', 'R'),
    parent?.replace('compute1_0000:3b:00.0', 'R') ?? null,
    kind,
    numAccelerators,
    handles.map(({ info }) => `${info['device']}.${info['function']}`).join(' '),
  ])

describe('the address of a function', () => {
  test.each([
    ['0000:3b:00.0', 3, '0000:3b:00.3'],
    ['0000:3b:00.0', 8, '0000:3b:01.0'],
    ['0000:3b:00.6', 3, '0000:3b:01.1'],
    ['0000:3b:1f.7', 1, '0000:3c:00.0'],
    ['10000:00:00.0', 0, '10000:00:00.0'],
    ['0000:ff:1f.6', 1, '0000:ff:1f.7'],
  ])('%s and %i is %s', (base, offset, address) => expect(functionAt(at(base), offset)).toEqual(at(address)))
  test('ends with the last bus', () => expect(functionAt(at('0000:ff:1f.7'), 1)).toBeNull())
})

describe('a card is divided', () => {
  test('as the example says', () => {
    expect(shapeOf(dividedInto(region('0000:3b:00.1', '0000:3b:00.3'), BASE, TWO, FACTS))).toEqual([
      ['R', null, 'region', 2, ''],
      ['R_pf_1', 'R', 'pf', 1, ''],
      ['R_vf_1', 'R_pf_1', 'vf', 1, '00.1'],
      ['R_pf_2', 'R', 'pf', 1, ''],
      ['R_vf_2', 'R_pf_2', 'vf', 1, '00.3'],
    ])
  })
  test('only into what its driver shows; what nobody named stays with the root', () => {
    expect(shapeOf(dividedInto(region('0000:3b:00.3', '0000:3b:00.5'), BASE, TWO, FACTS))).toEqual([
      ['R', null, 'region', 2, '00.5'],
      ['R_pf_2', 'R', 'pf', 1, ''],
      ['R_vf_2', 'R_pf_2', 'vf', 1, '00.3'],
    ])
    expect(dividedInto(region('0000:3b:00.5'), BASE, TWO, FACTS)).toBeNull()
    expect(dividedInto(region('0000:3b:01.1', '0001:3b:00.1'), BASE, TWO, FACTS)).toBeNull()
  })
  test('a physical function without virtual ones is given itself, and says what it can', () => {
    const one = { ...pf('pf_1', 0), capability: 'crypto', kpi: '40G' }
    const tree = dividedInto(region('0000:3b:00.0'), BASE, [one, pf('pf_2', 2)], FACTS)
    expect(shapeOf(tree)).toEqual([
      ['R', null, 'region', 1, ''],
      ['R_pf_1', 'R', 'pf', 1, '00.0'],
    ])
    expect(tree!.below[0]!.attributes).toEqual([
      { key: 'function_type', value: 'PF' },
      { key: 'pci_offset', value: '0' },
      { key: 'capability', value: 'crypto' },
      { key: 'kpi', value: '40G' },
    ])
  })
  test('and says of the image what the image says of itself, below its id', () => {
    const facts = { function_name: 'nic-40', 'bs-name': 'b', more: 'not told' }
    const { root } = dividedInto(region('0000:3b:00.1'), BASE, TWO, { image: IMAGE, facts })!
    expect(root.attributes).toEqual([
      { key: 'rc', value: 'FPGA' },
      { key: 'bitstream_id', value: IMAGE },
      { key: 'function_name', value: 'nic-40', parent: 1 },
      { key: 'bs-name', value: 'b', parent: 1 },
    ])
  })
})

test('a topology without virtual functions, or with numbers in digits, is read', () => {
  const text = JSON.stringify({ pf_num: '1', vf_num: '0', pf: [{ name: 'p', pci_offset: '4', kpi: 'k' }] })
  expect(topologyOf(text)).toEqual([{ name: 'p', offset: 4, capability: '', kpi: 'k', vfs: [] }])
  expect(topologyOf('{"other": 1}')).toBeNull()
  expect(topologyOf('no json')).toBeNull()
  expect(topologyOf(undefined)).toBeNull()
})

describe('a host', () => {
  let lab: HostLab
  beforeEach(async () => {
    lab = await openHostLab()
  })
  /** The simulated cards show functions 1 and 2. */
  const topology = JSON.stringify({
    pf_num: 1,
    vf_num: 2,
    pf: [{ name: 'pf', pci_offset: '0', vf: [1, 2].map((n) => ({ name: `vf${n}`, pci_offset: String(n) })) }],
  })
  const images = filesOf(
    (image) => image === IMAGE,
    () => ({ topology }),
  )
  const last = () => {
    const section = lab.inventories().at(-1)!.drivers[0]!
    return section.status === 'ok' ? section.devices[0]!.deployables : []
  }
  const shown = () =>
    last().map(({ name, parent = null, handles }) => [
      name.split('_').slice(2).join('_'),
      parent !== null,
      handles.length,
    ])
  const DIVIDED = [
    ['', false, 0],
    ['pf', true, 0],
    ['vf1', true, 1],
    ['vf2', true, 1],
  ]
  test('shows them once the image is loaded, also after a restart, and as long as it is loaded', async () => {
    const host = await lab.boot({ options: { images } })
    expect(last()).toHaveLength(1)
    await lab.send(lab.order('Program', 1))
    await host.idle()
    expect(shown()).toEqual(DIVIDED)
    await host.stop()
    const again = await lab.boot({ options: { images } })
    await again.reportNow()
    expect(shown()).toEqual(DIVIDED)
  })
  test('gives a function to the driver as one of the whole card', async () => {
    const host = await lab.boot({ options: { images } })
    await lab.send(lab.order('Program', 1))
    await host.idle()
    const leaf = last().find(({ name }) => name.endsWith('vf2'))!
    const whole = lab.order('PrepareSlot', 1)
    const order = { ...whole, deployable: leaf.name, handle: leaf.handles[0]! }
    await lab.send(order)
    expect(lab.results().at(-1)!.result).toEqual({ status: 'done' })
    expect(Object.values((await lab.effects()).prepared)).toHaveLength(1)
    // under its guest the card is not programmed (FENCE-5)
    await lab.send(lab.order('Program', 2))
    expect(lab.results().at(-1)!.result).toMatchObject({ status: 'failed', final: true })
  })
  test.each<[string, object, string]>([
    [
      'a physical function that the card does not have',
      {
        pf_num: 2,
        vf_num: 2,
        pf: [1, 3].map((n) => ({ name: `pf${n}`, pci_offset: n - 1, vf: [{ name: `vf${n}`, pci_offset: n }] })),
      },
      'the card has no function acc0:00:00.3, which would be vf3',
    ],
    [
      'a function beyond the last bus',
      { pf_num: 1, vf_num: 0, pf: [{ name: 'far', pci_offset: 65_535 }] },
      'the card has no function acc0:ff:1f.7, which would be far',
    ],
  ])('does not load an image whose document names %s, and says so', async (_, document, why) => {
    await lab.boot({ options: { images: filesOf(undefined, () => ({ topology: JSON.stringify(document) })) } })
    await lab.send(lab.order('Program', 1))
    const reason = `image_unsuitable: image ${IMAGE} is made for other hardware: topology mismatch: ${why}`
    expect(lab.results()[0]!.result).toEqual({ status: 'failed', reason, final: true })
    expect((await lab.effects()).loaded).toEqual({})
  })
  test('does not divide a card whose functions are given together, or that is a tree by itself', () => {
    const whole = region('0000:3b:00.0')
    const device = (more: object = {}) => ({
      controlPath: { type: 'PCI', info: pciJson(BASE) },
      deployables: [whole],
      ...more,
    })
    const document = JSON.stringify({ pf_num: 1, vf_num: 0, pf: [{ name: 'p', pci_offset: 0 }] })
    const why = (one: object, all: object = {}) =>
      undividable({ ...whole, ...one }, device(all) as never, { ...imageOf(IMAGE), properties: { topology: document } })
    expect(why({})).toBeNull()
    expect(why({ handles: [{ ...whole.handles[0], set: 0 }] })).toBe(
      'topology mismatch: the functions of the card are given together',
    )
    const itself = 'topology mismatch: the driver of the card says itself what it consists of'
    expect(why({}, { deployables: [whole, { ...whole, parent: whole.name }] })).toBe(itself)
    expect(why({}, { controlPath: { type: 'PATH', info: '/dev/x' } })).toBe(itself)
  })
  test('does not load such an image for a bind', async () => {
    await lab.boot({ options: { images } })
    await lab.send(lab.order('PrepareSlot', 1, { bitstream: IMAGE }))
    const reason = `image_unsuitable: image ${IMAGE} is made for other hardware: it divides the card into functions, so only an operator loads it`
    expect(lab.results().map(({ result }) => result)).toEqual([{ status: 'failed', reason, final: true }])
  })
  test('whose record of functions is no longer readable shows whole cards, and says so', async () => {
    await lab.disk.replace('/state/functions.json', 'no json')
    await lab.boot({ options: { images } })
    expect(lab.log.said.map(({ message }) => message)).toContain('host.functionsUnreadable')
  })
})
