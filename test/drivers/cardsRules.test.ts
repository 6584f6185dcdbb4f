/** Cards of one function and of several: whole descriptions, names, mappings of interfaces, and their options. */
import { describe, expect, test } from 'vitest'
import type { Driver, HostIo } from '../../src/drivers/driver.ts'
import { type KnownCard, KNOWN_CARDS, lookupIn } from '../../src/drivers/cards/knownCards.ts'
import { mappedTo, readMapping } from '../../src/drivers/cards/nicMappings.ts'
import { namesIn, pciNames } from '../../src/drivers/cards/pciNames.ts'
import { qatKind, sriovDriver } from '../../src/drivers/cards/sriovDriver.ts'
import { type DriverOptions, driverByName } from '../../src/drivers/index.ts'
import { parsePciAddress, pciInfo } from '../../src/pci.ts'
import { never } from './driver.contract.ts'
import { recordedHostIo, type Tree } from './recordedHostIo.ts'
import { type Facts, pciTree } from './trees.ts'

const at = (text: string) => parsePciAddress(text)!
const driverOf = (name: string, options: DriverOptions = {}): Driver => {
  const reading = driverByName(name, options)
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  return reading.driver
}
const attributes = (rc: string, ...traits: readonly string[]) => [
  { key: 'rc', value: rc },
  ...traits.map((value, n) => ({ key: `trait${n}`, value })),
]
const pathOf = (bus: string) => `{"bus": "${bus}", "device": "00", "domain": "0000", "function": "0"}`

describe('mappings of interfaces', () => {
  const read = (...items: readonly string[]) => {
    const reading = readMapping(items, 'f')
    return reading.ok ? Object.fromEntries(reading.mapping) : reading.problems
  }
  const refused = (item: string, at = 0) => [
    { field: `f[${at}]`, rule: `must be 'name:interface|interface', each interface once, is '${item}'` },
  ]
  test('give each interface one name', () => {
    expect(read()).toEqual({})
    expect(read(' net-1.a_b : eth0 | eth1@if2.7 ', 'net2:ens3')).toEqual({
      eth0: 'net-1.a_b',
      'eth1@if2.7': 'net-1.a_b',
      ens3: 'net2',
    })
    const [name, interface_] = ['n'.repeat(100), 'e'.repeat(64)]
    expect(read(`${name}:${interface_}|eth1`)).toEqual({ [interface_]: name, eth1: name })
  })
  test.each([
    ['n', 'a:', ':e', 'a:e|', 'a:|e', 'a b:e', 'a:e f', 'a:e,f', 'a:b:c', 'a/b:e', 'a:e/f'],
    [`${'n'.repeat(101)}:e`, `n:${'e'.repeat(65)}`, `n:eth0|${'e'.repeat(65)}`],
    ['a:e|e'],
  ])('are refused that have another form: case %#', (...items) => {
    for (const item of items) expect(read(item)).toEqual(refused(item))
  })
  test('are refused with each place where a name or an interface comes again', () => {
    expect(read('a:e', 'a:f', 'b:e', 'c:g')).toEqual([...refused('a:f', 1), ...refused('b:e', 2)])
  })
  test('name a function by the first of its interfaces that has a name', () => {
    const mapping = new Map([
      ['one', 'first'],
      ['two', 'second'],
    ])
    expect([mappedTo(mapping, ['none', 'two', 'one']), mappedTo(mapping, ['none']), mappedTo(mapping, [])]).toEqual([
      'second',
      null,
      null,
    ])
  })
  test('are refused for networks and functions together', () =>
    expect(driverByName('intel_nic_driver', { nic: { networks: ['x'], functions: ['a:e', 'y'] } })).toEqual({
      ok: false,
      problems: [
        { ...refused('x')[0], field: 'nic_devices.physical_device_mappings[0]' },
        { ...refused('y')[0], field: 'nic_devices.function_device_mappings[1]' },
      ],
    }))
})

