/**
 * The inventories of the corpus (drivers.md 6), driver by driver, as the tables of the contract have them: written from there, not printed from the
 * program.
 */
import { describe, expect, test } from 'vitest'
import type { ReportedDevice } from '../../src/hardware.ts'
import { type DriverOptions, driverByName } from '../../src/drivers/index.ts'
import { readCardsFile } from '../../src/cli/config/cardsFile.ts'
import type { Driver } from '../../src/drivers/driver.ts'
import { never, slotsOf } from './driver.contract.ts'
import { recordedHost, type RecordedHost, recordedHostIo, type Tree } from './recordedHostIo.ts'
import { pciTree } from './trees.ts'

const driverOf = (name: string, options: DriverOptions = {}): Driver => {
  const reading = driverByName(name, options)
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  return reading.driver
}
const valuesOf = ({ attributes }: ReportedDevice['deployables'][number], prefix: string): readonly string[] =>
  attributes.filter(({ key }) => key.startsWith(prefix)).map(({ value }) => value)

/** `address type class traits -> handles`, one line a deployable. */
const linesOf = (devices: readonly ReportedDevice[]): readonly string[] =>
  devices.flatMap((device) =>
    device.deployables.map((one) => {
      const handles = one.handles.map(
        ({ info, type }) => `${type} ${info['bus']}:${info['device']}.${info['function']}`,
      )
      const name = one.name.replace('compute1_0000:', '')
      return `${name} ${device.type} ${valuesOf(one, 'rc').join()} ${valuesOf(one, 'trait').join(' ')} -> ${handles.join(', ')}`
    }),
  )
const shownBy = async (name: string, options: DriverOptions = {}, io: RecordedHost = recordedHost('mixed-host')) =>
  linesOf(await driverOf(name, options).discover(io))

