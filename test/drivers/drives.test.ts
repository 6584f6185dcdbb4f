/** NVMe drives that the host uses itself are not offered to guests. */
import { expect, test } from 'vitest'
import type { DriverOptions } from '../../src/drivers/index.ts'
import { never, slotsOf } from './driver.contract.ts'
import { cardsIn, driverOf } from './machines.ts'
import { type RecordedHost, recordedHostIo, type Tree } from './recordedHostIo.ts'
import { pciTree } from './trees.ts'

const drive = (more: object) => ({
  vendor: '144d',
  device: 'a80a',
  class: '010802',
  more: { nvme: { nvme0: { nvme0n1: { dev: '259:0\n', ...more } } } },
})
const FREE: Tree = { nvme0n1: '259:0' }
const host = (more: object, mountinfo = '', swaps = '', dev = FREE) =>
  recordedHostIo({
    sys: pciTree({ '0000:dc:00.0': drive(more) }),
    dev,
    proc: { '1': { mountinfo }, swaps: `Filename Type\n${swaps}` },
  })
const reasonOf = async (io: RecordedHost) => {
  const driver = driverOf('nvme_ssd_driver')
  const [left] = await driver.leftOut!(io)
  expect(await driver.discover(io)).toHaveLength(left === undefined ? 1 : 0)
  return left?.reason
}
const mounted = (number: string, source: string) => `36 35 ${number} / /srv rw,noatime shared:1 - ext4 ${source} rw\n`

test.each([
  ['nothing uses it', host({ nvme0n1p1: { dev: '259:1\n', holders: {} } }), undefined],
  ['another drive is mounted', host({}, mounted('8:1', '/dev/sda1')), undefined],
  ['it is mounted whole', host({}, mounted('259:0', '/dev/nvme0n1')), 'nvme0n1 is mounted or used for swapping'],
  [
    'a partition is mounted under another name',
    host({ nvme0n1p1: { dev: '259:1\n' } }, mounted('259:1', '/dev/root')),
    'nvme0n1p1 is mounted or used for swapping',
  ],
  [
    'a file system with a number of its own is on it',
    host({}, mounted('0:41', '/dev/nvme0n1')),
    'nvme0n1 is mounted or used for swapping',
  ],
  [
    'a partition is swap',
    host({ nvme0n1p2: { dev: '259:2\n' } }, '', '/dev/nvme0n1p2 partition 1 0 -2\n'),
    'nvme0n1p2 is mounted or used for swapping',
  ],
  [
    'it is part of a volume',
    host({ nvme0n1p3: { dev: '259:3\n', holders: { 'dm-0': {} } } }),
    'nvme0n1p3 is part of dm-0',
  ],
])('%s', async (_what, io, reason) => expect(await reasonOf(io)).toBe(reason))

const CLAIMED = 'nvme0n1 is held by the host, as by a file system or a pool of several drives'
const unknown = (why: string): string => `whether the host uses nvme0n1 cannot be said: ${why}`
/** As btrfs and ZFS have it: mountinfo names another drive of the pool, or none, and nothing holds this one. */
const inPool = () =>
  host({ nvme0n1p1: { dev: '259:1\n', holders: {} } }, mounted('0:31', '/dev/nvme1n1'), '', {
    nvme0n1: '259:0 claimed',
  })
test.each<[string, () => RecordedHost, string | undefined]>([
  ['it is a drive of a pool', inPool, CLAIMED],
  ['its device cannot be opened', () => host({}, '', '', {}), unknown('ENOENT: /dev/nvme0n1')],
  [
    'its name below /dev is another device',
    () => host({}, '', '', { nvme0n1: '259:7' }),
    unknown('/dev/nvme0n1 is the block device 259:7, not 259:0'),
  ],
  [
    'it was recorded without a look at the device',
    () => ({ ...host({}), blockDevice: async () => Promise.reject(new Error('nvme0n1: was not called')) }),
    unknown('nvme0n1: was not called'),
  ],
])('%s: it is not offered (DRIVE-2, DRIVE-3)', async (_what, io, reason) => expect(await reasonOf(io())).toBe(reason))
test('what is lacking for a moment leaves no drive out, but fails the look (DRIVE-3)', async () => {
  const error = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
  const io = { ...host({}), blockDevice: async () => Promise.reject(error) }
  await expect(driverOf('nvme_ssd_driver').discover(io)).rejects.toThrow('EMFILE')
})
test.each<[string, DriverOptions]>([
  ['nvme_ssd_driver', {}],
  ['pci_driver', { pci: { whitelist: '[{"vendor_id": "144d", "product_id": "a80a"}]' } }],
  ['id_table_driver', { cards: cardsIn('[{vendor: 144d, device: a80a, type: SSD, name: own drive}]').cards }],
])(
  '%s looks at a drive for its list, and once more before a guest gets it (DRIVE-1, DRIVE-2)',
  async (name, options) => {
    const driver = driverOf(name, options)
    expect(await driver.discover(inPool())).toEqual([])
    expect(await driver.leftOut!(inPool())).toEqual([{ address: '0000:dc:00.0', reason: CLAIMED }])
    const io = host({})
    const [device] = await driver.discover(io)
    expect(device!.deployables[0]!.hostWork).toBe(true)
    const [slot] = slotsOf([device!])
    await driver.prepare(io, slot!, never)
    io.tree('/dev')['nvme0n1'] = '259:0 claimed'
    await expect(driver.prepare(io, slot!, never)).rejects.toThrow(`0000:dc:00.0 is not given to a guest: ${CLAIMED}`)
  },
)