const [PF, OTHER] = ['0000:18:00.0', '0000:19:00.0']
const vf = (device: string, pciClass: string): Facts => ({ vendor: '8086', device, class: pciClass, physfn: PF })
describe('a card of Intel with several functions', () => {
  const nics = (more: Tree = {}) =>
    pciTree({
      [PF]: { vendor: '8086', device: '158b', class: '020000', more: { net: { ens1: {} } } },
      '0000:18:02.1': vf('154c', '020000'),
      '0000:18:02.0': vf('154c', '020000'),
      [OTHER]: { vendor: '8086', device: '158b', class: '020000', more },
      '0000:1a:00.0': { vendor: '8086', device: '158b', class: '028000' },
    })
  const mappingsOf = (networks: readonly string[], functions: readonly string[]) => ({ nic: { networks, functions } })
  const nic = (bus: string, deployables: readonly object[]) => ({
    type: 'NIC',
    vendor: '0x8086',
    model: 'miss_model_info',
    stdBoardInfo: '{"product_id": "0x158b"}',
    vendorBoardInfo: 'miss_vb_info',
    controlPath: { type: 'PCI', info: pathOf(bus) },
    deployables,
  })
  const part = (address: string, traits: readonly string[], network: string | null) => ({
    name: `h1_${address}`,
    numAccelerators: 1,
    driverName: 'intel',
    attributes: attributes('CUSTOM_NIC', ...traits),
    handles: [
      {
        type: 'PCI',
        info: { ...pciInfo(at(address)), ...(network === null ? {} : { physical_network: network }) },
        ...(address.startsWith('0000:18') ? { physfn: PF } : {}),
      },
    ],
    hostWork: true,
    programmable: false,
  })
  test('is one device with its virtual functions in their order, named by its interface', async () => {
    const io = recordedHostIo({ sys: nics() }, 'h1')
    const driver = driverOf('intel_nic_driver', mappingsOf(['physnet1:ens1'], ['gtp:ens1']))
    const traits = ['CUSTOM_VF', 'CUSTOM_GTP', 'CUSTOM_PHYSNET1']
    const devices = await driver.discover(io)
    expect(devices.map((device) => ({ ...device, card: undefined }))).toEqual([
      nic('18', [part('0000:18:02.0', traits, 'physnet1'), part('0000:18:02.1', traits, 'physnet1')]),
      nic('19', [part(OTHER, ['CUSTOM_PF'], null)]),
      nic('1a', [part('0000:1a:00.0', ['CUSTOM_PF'], null)]),
    ])
    expect(await driver.leftOut!(io)).toEqual([{ address: PF, reason: 'its virtual functions are offered instead' }])
  })
  test('is named by a network or by a function alone', async () => {
    const traitsWith = async (networks: readonly string[], functions: readonly string[]) => {
      const io = recordedHostIo({ sys: nics() }, 'h1')
      const [card] = await driverOf('intel_nic_driver', mappingsOf(networks, functions)).discover(io)
      return card!.deployables[0]!.attributes.slice(1).map(({ value }) => value)
    }
    expect([await traitsWith(['a:ens1'], []), await traitsWith([], ['b:ens1']), await traitsWith(['a:x'], [])]).toEqual(
      [['CUSTOM_VF', 'CUSTOM_A'], ['CUSTOM_VF', 'CUSTOM_B'], ['CUSTOM_VF']],
    )
  })
  test('without mappings does not look up interfaces', async () => {
    const io = recordedHostIo({ sys: nics() }, 'h1')
    await driverOf('intel_nic_driver').discover(io)
    expect(io.kept()).toEqual({})
  })
  const qat = (known = lookupIn()) => sriovDriver(qatKind, { sysfsRoot: '/sys', known })
  const qats = (pciClass: string) =>
    recordedHostIo({ sys: pciTree({ [PF]: { vendor: '8086', device: '37c8', class: pciClass } }) }, 'h1')
  const row = lookupIn()({ vendor: '8086', product: '37c8' })!
  test('for cryptography has its family, and the class and traits of an operator', async () => {
    const shown = async (given: Partial<KnownCard>) =>
      (await qat(lookupIn([{ ...row, ...given }])).discover(qats('0b4000')))[0]!.deployables[0]!
    const traits = ['OWNER_CYBORG', 'CUSTOM_QAT_INTEL', 'CUSTOM_QAT_PRODUCT_ID_37C8']
    expect((await shown({})).attributes).toEqual(
      attributes('CUSTOM_QAT', ...traits, 'CUSTOM_QAT_INTEL_C62X', 'CUSTOM_PF'),
    )
    expect((await shown({ family: null, resourceClass: 'CUSTOM_OWN', traits: ['CUSTOM_MINE'] })).attributes).toEqual(
      attributes('CUSTOM_OWN', ...traits, 'CUSTOM_PF', 'CUSTOM_MINE'),
    )
  })
  test('is found by its row: of its driver, of its class, and no virtual function', async () => {
    const count = async (given: Partial<KnownCard>, pciClass = '0b4000') =>
      (await qat(lookupIn([{ ...row, ...given }])).discover(qats(pciClass))).length
    expect(await count({})).toBe(1)
    expect([await count({ driver: 'id_table_driver' }), await count({ vfOf: '37c8' })]).toEqual([0, 0])
    expect([await count({ pciClass: '0b' }), await count({ pciClass: 'b4' }), await count({ pciClass: '12' })]).toEqual(
      [1, 0, 0],
    )
  })
})

