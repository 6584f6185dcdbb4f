/** Network cards that carry the host's own default route are not offered to guests. */
import { expect, test } from 'vitest'
import { never, slotsOf } from './driver.contract.ts'
import { driverOf } from './machines.ts'
import { recordedHostIo, type Tree } from './recordedHostIo.ts'
import { pciTree } from './trees.ts'

const HEAD = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n'
const four = (name: string, to = '00000000', mask = '00000000') =>
  `${name}\t${to}\t0100A8C0\t0003\t0\t0\t100\t${mask}\t0\t0\t0   \n`
const NO = '0'.repeat(32)
const six = (name: string, to = NO, length = '00') =>
  `${to} ${length} ${NO} 00 fe80000000000000000000000000abcd 00000064 00000001 00000000 00450003 ${name.padStart(8)}\n`

const nic = (name: string, physfn?: string) => ({
  vendor: '8086',
  device: physfn === undefined ? '158b' : '154c',
  class: '020000',
  more: { net: { [name]: {} }, ...(physfn === undefined ? {} : { physfn: { '->': `../${physfn}` } }) },
})
const [FIRST, SECOND, PF, VF1, VF2] = ['0000:05:00.0', '0000:06:00.0', '0000:18:00.0', '0000:18:02.0', '0000:18:02.1']
const CARDS = {
  [FIRST]: nic('eth0'),
  [SECOND]: nic('eth1'),
  [PF]: nic('eth2'),
  [VF1]: nic('eth2v0', PF),
  [VF2]: nic('eth2v1', PF),
}
const hostWith = (routes: string, classNet: Tree = {}, ipv6_route = '') =>
  recordedHostIo({
    sys: { ...pciTree(CARDS), class: { net: classNet } },
    proc: { net: { route: HEAD + routes, ipv6_route } },
  })
/** With the options that a host has by default. */
const driver = () => {
  return driverOf('intel_nic_driver')
}
const VFS = { address: PF, reason: 'its virtual functions are offered instead' }

const belongs = (own: string, upper: string): string =>
  `${own} belongs to ${upper} of the host, as to a bridge, a bond or a switch`

test.each<[string, string, Tree, readonly string[], readonly object[]]>([
  ['no default route', four('eth0', '0000A8C0', '00FFFFFF'), {}, [FIRST, SECOND, VF1, VF2], [VFS]],
  [
    'the route leads through a card',
    four('eth0'),
    {},
    [SECOND, VF1, VF2],
    [{ address: FIRST, reason: 'the default route of the host leads through eth0' }, VFS],
  ],
  [
    'through a VLAN of a bond of two cards',
    four('bond0.7'),
    {
      eth0: { upper_bond0: {} },
      eth1: { upper_bond0: {} },
      bond0: { 'upper_bond0.7': {}, lower_eth0: {} },
    },
    [VF1, VF2],
    [
      { address: FIRST, reason: 'the default route of the host leads through eth0, by way of bond0.7' },
      { address: SECOND, reason: 'the default route of the host leads through eth1, by way of bond0.7' },
      VFS,
    ],
  ],
  [
    'through one virtual function: the others are offered',
    four('eth2v0'),
    {},
    [FIRST, SECOND, VF2],
    [VFS, { address: VF1, reason: 'the default route of the host leads through eth2v0' }],
  ],
  [
    'through the physical function, whose virtual functions are offered',
    four('eth2'),
    {},
    [FIRST, SECOND, VF1, VF2],
    [VFS],
  ],
  [
    'interfaces that are built on each other in a circle end the search',
    four('elsewhere'),
    { eth0: { upper_eth1: {} }, eth1: { upper_eth0: {} } },
    [VF1, VF2],
    [{ address: FIRST, reason: belongs('eth0', 'eth1') }, { address: SECOND, reason: belongs('eth1', 'eth0') }, VFS],
  ],
  [
    'a card and a virtual function in Open vSwitch, whose other port has the route; the virtual functions of a card there (NETWORK-2)',
    four('br-ex'),
    {
      eth0: { 'upper_ovs-system': {} },
      eth2: { 'upper_ovs-system': {} },
      eth2v1: { 'upper_ovs-system': {} },
      'ovs-system': { lower_eth0: {} },
      'br-ex': {},
    },
    [SECOND, VF1],
    [
      { address: FIRST, reason: belongs('eth0', 'ovs-system') },
      VFS,
      { address: VF2, reason: belongs('eth2v1', 'ovs-system') },
    ],
  ],
  [
    'a card in a bridge, without any default route (NETWORK-2)',
    '',
    { eth1: { upper_br0: {} } },
    [FIRST, VF1, VF2],
    [{ address: SECOND, reason: belongs('eth1', 'br0') }, VFS],
  ],
])('%s', async (_, routes, classNet, offered, leftOut) => {
  const io = hostWith(routes, classNet)
  const devices = await driver().discover(io)
  const names = devices.flatMap(({ deployables }) => deployables.map(({ name }) => name.slice(name.indexOf('_') + 1)))
  expect(names).toEqual(offered)
  expect(await driver().leftOut!(io)).toEqual(leftOut)
})