const severalPaths = (head: Tree | null, mountinfo = '', swaps = '') =>
  recordedHostIo({
    sys: {
      ...pciTree({ '0000:dc:00.0': { ...drive({}), more: { nvme: { nvme2: { nvme0c2n1: {} } } } } }),
      ...(head === null ? {} : { block: { nvme0n1: { dev: '259:9\n', ...head } } }),
    },
    dev: { nvme0n1: '259:9' },
    proc: { self: { mountinfo }, swaps },
  })
test.each([
  [
    'it is mounted whole',
    severalPaths({ size: '1\n' }, mounted('259:9', '/dev/nvme0n1')),
    'nvme0n1 is mounted or used for swapping',
  ],
  [
    'a partition is mounted',
    severalPaths({ nvme0n1p2: { dev: '259:11\n' } }, mounted('259:11', '/dev/root')),
    'nvme0n1p2 is mounted or used for swapping',
  ],
  [
    'a partition is swap',
    severalPaths({ nvme0n1p1: {} }, '', '/dev/nvme0n1p1 partition 1 0 -2'),
    'nvme0n1p1 is mounted or used for swapping',
  ],
  [
    'a partition is part of a volume',
    severalPaths({ nvme0n1p3: { holders: { 'dm-0': {} } } }),
    'nvme0n1p3 is part of dm-0',
  ],
  ['nothing uses it', severalPaths({ nvme0n1p1: { dev: '259:10\n' } }), undefined],
])('with several paths the namespace lies elsewhere: %s', async (_what, io, reason) =>
  expect(await reasonOf(io)).toBe(reason),
)
test('a namespace with several paths that cannot be found is not taken for unused (DRIVE-3)', async () =>
  expect(await reasonOf(severalPaths(null))).toBe(
    'whether the host uses nvme2 cannot be said: /sys/block/nvme0n1 cannot be looked at',
  ))
test.each([
  ['nvme_ssd_driver', {}],
  ['pci_driver', { pci: { whitelist: '[{"vendor_id": "144d", "product_id": "a80a"}]' } }],
])('one drive that cannot be looked at does not keep %s from offering the others (DRIVE-3)', async (name, options) => {
  const drives = {
    '0000:db:00.0': { ...drive({}), more: { nvme: { nvme2: { nvme0c2n1: {} } } } },
    '0000:dc:00.0': { ...drive({}), more: { nvme: { nvme1: { nvme1n1: { dev: '259:0\n' } } } } },
  }
  const proc = { '1': { mountinfo: '' }, swaps: '' }
  const io = recordedHostIo({ sys: pciTree(drives), dev: { nvme1n1: '259:0' }, proc })
  const driver = driverOf(name, options)
  expect((await driver.discover(io)).map(({ deployables: [one] }) => one!.name)).toEqual(['compute1_0000:dc:00.0'])
  expect((await driver.leftOut!(io)).map(({ address }) => address)).toEqual(['0000:db:00.0'])
  const list: typeof io.list = async (path) => {
    if (path.endsWith('/nvme2')) throw Object.assign(new Error('ENOMEM'), { code: 'ENOMEM' })
    return io.list(path)
  }
  await expect(driver.discover({ ...io, list })).rejects.toThrow('ENOMEM')
})