describe('the names of cards', () => {
  const IDS = { vendor: '10de', product: '2330' }
  const file = (text: string): Tree => ({ usr: { share: { hwdata: { 'pci.ids': text } } } })
  const counted = (tree: Tree) => {
    const io = recordedHostIo(tree)
    const reads: string[] = []
    const read: HostIo['read'] = (path) => (reads.push(path), io.read(path))
    return { io: { ...io, read }, reads, warnings: io.warnings, tree: io.tree }
  }
  test('are those of the file, read again only for a card that is new', async () => {
    const { io, reads, tree } = counted(file('10de  NVIDIA\n\t2330  H100\n'))
    const namesOf = pciNames(() => ({ name: 'of the table' }))
    const other = { vendor: '10de', product: '2331' }
    expect((await namesOf(io, [IDS]))(IDS)).toBe('NVIDIA H100')
    const places = ['/usr/share/misc/pci.ids', '/usr/share/hwdata/pci.ids']
    expect(reads).toEqual(places)
    tree('/usr/share/hwdata')['pci.ids'] = '10de  NVIDIA\n\t2330  H100 PCIe\n\t2331  H200\n'
    const now = await namesOf(io, [IDS])
    expect([now(IDS), now(other), reads.length]).toEqual(['NVIDIA H100', 'Device', 2])
    const all = await namesOf(io, [IDS, other])
    expect([all(IDS), all(other), reads]).toEqual(['NVIDIA H100', 'NVIDIA H200', [...places, ...places]])
  })
  test('are those of the table where the file has none, or only that of the maker', async () => {
    const nameIn = async (text: string, known: string | null) =>
      (await pciNames(() => (known === null ? null : { name: known }))(counted(file(text)).io, [IDS]))(IDS)
    expect([
      await nameIn('', 'own'),
      await nameIn('10de  NVIDIA\n', 'own'),
      await nameIn('10de  NVIDIA\n', null),
    ]).toEqual(['own', 'own', 'NVIDIA Device'])
    expect([await nameIn('', null), await nameIn('10de  NVIDIA\n\t2330  My Device\n', 'own')]).toEqual([
      'Device',
      'own',
    ])
  })
  test('are those of an operator before those of the file', async () => {
    const { io } = counted(file('10de  NVIDIA\n\t2330  H100\n'))
    expect((await pciNames(() => ({ name: 'our H100', ofOperator: true }))(io, [IDS]))(IDS)).toBe('our H100')
  })
  test('are looked for in three places, and a file that cannot be read is told once for each reason', async () => {
    const { io, reads, warnings } = counted({})
    const namesOf = pciNames(() => ({ name: 'own' }))
    expect((await namesOf(io, [IDS]))(IDS)).toBe('own')
    expect(reads).toEqual(['/usr/share/misc/pci.ids', '/usr/share/hwdata/pci.ids', '/usr/share/pci.ids'])
    let reason = 'EIO'
    const broken: HostIo = { ...io, read: () => Promise.reject(new Error(reason)) }
    const others = pciNames(() => ({ name: 'own' }))
    for (const next of ['EIO', 'EIO', 'EACCES']) {
      reason = next
      expect((await others(broken, [IDS]))(IDS)).toBe('own')
    }
    const warning = (why: string) => ({
      event: 'pci_names_unreadable',
      detail: { path: '/usr/share/misc/pci.ids', reason: why },
    })
    expect(warnings).toEqual([warning('EIO'), warning('EACCES')])
    // it is read again once that is possible
    expect((await others(counted(file('10de  NVIDIA\n\t2330  H100\n')).io, [IDS]))(IDS)).toBe('NVIDIA H100')
  })
  test('of a file are those below their maker', () => {
    const text = [
      ...['# 10de  no', '\t2330  before', '10de  NVIDIA Corporation ', '\t2330  H100 ', '\t\t2330 1043  board'],
      ...['', '# note', '\t2331  H200', '\t2332 one blank', '\t233  short', '10df  Other', '\t2330  of another'],
      ...['C 03  Display', '\t2330  class', '10DE  upper', '\t2331  upper'],
    ].join('\n')
    const wanted = ['2330', '2331', '2332'].map((product) => ({ vendor: '10de', product }))
    expect([...namesIn(text, [...wanted, { vendor: '10df', product: '9' }, { vendor: 'ffff', product: '1' }])]).toEqual(
      [
        ['10de:2330', 'NVIDIA Corporation H100'],
        ['10de:2331', 'NVIDIA Corporation H200'],
        ['10de:2332', 'NVIDIA Corporation Device'],
        ['10df:9', 'Other Device'],
      ],
    )
  })
})