const NVIDIA = (at: string, product: string, family: string) =>
  `${at} GPU PGPU OWNER_CYBORG CUSTOM_NVIDIA_${product} ${family} -> PCI ${at}`.replaceAll('  ', ' ')
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  nvidia_gpu_driver: [
    NVIDIA('3b:00.0', '20F1', 'CUSTOM_GPU_NVIDIA_A100'),
    NVIDIA('3b:00.4', '20F1', 'CUSTOM_GPU_NVIDIA_A100'),
    NVIDIA('41:00.0', '2330', 'CUSTOM_GPU_NVIDIA_H100'),
    NVIDIA('42:00.0', '2335', 'CUSTOM_GPU_NVIDIA_H200'),
    NVIDIA('43:00.0', '27B8', 'CUSTOM_GPU_NVIDIA_L4'),
    NVIDIA('46:00.0', '2203', ''),
    NVIDIA('47:00.0', '2901', 'CUSTOM_GPU_NVIDIA_B200'),
    NVIDIA('af:00.0', '1EB8', 'CUSTOM_GPU_NVIDIA_T4'),
  ],
  inspur_fpga_driver: ['86:00.0 FPGA FPGA CUSTOM_FPGA_INSPUR CUSTOM_FPGA_PRODUCT_ID_A115 -> PCI 86:00.0'],
  inspur_nvme_ssd_driver: ['db:00.0 SSD CUSTOM_SSD CUSTOM_SSD_INSPUR CUSTOM_SSD_PRODUCT_ID_1001 -> PCI db:00.0'],
  nvme_ssd_driver: [
    '00:12.0 SSD CUSTOM_SSD CUSTOM_SSD_PRODUCT_ID_0010 -> PCI 00:12.0',
    'db:00.0 SSD CUSTOM_SSD CUSTOM_SSD_INSPUR CUSTOM_SSD_PRODUCT_ID_1001 -> PCI db:00.0',
    'dc:00.0 SSD CUSTOM_SSD CUSTOM_SSD_SAMSUNG CUSTOM_SSD_PRODUCT_ID_A80A -> PCI dc:00.0',
  ],
  huawei_ascend_driver: [
    '81:00.0 AICHIP CUSTOM_AICHIP OWNER_CYBORG CUSTOM_AICHIP_HUAWEI CUSTOM_AICHIP_PRODUCT_ID_D100 -> PCI 81:00.0',
  ],
  intel_nic_driver: [
    '05:00.0 NIC CUSTOM_NIC CUSTOM_PF -> PCI 05:00.0',
    '18:02.0 NIC CUSTOM_NIC CUSTOM_VF -> PCI 18:02.0',
  ],
  intel_qat_driver: [
    '3d:01.0 QAT CUSTOM_QAT OWNER_CYBORG CUSTOM_QAT_INTEL CUSTOM_QAT_PRODUCT_ID_37C8 CUSTOM_QAT_INTEL_C62X CUSTOM_VF -> PCI 3d:01.0',
  ],
  // no FPGA driver of the kernel serves the card of the corpus
  intel_fpga_driver: ['5e:00.0 FPGA FPGA  -> PCI 5e:00.1'],
  xilinx_fpga_driver: [
    ['65', '5000', 'U200'],
    ['67', '50B4', 'V80'],
  ].map(
    ([bus, product, family]) =>
      `${bus}:00.0 FPGA FPGA CUSTOM_FPGA_XILINX CUSTOM_FPGA_PRODUCT_ID_${product} CUSTOM_FPGA_XILINX_${family} -> PCI ${bus}:00.0, PCI ${bus}:00.1`,
  ),
  id_table_driver: [
    ['61:00.0', 'GPU', 'PGPU', 'AMD', '74A1', 'MI300X'],
    ['61:00.2', 'GPU', 'PGPU', 'AMD', '74B5', 'MI300X'],
    ['62:00.0', 'AICHIP', 'CUSTOM_AICHIP', 'HABANA', '1020', 'GAUDI2'],
    ['63:00.0', 'GPU', 'PGPU', 'INTEL', '56C0', 'FLEX'],
    ['64:00.0', 'GPU', 'PGPU', 'INTEL', '0BDA', 'MAX'],
    ['b0:00.0', 'FPGA', 'FPGA', 'AWS', 'F000', 'F1'],
    ['c1:00.0', 'AICHIP', 'CUSTOM_AICHIP', 'QUALCOMM', 'A100', 'CLOUD_AI_100'],
  ].map(
    ([at, type, rc, vendor, product, family]) =>
      `${at} ${type} ${rc} OWNER_CYBORG CUSTOM_${type}_${vendor} CUSTOM_${type}_PRODUCT_ID_${product} CUSTOM_${type}_${vendor}_${family} -> PCI ${at}`,
  ),
}

describe('the corpus', () => {
  test.each(Object.entries(EXPECTED))('%s shows exactly its devices', async (name, expected) => {
    expect(await shownBy(name)).toEqual(expected)
  })

  const PCI_IDS = {
    2026: `# comment\n10de  NVIDIA Corporation\n\t2330  GH100 [H100 SXM5 80GB]\n\t\t10de 16c1  board\n\t2335  GH100 [H200 SXM 141GB]\n1bd4  IEIT SYSTEMS Co., Ltd\n\t1001  NS8600G1U320 NVME SSD\nC 03  Display controller\n\t2330  nothing\n`,
    2023: `10de  NVIDIA Corporation\n\t2330  GH100[H100 SXM5 80GB]\n1bd4  Inspur Electronic Information Industry Co., Ltd.\n`,
  }
  const withNames = (year: keyof typeof PCI_IDS): RecordedHost => {
    const io = recordedHost('mixed-host')
    const read = async (path: string) => (path === '/usr/share/hwdata/pci.ids' ? PCI_IDS[year] : io.read(path))
    return { ...io, read }
  }

  test.each(Object.entries(EXPECTED))('%s decides nothing by names', async (name, expected) => {
    for (const year of [2023, 2026] as const) expect(await shownBy(name, {}, withNames(year))).toEqual(expected)
  })

  test('models are the names of pci.ids; where it has none, those of the table', async () => {
    const models = async (name: string, io: RecordedHost) =>
      new Map(
        (await driverOf(name).discover(io)).map(({ deployables, model }) => [deployables[0]!.name.slice(-7), model]),
      )
    const [old, now] = [
      await models('nvidia_gpu_driver', withNames(2023)),
      await models('nvidia_gpu_driver', withNames(2026)),
    ]
    expect([old.get('41:00.0'), now.get('41:00.0')]).toEqual([
      'NVIDIA Corporation GH100[H100 SXM5 80GB]',
      'NVIDIA Corporation GH100 [H100 SXM5 80GB]',
    ])
    expect([old.get('42:00.0'), now.get('42:00.0')]).toEqual([
      'H200 SXM 141GB',
      'NVIDIA Corporation GH100 [H200 SXM 141GB]',
    ])
    expect(now.get('46:00.0')).toBe('NVIDIA Corporation Device')
    expect((await models('nvidia_gpu_driver', recordedHost('mixed-host'))).get('46:00.0')).toBe('Device')
    expect((await models('inspur_nvme_ssd_driver', withNames(2026))).get('db:00.0')).toBe(
      'IEIT SYSTEMS Co., Ltd NS8600G1U320 NVME SSD',
    )
  })
})

