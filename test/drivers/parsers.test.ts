/** What drivers read of files and programs, to the letter: each form, and each limit from both sides. */
import { describe, expect, test } from 'vitest'
import { readOperatorTable } from '../../src/drivers/cards/operatorTable.ts'
import { usedIn } from '../../src/drivers/pci/drivesInUse.ts'
import { namesIn } from '../../src/drivers/cards/pciNames.ts'
import { GBS_HEAD_BYTES, plainId, readGbs } from '../../src/drivers/fpga/gbs.ts'
import { exampleSetting, whitelistHint } from '../../src/drivers/pci/whitelistHint.ts'
import type { PciFunction } from '../../src/drivers/pci/sysfs.ts'
import { readWhitelist } from '../../src/drivers/pci/whitelist.ts'
import { outputWithoutSecrets, withoutSecrets } from '../../src/drivers/recording.ts'

describe('the names of PCI devices', () => {
  const TEXT = `# a comment
10de  NVIDIA Corporation
\t20f1  GA100

\t\t10de 1234  a board
# another
\t2330  GH100 \t
1bd4  Inspur
\t1001  NVMe
bad line
\t20f1  of nobody
C 03  Display
\t00  VGA
\t20f1  no device of a class
`
  const of = (vendor: string, product: string) => [...namesIn(TEXT, [{ vendor, product }])]
  test.each([
    ['10de', '20f1', [['10de:20f1', 'NVIDIA Corporation GA100']]],
    ['10de', '2330', [['10de:2330', 'NVIDIA Corporation GH100']]],
    ['10de', '1234', [['10de:1234', 'NVIDIA Corporation Device']]],
    ['1bd4', '1001', [['1bd4:1001', 'Inspur NVMe']]],
    ['1bd4', '20f1', [['1bd4:20f1', 'Inspur Device']]],
    ['abcd', '20f1', []],
  ])('%s:%s', (vendor, product, names) => expect(of(vendor, product)).toEqual(names))
  test('of several at once', () =>
    expect(
      namesIn(TEXT, [
        { vendor: '1bd4', product: '1001' },
        { vendor: '10de', product: '20f1' },
        { vendor: 'abcd', product: '1001' },
      ]).size,
    ).toBe(2))
})

test('what a machine has mounted or uses for swapping', () => {
  const { numbers, names } = usedIn(
    '36 35 259:1 / /home rw - ext4 /dev/nvme0n1p1 rw\n37 35 0:5 / /srv rw - tmpfs tmpfs rw\n\nodd\n38 35 8:1 / /x rw - xfs x/dev/sda1 rw',
    'Filename\t\t\t\tType\n/dev/nvme1n1                partition\n/swapfile file\n/dev/sdb\tpartition',
  )
  expect([...numbers]).toEqual(['259:1', '0:5', '8:1'])
  expect([...names]).toEqual(['nvme0n1p1', 'nvme1n1', 'sdb'])
})