const CARD = 'compute1_0000:dc:00.0'
test.each([
  ['nvme_ssd_driver', {}],
  ['pci_driver', { pci: { whitelist: '[{"vendor_id": "144d", "product_id": "a80a"}]' } }],
])('%s: a drive on which a program of the host works is offered without a look (DRIVE-4)', async (name, options) => {
  const looked: string[] = []
  const io = (worksOn: (card: string) => boolean) => ({
    ...inPool(),
    worksOn,
    blockDevice: async (path: string) => {
      looked.push(path)
      return { number: '259:0', isClaimed: true }
    },
  })
  const driver = driverOf(name, options)
  const busy = io((card) => card === CARD)
  const devices = await driver.discover(busy)
  expect([devices.length, await driver.leftOut!(busy), looked]).toEqual([1, [], []])
  // a guest gets it only after a look
  await expect(driver.prepare(busy, slotsOf(devices)[0]!, never)).rejects.toThrow(CLAIMED)
  // the program began while it was looked at
  expect(await driver.discover(io(() => looked.length > 1))).toHaveLength(1)
  expect(looked).toHaveLength(2)
  expect(await driver.discover(io((card) => card !== CARD))).toEqual([])
})

test('a drive that the host took into use since the report is not given to a guest', async () => {
  const io = host({ nvme0n1p1: { dev: '259:1\n', holders: {} } })
  const driver = driverOf('nvme_ssd_driver')
  const [device] = await driver.discover(io)
  expect(device!.deployables[0]!.hostWork).toBe(true)
  const [slot] = slotsOf([device!])
  await driver.prepare(io, slot!, never)
  io.tree('/sys/bus/pci/devices/0000:dc:00.0/nvme/nvme0/nvme0n1/nvme0n1p1/holders')['dm-1'] = {}
  await expect(driver.prepare(io, slot!, never)).rejects.toThrow(
    `slot ${slot!.uuid}: 0000:dc:00.0 is not given to a guest: nvme0n1p1 is part of dm-1`,
  )
})

test('where nobody can say what is mounted, nothing is concluded', async () => {
  const io = recordedHostIo({ sys: pciTree({ '0000:dc:00.0': drive({}) }) })
  await expect(driverOf('nvme_ssd_driver').discover(io)).rejects.toThrow('nobody knows which drives the host uses')
})

/** A controller of the given class, and a disk at it, where the kernel has it: below several other things. */
const controller = (pciClass: string, more: Tree, mountinfo: string, name = 'sda') => {
  const address = '0000:3b:00.0'
  const sys = pciTree({ [address]: { vendor: '1000', device: '0097', class: pciClass } })
  const place = `devices/pci0000:3b/${address}/host1/port-1:0/target1:0:0/1:0:0:0/block/${name}`
  const io = recordedHostIo({
    sys: { ...sys, block: { [name]: { '->': `../${place}` }, loop0: { '->': '../devices/virtual/block/loop0' } } },
    dev: { [name]: '8:0' },
    proc: { '1': { mountinfo }, swaps: 'Filename Type\n' },
  })
  io.tree(`/sys/devices/pci0000:3b/${address}`)['host1'] = {
    'port-1:0': { 'target1:0:0': { '1:0:0:0': { block: { [name]: { dev: '8:0\n', ...more } } } } },
  }
  return io
}
test.each<[string, RecordedHost, string | undefined]>([
  [
    '010700',
    controller('010700', { sda1: { dev: '8:1\n' } }, mounted('8:1', '/dev/root')),
    'sda1 is mounted or used for swapping',
  ],
  ['010601', controller('010601', { sda2: { dev: '8:2\n', holders: { md0: {} } } }, ''), 'sda2 is part of md0'],
  ['0c0330', controller('0c0330', {}, mounted('8:0', '/dev/sda')), 'sda is mounted or used for swapping'],
  ['010700', controller('010700', { sda1: { dev: '8:1\n' } }, mounted('8:17', '/dev/sdb1')), undefined],
])('a controller of class %s is left out while the host uses a drive at it (DRIVE-5)', async (_class, io, reason) => {
  const driver = driverOf('pci_driver', { pci: { whitelist: '[{"vendor_id": "1000"}]' } })
  expect(await driver.leftOut!(io)).toEqual(reason === undefined ? [] : [{ address: '0000:3b:00.0', reason }])
  expect(await driver.discover(io)).toHaveLength(reason === undefined ? 1 : 0)
})
test('a disk that the host took into use since the report keeps its controller from guests (DRIVE-5)', async () => {
  const io = controller('010700', {}, '')
  const driver = driverOf('pci_driver', { pci: { whitelist: '[{"vendor_id": "1000"}]' } })
  const [slot] = slotsOf(await driver.discover(io))
  await driver.prepare(io, slot!, never)
  io.tree('/dev')['sda'] = '8:0 claimed'
  await expect(driver.prepare(io, slot!, never)).rejects.toThrow('sda is held by the host')
})