describe('the whole description', () => {
  const first = async (name: string, at: string, options: DriverOptions = {}) =>
    (await driverOf(name, options).discover(recordedHost('mixed-host'))).find(({ deployables }) =>
      deployables[0]!.name.endsWith(at),
    )!

  test('of a whole GPU', async () => {
    const { deployables, ...device } = await first('nvidia_gpu_driver', 'af:00.0')
    expect(device).toEqual({
      type: 'GPU',
      vendor: '10de',
      model: 'T4',
      stdBoardInfo: '{"product_id": "1eb8", "controller": "3D controller"}',
      vendorBoardInfo: '{"vendor_info": "gpu_vb_info"}',
      controlPath: { type: 'PCI', info: '{"bus": "af", "device": "00", "domain": "0000", "function": "0"}' },
    })
    expect(deployables).toEqual([
      expect.objectContaining({
        name: 'compute1_0000:af:00.0',
        numAccelerators: 1,
        driverName: 'NVIDIA',
        hostWork: false,
        programmable: false,
        handles: [{ type: 'PCI', info: { bus: 'af', device: '00', domain: '0000', function: '0' } }],
      }),
    ])
  })

  test.each([
    [
      'inspur_fpga_driver',
      '86:00.0',
      '1bd4',
      '{"product_id": "a115", "controller": "Processing accelerators"}',
      '{"vendor_info": "fpga_vb_info"}',
      'INSPUR',
    ],
    [
      'inspur_nvme_ssd_driver',
      'db:00.0',
      '1bd4',
      '{"product_id": "1001", "controller": "Non-Volatile memory controller"}',
      '{"vendor_info": "ssd_vb_info"}',
      'INSPUR',
    ],
    [
      'huawei_ascend_driver',
      '81:00.0',
      '19e5',
      '{"device_id": "d100", "class": "Processing accelerators"}',
      null,
      'huawei',
    ],
    ['intel_nic_driver', '18:02.0', '0x8086', '{"product_id": "0x158b"}', 'miss_vb_info', 'intel'],
    ['intel_qat_driver', '3d:01.0', '0x8086', '{"product_id": "0x37c8"}', 'miss_vb_info', 'intel'],
    ['intel_fpga_driver', '5e:00.0', '0x8086', '{"product_id": "0x09c4"}', 'miss_vb_info', 'intel'],
  ])('%s: board information, vendor and driver name of %s', async (name, at, vendor, std, own, driverName) => {
    const device = await first(name, at)
    expect([device.vendor, device.stdBoardInfo, device.vendorBoardInfo, device.deployables[0]!.driverName]).toEqual([
      vendor,
      std,
      own,
      driverName,
    ])
  })

  test('of a virtual function: its physical function, and the control path of that for Intel', async () => {
    const nic = await first('intel_nic_driver', '18:02.0')
    expect(nic.controlPath.info).toBe('{"bus": "18", "device": "00", "domain": "0000", "function": "0"}')
    expect(nic.deployables[0]!.handles).toEqual([
      { type: 'PCI', info: { bus: '18', device: '02', domain: '0000', function: '0' }, physfn: '0000:18:00.0' },
    ])
    expect(nic.model).toBe('miss_model_info')
    const gpu = await first('nvidia_gpu_driver', '3b:00.4')
    expect(gpu.deployables[0]!.handles[0]!.physfn).toBe('0000:3b:00.0')
  })
})