describe('the rows of an operator', () => {
  const CARD = { vendor: '1AF4', device: '0x44', type: 'AICHIP', name: 'Example NPU' }
  const READ = {
    vendor: '1af4',
    product: '0044',
    lastProduct: '0044',
    type: 'AICHIP',
    family: null,
    name: 'Example NPU',
    ofOperator: true,
    vfOf: null,
    driver: 'id_table_driver',
    resourceClass: null,
    traits: [],
    pciClass: '',
  }
  const long = (count: number) => 'A'.repeat(count)
  test('nothing at all is no card', () => {
    for (const given of [undefined, null, []]) expect(readOperatorTable(given)).toEqual({ cards: [], problems: [] })
  })
  test.each<[object, object]>([
    [{}, {}],
    [{ class: '0B40ff' }, { pciClass: '0b40ff' }],
    [{ class: '0b40' }, { pciClass: '0b40' }],
    [
      { family: 'f', vf_of: '1' },
      { family: 'f', vfOf: '0001' },
    ],
    [{ name: long(255) }, { name: long(255) }],
    ...['FPGA', 'PGPU', 'VGPU', `CUSTOM_${long(248)}`].map((rc): [object, object] => [{ rc }, { resourceClass: rc }]),
    [{ traits: [`CUSTOM_${long(248)}`, 'CUSTOM_0_'] }, { traits: [`CUSTOM_${long(248)}`, 'CUSTOM_0_'] }],
    [{ traits: Array<string>(50).fill('CUSTOM_A') }, { traits: Array<string>(50).fill('CUSTOM_A') }],
    ...['huawei_ascend_driver', 'intel_qat_driver', 'intel_nic_driver', 'intel_fpga_driver', 'id_table_driver'].map(
      (driver): [object, object] => [{ driver }, { driver }],
    ),
  ])('with %j', (more, expected) =>
    expect(readOperatorTable([{ ...CARD, ...more }])).toEqual({ cards: [{ ...READ, ...expected }], problems: [] }),
  )
  const HEX = 'must be four hex digits, as text'
  const RC = 'must be FPGA, PGPU, VGPU or CUSTOM_ and then A-Z, 0-9 and _'
  const TRAIT = 'must be CUSTOM_ and then A-Z, 0-9 and _, at most 255 characters'
  test.each<[unknown, readonly string[]]>([
    [{}, ['must be a list of cards']],
    [[7], ['0: must be a card with vendor, device, type and name']],
    [[{ ...CARD, vendor: '12345' }], [`0.vendor: ${HEX}`]],
    [[{ ...CARD, vendor: 'x1af4' }], [`0.vendor: ${HEX}`]],
    [[{ ...CARD, vendor: '1afg' }], [`0.vendor: ${HEX}`]],
    [[{ ...CARD, device: 44 }], [`0.device: ${HEX}`]],
    [[{ ...CARD, vf_of: '' }], [`0.vf_of: ${HEX}`]],
    [[{ ...CARD, class: '0b4' }], ['0.class: must be 2, 4 or 6 hex digits']],
    [[{ ...CARD, class: '0b401212' }], ['0.class: must be 2, 4 or 6 hex digits']],
    [[{ ...CARD, class: 'x0b' }], ['0.class: must be 2, 4 or 6 hex digits']],
    [[{ ...CARD, type: 'TPU' }], ['0.type: must be one of GPU, FPGA, AICHIP, QAT, NIC, SSD']],
    [[{ ...CARD, name: 7 }], ['0.name: must be text']],
    [[{ ...CARD, name: '' }], ['0.name: must not be empty']],
    [[{ ...CARD, name: long(256) }], ['0.name: must be a name of at most 255 visible characters']],
    [[{ ...CARD, family: '\u202e' }], ['0.family: must be a name of at most 255 visible characters']],
    ...['CUSTOM_', `CUSTOM_${long(249)}`, 'XFPGA', 'FPGAX', 'xCUSTOM_A', 'CUSTOM_a', 7].map(
      (rc): [unknown, readonly string[]] => [[{ ...CARD, rc }], [`0.rc: ${RC}`]],
    ),
    ...['CUSTOM_', `CUSTOM_${long(249)}`, 'FPGA', 'xCUSTOM_A', 'CUSTOM_Ax', 7].map(
      (trait): [unknown, readonly string[]] => [[{ ...CARD, traits: ['CUSTOM_A', trait] }], [`0.traits.1: ${TRAIT}`]],
    ),
    [[{ ...CARD, traits: Array<string>(51).fill('CUSTOM_A') }], ['0.traits: must not be more than 50']],
    [
      [{ ...CARD, driver: 'pci_driver' }],
      [
        '0.driver: must be one of id_table_driver, huawei_ascend_driver, intel_qat_driver, intel_nic_driver, intel_fpga_driver',
      ],
    ],
    [[{ ...CARD, colour: 1 }], ['0.colour: is not a field of a card: "colour" is unknown']],
    [
      [CARD, { ...CARD, vendor: 'x', name: '' }],
      [`1.vendor: ${HEX}`, '1.name: must not be empty'],
    ],
    [Array.from({ length: 1001 }, () => CARD), ['must not have more than 1000 cards']],
  ])('%# are refused, each with its place', (given, problems) =>
    expect(readOperatorTable(given)).toEqual({ cards: [], problems }),
  )
  test('of which the first twenty problems are told', () => {
    expect(readOperatorTable(Array.from({ length: 1000 }, () => CARD)).cards).toHaveLength(1000)
    expect(readOperatorTable(Array.from({ length: 21 }, () => ({ ...CARD, name: '' }))).problems).toHaveLength(20)
  })
})

