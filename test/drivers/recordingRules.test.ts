/** Which text of a host leaves it with a recording, line by line, and what a recording asks of the host. */
import { describe, expect, test } from 'vitest'
import type { HostIo } from '../../src/drivers/driver.ts'
import { CLAIM, outputWithoutSecrets, recorder, standIns, withoutSecrets } from '../../src/drivers/recording.ts'
import { recordedHostIo } from './recordedHostIo.ts'

describe('a file', () => {
  const SECRET = ['serial', 'serial_number', 'unique_id', 'wwid', 'nguid', 'eui', 'uuid', 'vpd', 'board_serial']
  test.each([...SECRET, 'product_uuid'])('named %s is removed, wherever it lies', (name) => {
    expect(withoutSecrets(`/sys/a/${name}`, 'S3CR3T')).toBe('removed\n')
    for (const other of [`${name}x`, `x${name}`, `${name}/file`]) expect(withoutSecrets(`/sys/${other}`, 'a')).toBe('a')
  })
  test.each<[string, string, string]>([
    [
      '/proc/net/route',
      'Iface\tDestination\tGateway\nbond0\t00000000\t0102030A\t0003\t0\n eth0\t00000000\t0102030A\t0003\neth1\t0002030A\t0102030A\t0003\n',
      'bond0\t00000000\t00000000\t0003\t0',
    ],
    [
      '/proc/net/ipv6_route',
      [
        `${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00 fe80${'0'.repeat(27)}1 00000400 00000001 00000000 00000003    bond0`,
        `fe80${'0'.repeat(28)} 40 ${'0'.repeat(32)} 00 fe80${'0'.repeat(27)}1 00000100 00000001 00000000 00000001     eth0`,
      ].join('\n'),
      `${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00000400 00000001 00000000 00000003    bond0`,
    ],
    [
      '/proc/net/dev',
      'Inter-|   Receive  |  Transmit\n face |bytes packets|bytes\n    lo: 1234 5 0 0\n  eth0: 99 1 0 0\nbr-x:7 7\n',
      'lo:\neth0:\nbr-x:\n',
    ],
    ['/proc/cmdline', 'iommu=pt a=b\nx.iommu.y quiet ip=10.0.0.1 rd.iscsi.password=S3CR3T', 'iommu=pt x.iommu.y'],
    [
      '/proc/cpuinfo',
      'vendor_id\t: A\nmy vendor_id : B\nCPU implementer\t: 0x41\nvendor_ids : C',
      'vendor_id\t: A\nCPU implementer\t: 0x41',
    ],
    ['/proc/swaps', 'Filename Type\n/dev/sda-1 x\n /dev/sdb x\n/dev/a/b x\n/dev/sdc', 'Filename Type\n/dev/sda-1 x'],
    [
      '/proc/7/mountinfo',
      [
        '36 35 259:1 /a /home rw,noatime shared:1 - ext4 /dev/sda-1 rw,secret',
        '37 36 0:5 / /srv rw - nfs server:/S3CR3T rw',
        '38 36 0:6 / /x rw - tmpfs tmpfs rw',
        '39 36 0:7 / /y rw - zfs',
        '40 36 0:8 / /z rw - fuse host/dev/sda rw',
        '41 36 0:9 / /z rw - fuse /dev/sda:secret rw',
        'nothing',
        '',
      ].join('\n'),
      [
        '36 35 259:1 / /removed rw - ext4 /dev/sda-1 rw',
        '37 36 0:5 / /removed rw - nfs none rw',
        '38 36 0:6 / /removed rw - tmpfs none rw',
        '39 36 0:7 / /removed rw - zfs none rw',
        '40 36 0:8 / /removed rw - fuse none rw',
        '41 36 0:9 / /removed rw - fuse none rw',
        '',
        '',
      ].join('\n'),
    ],
    ['/proc/uptime', '12.5 1\n', '12.5 1\n'],
  ])('%s is kept as far as drivers need it', (path, text, kept) => expect(withoutSecrets(path, text)).toBe(kept))
})

const UUID = '3c6c5d4c-7f4b-2c1e-8a3f-0123456789ab'
test.each([
  [
    `id ${UUID.toUpperCase()}, GPU-${UUID}, MIG-${UUID}, XGPU-${UUID}`,
    `id removed, GPU-${UUID}, MIG-${UUID}, XGPU-removed`,
  ],
  ['Serial Number: 12 34 56 | other', 'Serial Number: removed | other'],
  [`serial = 'ab c' rest`, `serial = 'removed' rest`],
  ['"board serial":"x",y', '"board serial":"removed",y'],
  ['serial: 7\nserial', 'serial: removed\nserial'],
  ['serial:   ', 'serial:   '],
])('of %j a program has printed, %j is recorded', (text, kept) => expect(outputWithoutSecrets(text)).toBe(kept))