describe('options', () => {
  test('virtual functions of GPUs can be left out', async () => {
    const options = { gpu: { types: [], addresses: {}, withoutVfs: true } }
    expect((await shownBy('nvidia_gpu_driver', options)).map((line) => line.slice(0, 7))).not.toContain('3b:00.4')
    expect(await driverOf('nvidia_gpu_driver', options).leftOut!(recordedHost('mixed-host'))).toEqual([
      { address: '0000:3b:00.4', reason: 'it is a virtual function, and gpu_devices.filter_sriov_vfs is set' },
    ])
  })

  test('network cards are named by the interface of their physical function', async () => {
    const nic = { networks: ['physnet-1:ens24f0|ens24f1'], functions: ['GTPv1:ens24f0'] }
    const [, vf] = await driverOf('intel_nic_driver', { nic }).discover(recordedHost('mixed-host'))
    expect(valuesOf(vf!.deployables[0]!, 'trait')).toEqual(['CUSTOM_VF', 'CUSTOM_GTPV1', 'CUSTOM_PHYSNET_1'])
    expect(vf!.deployables[0]!.handles[0]!.info).toMatchObject({ physical_network: 'physnet-1' })
  })

  test('an interface that a guest took away with its function is still the one of its card', async () => {
    const nic = { networks: ['physnet1:ens5f0'], functions: [] }
    const io = recordedHost('mixed-host')
    const driver = driverOf('intel_nic_driver', { nic })
    const before = await driver.discover(io)
    io.remove('/sys/bus/pci/devices/0000:05:00.0/net')
    expect(await driver.discover(io)).toEqual(before)
    // also after a restart of the program
    expect(await driverOf('intel_nic_driver', { nic }).discover(io)).toEqual(before)
  })

  test.each([
    [['noColon'], 0],
    [[':eth0'], 0],
    [['a:'], 0],
    [['a:eth0', 'a:eth1'], 1],
    [['a:eth0', 'b:eth0'], 1],
    [['a:eth0|eth0'], 0],
  ])('mappings %j are refused, item %i by its place', (networks, at) =>
    expect(driverByName('intel_nic_driver', { nic: { networks, functions: [] } })).toMatchObject({
      ok: false,
      problems: [{ field: `nic_devices.physical_device_mappings[${at}]` }],
    }),
  )

  test('an operator adds cards, and replaces rows', async () => {
    const { cards, problems } = readCardsFile(`
- {vendor: 1af4, device: '1044', type: AICHIP, name: Own card, rc: CUSTOM_OWN, traits: [CUSTOM_MINE]}
- {vendor: '0x1DA3', device: '1020', type: AICHIP, name: Gaudi of the second kind, family: second kind}
- {vendor: '19e5', device: a115, class: '12', type: AICHIP, name: Ascend 910, driver: huawei_ascend_driver}
- {vendor: '10de', device: '22a3', class: '12', type: AICHIP, name: of another class}
`)
    expect(problems).toEqual([])
    const lines = await shownBy('id_table_driver', { cards })
    expect(lines[0]).toBe(
      '00:13.0 AICHIP CUSTOM_OWN OWNER_CYBORG CUSTOM_AICHIP_1AF4 CUSTOM_AICHIP_PRODUCT_ID_1044 CUSTOM_MINE -> PCI 00:13.0',
    )
    expect(lines[3]).toContain('CUSTOM_AICHIP_HABANA_SECOND_KIND')
    expect(lines).toHaveLength(8)
  })

  test.each([
    ['{', /^is neither JSON nor YAML: /],
    ['a: 1', /^must be a list of cards$/],
    ['[1]', /^0: must be a card/],
    ['[{"vendor": "10de", "device": "1", "type": "GPU"}]', /^0\.name: must be a card/],
    ['[{"vendor": "x", "device": "1", "type": "GPU", "name": "n"}]', /^0\.vendor: must be four hex digits, as text$/],
    ['[{"vendor": 4318, "device": "1", "type": "GPU", "name": "n"}]', /^0\.vendor: must be four hex digits, as text$/],
    ['[{"vendor": "10de", "device": "1", "type": "TPU", "name": "n"}]', /^0\.type: must be one of GPU/],
    [
      '[{"vendor": "10de", "device": "1", "type": "GPU", "name": "n", "traits": ["HW_X"]}]',
      /^0\.traits\.0: must be CUSTOM_/,
    ],
    ['[{"vendor": "10de", "device": "1", "type": "GPU", "name": "n", "rc": "GPU"}]', /^0\.rc: must be FPGA, /],
    [
      '[{"vendor": "10de", "device": "1", "type": "GPU", "name": "n", "driver": "pci_driver"}]',
      /^0\.driver: must be one of id_table_driver/,
    ],
    ['[{"vendor": "10de", "device": "1", "type": "GPU", "name": "n", "colour": "red"}]', /^0\.colour: /],
    ['[{"vendor": "10de", "device": "1", "type": "GPU", "name": "n\\u202e"}]', /^0\.name: must be a name/],
  ])('a table %j is refused', (text, rule) => {
    const { cards, problems } = readCardsFile(text)
    expect(cards).toEqual([])
    expect(problems[0]).toMatch(rule)
  })
  test('an empty table adds nothing', () => expect(readCardsFile('')).toEqual({ cards: [], problems: [] }))
})