describe('the header of an Intel bitstream', () => {
  const ID = '58656F6E-4650-4741-b747-425376303031'
  const MAGIC = Buffer.from('58656f6e46504741b747425376303031', 'hex')
  const clusters = (count: number) => Array.from({ length: count }, () => ({ 'accelerator-type-uuid': ID }))
  const json = (more: object = {}, pad = 0) =>
    `${JSON.stringify({ 'afu-image': { 'interface-uuid': ID, 'accelerator-clusters': clusters(1), ...more } })}${' '.repeat(pad)}`
  const file = (text: string, length = Buffer.byteLength(text), magic = MAGIC) => {
    const size = Buffer.alloc(4)
    size.writeUInt32LE(length)
    return Buffer.concat([magic, size, Buffer.from(text)])
  }
  const READ = { region: plainId(ID), functions: [plainId(ID)] }
  test('ids are compared without hyphens', () => {
    expect(plainId(` ${ID}\n`)).toBe('58656f6e46504741b747425376303031')
    expect(GBS_HEAD_BYTES).toBe(65_556)
  })
  test('is read up to its limits', () => {
    expect(readGbs(file(json()))).toEqual(READ)
    expect(readGbs(Buffer.concat([file(json()), Buffer.from('bits')]))).toEqual(READ)
    expect(readGbs(file(json({}, 65_536 - json().length)))).toEqual(READ)
    expect(readGbs(file(json({ 'accelerator-clusters': clusters(64) }))).functions).toHaveLength(64)
  })
  test.each<[string, Uint8Array, string]>([
    ['nothing', Buffer.alloc(0), 'is not an Intel FPGA bitstream (GBS)'],
    ['less than a head', file('').subarray(0, 19), 'is not an Intel FPGA bitstream (GBS)'],
    ['another format', file(json(), 10, Buffer.alloc(16)), 'is not an Intel FPGA bitstream (GBS)'],
    ['a text that is cut off', file(json(), json().length + 1), 'its header is cut off or longer than 64 KiB'],
    ['a text that is too long', file(json({}, 65_537 - json().length)), 'its header is cut off or longer than 64 KiB'],
    ['no text', file(''), 'its header cannot be read: JSON: Invalid JSON'],
    [
      'no function',
      file(json({ 'accelerator-clusters': [] })),
      'its header cannot be read: afu-image.accelerator-clusters: names no function',
    ],
    ['no region', file(json({ 'interface-uuid': null })), 'its header cannot be read: afu-image.interface-uuid: '],
    ['no id', file(json({ 'interface-uuid': `${ID}0` })), 'its header cannot be read: afu-image.interface-uuid: '],
    ['an odd id', file(json({ 'interface-uuid': `x${ID}` })), 'its header cannot be read: afu-image.interface-uuid: '],
    ['a long id', file(json({ 'interface-uuid': `${ID}${'-'.repeat(29)}` })), 'Invalid length'],
    [
      'too many functions',
      file(json({ 'accelerator-clusters': clusters(65) })),
      'its header cannot be read: afu-image.accelerator-clusters: ',
    ],
  ])('is refused with %s', (_, bytes, why) => expect(() => readGbs(bytes)).toThrow(why))
  test('an id may have hyphens up to 64 characters', () =>
    expect(readGbs(file(json({ 'interface-uuid': `${ID}${'-'.repeat(28)}` })))).toEqual(READ))
})