describe('a card of one function', () => {
  const gpu = (address: string) => ({ [address]: { vendor: '10de', device: '1eb8', class: '030200' } })
  const slotOf = (address: string) => ({
    ...{ uuid: 'u', deployable: 'd', type: 'PCI' as const, info: pciInfo(at(address)) },
  })
  test('that is gone, or is no PCI function, is not prepared', async () => {
    const io = recordedHostIo({ sys: pciTree(gpu(PF)) }, 'h1')
    const driver = driverOf('inspur_fpga_driver')
    await driver.prepare(io, slotOf(PF), never)
    await expect(driver.prepare(io, slotOf(OTHER), never)).rejects.toThrow(`slot u: no PCI device ${OTHER} on h1`)
    await expect(driver.prepare(io, { ...slotOf(PF), type: 'MDEV' }, never)).rejects.toThrow(
      'slot u: info must be a PCI address',
    )
    await expect(driver.prepare(io, slotOf(PF), AbortSignal.abort(new Error('over')))).rejects.toThrow('over')
    expect(await driver.release(io, slotOf(PF), never)).toBe(undefined)
  })
  test('is in use as long as it is offered and a guest has it', async () => {
    const more = { driver: { '->': '../../../bus/pci/drivers/vfio-pci' }, enable: '1' }
    const io = recordedHostIo({ sys: pciTree({ [PF]: { ...gpu(PF)[PF]!, more } }) }, 'h1')
    const driver = driverOf('nvidia_gpu_driver')
    expect(await driver.inUse!(io)).toEqual([])
    await driver.discover(io)
    expect(await driver.inUse!(io)).toEqual([
      { type: 'PCI', info: pciInfo(at(PF)), by: 'a process has opened it through vfio-pci' },
    ])
  })
})

test('of several rows for one card that of an operator counts, then the single id, then the last one', () => {
  const base = KNOWN_CARDS[0]!
  const card = (product: string, lastProduct: string, name: string): KnownCard => ({
    ...base,
    product,
    lastProduct,
    name,
  })
  const known = lookupIn(
    [card('0010', '0020', 'range of the operator'), card('0015', '0015', 'own')],
    [card('0015', '0015', 'single'), card('0011', '0011', 'other'), card('0000', '00ff', 'range')],
  )
  const name = (product: string, vendor = base.vendor) => known({ vendor, product })?.name ?? null
  expect(['0015', '0011', '0012', '0001', '0100'].map((product) => name(product))).toEqual([
    ...['own', 'other', 'range of the operator', 'range', null],
  ])
  expect(name('0012', 'ffff')).toBe(null)
})