describe('drives', () => {
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
  test('a drive that joined a pool since the report is not given to a guest (DRIVE-2)', async () => {
    const io = host({})
    const driver = driverOf('nvme_ssd_driver')
    const [slot] = slotsOf(await driver.discover(io))
    await driver.prepare(io, slot!, never)
    io.tree('/dev')['nvme0n1'] = '259:0 claimed'
    await expect(driver.prepare(io, slot!, never)).rejects.toThrow(`the drive is not given to a guest: ${CLAIMED}`)
  })
  test('what is lacking for a moment leaves no drive out, but fails the look (DRIVE-3)', async () => {
    const error = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
    const io = { ...host({}), blockDevice: async () => Promise.reject(error) }
    await expect(driverOf('nvme_ssd_driver').discover(io)).rejects.toThrow('EMFILE')
  })
  test('a drive of the table of cards is looked at alike (DRIVE-1, DRIVE-2)', async () => {
    const { cards } = readCardsFile(`[{vendor: 144d, device: a80a, type: SSD, name: own drive}]`)
    const driver = driverOf('id_table_driver', { cards })
    expect(await driver.discover(inPool())).toEqual([])
    expect(await driver.leftOut!(inPool())).toEqual([{ address: '0000:dc:00.0', reason: CLAIMED }])
    const io = host({})
    const [device] = await driver.discover(io)
    expect(device!.deployables[0]!.hostWork).toBe(true)
    io.tree('/dev')['nvme0n1'] = '259:0 claimed'
    await expect(driver.prepare(io, slotsOf([device!])[0]!, never)).rejects.toThrow(CLAIMED)
  })

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
  test('a namespace with several paths that cannot be found is not taken for unused', async () =>
    await expect(reasonOf(severalPaths(null))).rejects.toThrow('/sys/block/nvme0n1: cannot be looked at'))

  test('a drive that the host took into use since the report is not given to a guest', async () => {
    const io = host({ nvme0n1p1: { dev: '259:1\n', holders: {} } })
    const driver = driverOf('nvme_ssd_driver')
    const [device] = await driver.discover(io)
    expect(device!.deployables[0]!.hostWork).toBe(true)
    const [slot] = slotsOf([device!])
    await driver.prepare(io, slot!, never)
    io.tree('/sys/bus/pci/devices/0000:dc:00.0/nvme/nvme0/nvme0n1/nvme0n1p1/holders')['dm-1'] = {}
    await expect(driver.prepare(io, slot!, never)).rejects.toThrow(
      `slot ${slot!.uuid}: the drive is not given to a guest: nvme0n1p1 is part of dm-1`,
    )
  })

  test('where nobody can say what is mounted, nothing is concluded', async () => {
    const io = recordedHostIo({ sys: pciTree({ '0000:dc:00.0': drive({}) }) })
    await expect(driverOf('nvme_ssd_driver').discover(io)).rejects.toThrow('nobody knows which drives the host uses')
  })
})