describe('what must not leave the host', () => {
  test.each<readonly [path: string, text: string, kept: string]>([
    ...[
      'serial',
      'serial_number',
      'unique_id',
      'wwid',
      'nguid',
      'eui',
      'uuid',
      'vpd',
      'board_serial',
      'product_uuid',
    ].map((name) => [`/sys/x/${name}`, 'S3CR3T', 'removed\n'] as const),
    ['/sys/x/serial_no', 'kept', 'kept'],
    ['/sys/x/my_serial', 'kept', 'kept'],
    ['/sys/uuid/x', 'kept', 'kept'],
    [
      '/proc/cpuinfo',
      'x vendor_id : a\nvendor_id\t: b\nCPU implementer : c\nvendor_ids : d',
      'vendor_id\t: b\nCPU implementer : c',
    ],
    ['/x/proc/cpuinfo', 'kept', 'kept'],
    [
      '/proc/swaps',
      'x Filename a\nFilename\tType\nx /dev/sda \n/dev/sda\tx\n/dev/a/b x',
      'Filename\tType\n/dev/sda\tx',
    ],
    [
      '/proc/net/route',
      'Iface Destination Gateway\neth0\t00000000\t0102A8C0\t0003\neth1\t0000A8C0\t00000000\t0001\nx\t00000000\t0102A8C\t1',
      'eth0\t00000000\t00000000\t0003',
    ],
    [
      '/proc/net/ipv6_route',
      `${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00 ${'F'.repeat(32)} 01 eth0\n${'1'.repeat(32)} 00 ${'0'.repeat(32)} 00 ${'f'.repeat(32)} 01 eth1`,
      `${'0'.repeat(32)} 00 ${'0'.repeat(32)} 00 ${'0'.repeat(32)} 01 eth0`,
    ],
    ['/proc/cmdline', 'ro quiet', ''],
    ['/proc/self/mountinfo', '1 2 3:4 /a /b rw - xfs /dev/sda1/x rw\n\nodd', '1 2 3:4 / /removed rw - xfs none rw\n\n'],
    ['/proc/self/mountinfo', '1 2 3:4 /a /b rw - xfs x/dev/sda1 rw', '1 2 3:4 / /removed rw - xfs none rw'],
  ])('of %s', (path, text, kept) => expect(withoutSecrets(path, text)).toBe(kept))
  test.each([
    ['01234567-89AB-cdef-0123-456789abcdef', 'removed'],
    ['x01234567-89ab-cdef-0123-456789abcdef', 'x01234567-89ab-cdef-0123-456789abcdef'],
    ['Serial No = a1, next', 'Serial No = removed, next'],
    ["'serial' : 'a1' x", "'serial' : 'removed' x"],
    ['Serial Number : S3 CR3T  \nname: T4', 'Serial Number : removed  \nname: T4'],
    ['"serial_number": "S3 CR3T", "a": 1', '"serial_number": "removed", "a": 1'],
    ['| Serial: S3 CR3T | T4 |', '| Serial: removed | T4 |'],
    ['serial\na: b', 'serial\na: b'],
  ])('of what programs print: %s', (text, kept) => expect(outputWithoutSecrets(text)).toBe(kept))
})

describe('the example of a whitelist', () => {
  const one = (pciClass: string, product: string): PciFunction => ({
    address: { domain: '0000', bus: 'af', device: '00', function: '0' },
    vendor: '10de',
    product,
    class: pciClass,
    physfn: null,
    totalVfs: 0,
    driver: null,
    driverOverride: null,
    isForGuests: false,
    group: null,
  })
  const own = ['01', '02', '03', '05', '06', '08', '0c'].map((start) => one(`${start}0000`, `00${start}`))
  const entry = (product: string) =>
    `ACCELERANDO_PCI_PASSTHROUGH_WHITELIST='[{"vendor_id":"10de","product_id":"${product}"}]'`
  test('is what is most likely free to give away, else anything but a bridge', () => {
    expect(exampleSetting([...own, one('120000', 'aaaa'), one('0b4000', 'bbbb')])).toBe(entry('aaaa'))
    expect(exampleSetting(own.toReversed())).toBe(entry('000c'))
    expect(exampleSetting([one('060000', 'aaaa'), one('030200', 'bbbb')])).toBe(entry('bbbb'))
    expect(exampleSetting([one('060400', 'aaaa')])).toBe(null)
  })
  test('stands below one sentence', () =>
    expect([1, 2].map(whitelistHint)).toEqual([
      "1 PCI device seen, none offered: no whitelist is set. 'accelerando device scan' shows each device and the setting that offers it",
      "2 PCI devices seen, none offered: no whitelist is set. 'accelerando device scan' shows each device and the setting that offers it",
    ]))
  test('a text within a list that is decoded already is no entry', () =>
    expect(readWhitelist([['{}']])).toEqual({
      ok: false,
      problems: [{ field: 'pci.passthrough_whitelist[0]', rule: 'must be an object' }],
    }))
})