const DEV = 'Inter-|   Receive |  Transmit\n face |bytes packets|bytes packets\n'
const inNetwork = (names: readonly string[], classNet: Tree) =>
  recordedHostIo({
    sys: { ...pciTree(CARDS), class: { net: classNet } },
    proc: { net: { route: HEAD, dev: `${DEV}${names.map((name) => `${name.padStart(6)}: 12 3 45 6\n`).join('')}` } },
  })
const SHOWN: Tree = { lo: {}, bonding_masters: 'bond0\n', eth0: {}, eth1: {}, eth2: {}, eth2v0: {}, eth2v1: {} }
test('where this process has another network than sysfs shows, no card with an interface is offered (NETWORK-3)', async () => {
  const io = inNetwork(['lo', 'veth7'], SHOWN)
  expect(await driver().discover(io)).toEqual([])
  const unknown = (own: string): string =>
    `whether the host needs ${own} cannot be said: this program does not see the network of the host (/proc/net/dev)`
  expect(await driver().leftOut!(io)).toEqual([
    { address: FIRST, reason: unknown('eth0') },
    { address: SECOND, reason: unknown('eth1') },
    VFS,
    { address: VF1, reason: unknown('eth2v0') },
    { address: VF2, reason: unknown('eth2v1') },
  ])
  // a guest has it
  io.remove(`/sys/bus/pci/devices/${VF1}/net`)
  expect((await driver().discover(io)).map(({ deployables: [one] }) => one!.name)).toEqual([`compute1_${VF1}`])
})
test.each<[string, readonly string[], Tree]>([
  ['one interface is common: others come and go', ['lo', 'eth1'], SHOWN],
  ['sysfs shows no interface', ['lo', 'veth7'], { lo: {} }],
])('%s: cards are offered', async (_what, names, classNet) => {
  expect(await driver().leftOut!(inNetwork(names, classNet))).toEqual([VFS])
})
test('a card that came to carry the default route since the last report is not handed over', async () => {
  const devices = await driver().discover(hostWith(''))
  // without work on the host, a bind would end before anybody looks
  expect(devices.flatMap(({ deployables }) => deployables.map(({ hostWork }) => hostWork))).toEqual([
    true,
    true,
    true,
    true,
  ])
  const slots = slotsOf(devices)
  const [first, second] = slots
  await driver().prepare(hostWith(''), first!, never)
  await driver().prepare(hostWith(four('eth0')), second!, never)
  await expect(driver().prepare(hostWith(four('eth0')), first!, never)).rejects.toThrow(
    `slot ${first!.uuid}: 0000:05:00.0 is not given to a guest: the default route of the host leads through eth0`,
  )
})

test('the default routes are those of IPv4 and of IPv6 to all addresses, of which the kernel adds some for addresses alone', async () => {
  const reasons = async (route: string, ipv6Route: string) =>
    (await driver().leftOut!(hostWith(route, {}, ipv6Route))).flatMap(({ address, reason }) =>
      reason.startsWith('the default route') ? [address] : [],
    )
  expect(await reasons(four('eth0') + four('eth1', '0000A8C0', '00FFFFFF'), '')).toEqual([FIRST])
  expect(await reasons(four('eth0', '00000000', '00000080'), '')).toEqual([])
  expect(await reasons('', six('eth1') + six('eth0', `fe80${'0'.repeat(28)}`, '40') + six('lo'))).toEqual([SECOND])
  expect(await reasons(four('eth0') + four('eth1'), six('eth0'))).toEqual([FIRST, SECOND])
  expect(await reasons('eth0\n00000000\n', `${NO} 00\n`)).toEqual([])
})

test('the report of a card that a guest has taken over does not change', async () => {
  const io = hostWith(four('eth1'))
  const before = await driver().discover(io)
  io.remove(`/sys/bus/pci/devices/${FIRST}/net`)
  expect(await driver().discover(io)).toEqual(before)
})