test('identifiers are counted in the order in which they come, in whatever spelling', () => {
  const { cards, all } = standIns()
  const [first, second, third] = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`)
  const [plain, eui] = [UUID.replaceAll('-', ''), '36344730528166ab']
  expect(cards(`a GPU-${UUID} and ${UUID}`)).toBe(`a GPU-${first} and ${UUID}`)
  expect(all(`${eui} MIG-GPU-${UUID} ${plain.toUpperCase()}`)).toBe(`${second} MIG-GPU-${first} ${first}`)
  expect(all(`x${eui}0 ${eui}0 ${'c'.repeat(32)} ${'c'.repeat(33)}`)).toBe(
    `x${eui}0 ${eui}0 ${third} ${'c'.repeat(33)}`,
  )
})

describe('a recording', () => {
  const tree = {
    sys: {
      bus: {
        pci: { '0000:01:00.0': { '->': '../../devices/card' }, abs: { '->': '/sys/devices' }, here: { '->': '.' } },
      },
      devices: { card: { vendor: '1', up: { '->': '../../devices' }, sub: { file: 'x' } }, empty: {}, text: 'y' },
    },
  }
  test('shows folders, files and links of a folder that was listed, through whatever links', async () => {
    const { io, recording } = recorder(recordedHostIo(tree))
    expect(await io.list('/sys/bus/pci/0000:01:00.0')).toEqual(['sub', 'up', 'vendor'])
    expect(await io.read('/sys/bus/pci/0000:01:00.0/up/card/sub/../vendor')).toBe('1')
    expect(await io.list('/sys/bus/pci')).toHaveLength(3)
    expect(await io.list('/sys/devices')).toEqual(['card', 'empty', 'text'])
    expect(recording()).toEqual({
      tree: {
        sys: {
          bus: {
            pci: {
              '0000:01:00.0': { '->': '../../devices/card' },
              abs: { '->': '../../devices' },
              here: { '->': '.' },
            },
          },
          devices: { card: { vendor: '1', up: { '->': '..' }, sub: {} }, empty: {}, text: '' },
        },
      },
      runs: [],
    })
  })
  test('of the folder of all has its folders, and does not forget what lies in them', async () => {
    const { io, recording } = recorder(recordedHostIo({ a: { file: 'x' }, b: 'y', c: { '->': 'a' } }))
    await io.read('/a/file')
    expect(await io.list('/')).toEqual(['a', 'b', 'c'])
    await io.read('/c/file')
    expect(recording().tree).toEqual({ a: { file: 'x' }, b: '', c: { '->': 'a' } })
  })
  test('has a link that was asked for, and of what is none nothing', async () => {
    const { io, recording } = recorder(recordedHostIo(tree))
    expect([await io.link('/sys/bus/pci/abs'), await io.link('/sys/devices'), await io.link('/none')]).toEqual([
      '/sys/devices',
      null,
      null,
    ])
    expect(recording().tree).toEqual({ sys: { bus: { pci: { abs: { '->': '../../devices' } } } } })
  })
  test('has what was read first where a file has changed since', async () => {
    const texts = ['one', 'two']
    const { io, recording } = recorder({ ...recordedHostIo(tree), read: async () => texts.shift()! })
    expect([await io.read('/sys/devices/text'), await io.read('/sys/devices/text')]).toEqual(['one', 'two'])
    expect(recording().tree).toEqual({ sys: { devices: { text: 'one' } } })
  })
  test('has an entry that cannot be looked at as a folder, unless it is none', async () => {
    const host = recordedHostIo({ sys: { locked: { x: '' }, file: '', gone: { '->': 'none' } } })
    const list: HostIo['list'] = async (path) => {
      if (path === '/sys/locked') throw Object.assign(new Error('EACCES'), { code: 'EACCES' })
      return host.list(path)
    }
    const { io, recording } = recorder({ ...host, list })
    await io.list('/sys')
    expect(recording().tree).toEqual({ sys: { locked: {}, file: '', gone: { '->': 'none' } } })
  })
  test('of a link that leads to itself ends', async () => {
    const host = recordedHostIo({ a: { '->': 'b' }, b: { '->': 'a' } })
    const { io, recording } = recorder({ ...host, read: async () => 'x' })
    await io.read('/a/file')
    expect(recording().tree).toEqual({ a: { file: 'x' }, b: { '->': 'a' } })
  })
  test('has nothing of what lies in the own folder of the drivers, but of its neighbours', async () => {
    const host = recordedHostIo({ 'state-2': { file: 'x' } })
    await host.write('/state/file', 'own')
    const { io, recording } = recorder(host)
    await io.read('/state/file')
    await io.list('/state/')
    await io.read('/state-2/file')
    expect(recording().tree).toEqual({ 'state-2': { file: 'x' } })
  })
  test('changes nothing of the host', async () => {
    const host = recordedHostIo({ sys: { file: 'old' } })
    const { io, recording } = recorder(host)
    await io.write('/sys/file', 'new')
    await io.keep('/state/file', 'new')
    await expect(io.change('card', 'tool', [], 1)).rejects.toThrow('nothing is changed while a host is recorded')
    expect([await host.read('/sys/file'), host.kept(), recording()]).toEqual(['old', {}, { tree: {}, runs: [] }])
    expect(CLAIM).toBe('O_EXCL')
  })
  test('hands a program on with its time and its signal, and has its output without secrets', async () => {
    const { signal } = new AbortController()
    const runs: unknown[] = []
    const host: HostIo = {
      ...recordedHostIo({}),
      run: async (...given) => (runs.push(given), 'serial: 12\n'),
    }
    const { io, recording } = recorder(host)
    expect(await io.run('tool', ['-a', `GPU-${UUID}`], 77, signal)).toBe('serial: 12\n')
    expect(runs).toEqual([['tool', ['-a', `GPU-${UUID}`], 77, signal]])
    expect(recording().runs).toEqual([
      {
        program: 'tool',
        args: ['-a', 'GPU-00000000-0000-4000-8000-000000000001'],
        output: 'serial: removed\n',
        error: null,
      },
    ])
  })
})