test('the same holds for the network cards of the table of known ids, whose physical function is kept while it has virtual ones', async () => {
  const card = (name: string, more: object = {}) => ({
    vendor: '15b3',
    device: '101d',
    class: '020000',
    more: { net: { [name]: {} } },
    ...more,
  })
  const cards = {
    [FIRST]: card('eth0'),
    [SECOND]: card('eth1'),
    [PF]: card('eth2'),
    [VF1]: card('eth2v0', { device: '101e', physfn: PF }),
  }
  const host = (route: string) => recordedHostIo({ sys: pciTree(cards), proc: { net: { route: HEAD + route } } })
  const table = driverOf('id_table_driver')
  const io = host(four('eth1'))
  const devices = await table.discover(io)
  expect(devices.map(({ type, deployables }) => [type, deployables[0]!.name])).toEqual([['NIC', `compute1_${FIRST}`]])
  expect(await table.leftOut!(io)).toEqual([
    { address: SECOND, reason: 'the default route of the host leads through eth1' },
    { address: PF, reason: 'it has virtual functions, which would go away with it' },
  ])
  expect(devices[0]!.deployables[0]!.hostWork).toBe(true)
  // the route may have moved since it was bound
  const [slot] = slotsOf(devices)
  await table.prepare(io, slot!, never)
  await expect(table.prepare(host(four('eth0')), slot!, never)).rejects.toThrow(
    '0000:05:00.0 is not given to a guest: the default route of the host leads through eth0',
  )
})

test('a network card that the whitelist of pci_driver takes is looked at alike, also a virtio one', async () => {
  const virtio = {
    vendor: '1af4',
    device: '1041',
    class: '020000',
    more: { virtio0: { net: { eth0: {} } } },
  }
  const cards = { [FIRST]: virtio, [SECOND]: nic('eth1') }
  const host = (route: string) => recordedHostIo({ sys: pciTree(cards), proc: { net: { route: HEAD + route } } })
  const { discover, leftOut, prepare } = driverOf('pci_driver', {
    pci: { whitelist: '[{"vendor_id": "1af4"}, {"vendor_id": "8086"}]' },
  })
  const devices = await discover(host(''))
  expect(devices.map(({ deployables: [one] }) => [one!.name, one!.hostWork])).toEqual([
    [`compute1_${FIRST}`, true],
    [`compute1_${SECOND}`, true],
  ])
  expect(await leftOut!(host(four('eth0')))).toEqual([
    { address: FIRST, reason: 'the default route of the host leads through eth0' },
  ])
  expect(await discover(host(four('eth0')))).toHaveLength(1)
  const [first] = slotsOf(devices)
  await prepare(host(four('eth1')), first!, never)
  await expect(prepare(host(four('eth0')), first!, never)).rejects.toThrow(
    `slot ${first!.uuid}: ${FIRST} is not given to a guest: the default route of the host leads through eth0`,
  )
})

test('an interface deep below a function is that of the function, as of a subfunction or an adapter (NETWORK-4)', async () => {
  const cards = {
    [FIRST]: { vendor: '15b3', device: 'a2dc', class: '020000', more: { 'mlx5_core.sf.2': { net: { sf0: {} } } } },
    [SECOND]: { vendor: '1912', device: '0014', class: '0c0330', more: { usb3: { '3-1': { net: { usb0: {} } } } } },
  }
  const below = (address: string, rest: string) => ({
    '->': `../../devices/pci${address.slice(0, 7)}/${address}/${rest}`,
  })
  const host = (route: string) =>
    recordedHostIo({
      sys: {
        ...pciTree(cards),
        class: { net: { sf0: below(FIRST, 'mlx5_core.sf.2/net/sf0'), usb0: below(SECOND, 'usb3/3-1/net/usb0') } },
      },
      proc: { net: { route: HEAD + route } },
    })
  const taking = driverOf('pci_driver', { pci: { whitelist: '[{"vendor_id": "15b3"}, {"vendor_id": "1912"}]' } })
  const leftBy = async (route: string) =>
    (await taking.leftOut!(host(route))).map(({ address, reason }) => [address, reason])
  expect(await leftBy('')).toEqual([])
  expect(await leftBy(four('sf0'))).toEqual([[FIRST, 'the default route of the host leads through sf0']])
  expect(await leftBy(four('usb0'))).toEqual([[SECOND, 'the default route of the host leads through usb0']])
})
