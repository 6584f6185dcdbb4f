/**
 * The inventories of the corpus (drivers.md 6), driver by driver, as the tables of the contract have them: written from
 * there, not printed from the program.
 */
import { describe, expect, test } from 'vitest'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import type { DriverOptions } from '../../src/drivers/index.ts'
import { cardsIn, driverOf } from './machines.ts'
import { recordedHost, type RecordedHost } from './recordedHostIo.ts'

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
      `${bus}:00.0 FPGA FPGA CUSTOM_FPGA_PRODUCT_ID_${product} CUSTOM_FPGA_XILINX_${family} -> PCI ${bus}:00.1`,
  ),
  id_table_driver: [
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
    const { deployables, card: _, ...device } = await first('nvidia_gpu_driver', 'af:00.0')
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
        hostWork: true,
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
    [
      'xilinx_fpga_driver',
      '65:00.0',
      '10ee',
      '{"product_id": "5000", "controller": "Processing accelerators"}',
      '{"vendor_info": "fpga_vb_info"}',
      'XILINX',
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
  })
})

describe('options', () => {
  test('an operator adds cards, and replaces rows', async () => {
    const { cards, problems } = cardsIn(`
- {vendor: 1af4, device: 1044, type: AICHIP, name: Own card, rc: CUSTOM_OWN, traits: [CUSTOM_MINE]}
- {vendor: '0x1DA3', device: '1020', type: AICHIP, name: Gaudi of the second kind, family: second kind}
- {vendor: 19e5, device: a115, class: 12, type: AICHIP, name: Ascend 910, driver: huawei_ascend_driver}
- {vendor: '10de', device: '22a3', class: '12', type: AICHIP, name: of another class}
`)
    expect(problems).toEqual([])
    const lines = await shownBy('id_table_driver', { cards })
    expect(lines[0]).toBe(
      '00:13.0 AICHIP CUSTOM_OWN OWNER_CYBORG CUSTOM_AICHIP_1AF4 CUSTOM_AICHIP_PRODUCT_ID_1044 CUSTOM_MINE -> PCI 00:13.0',
    )
    expect(lines[2]).toContain('CUSTOM_AICHIP_HABANA_SECOND_KIND')
    expect(lines).toHaveLength(7)
  })

  test('a card is called as the operator says, whatever pci.ids says', async () => {
    const io = recordedHost('mixed-host')
    const ids = '1af4  Red Hat, Inc.\n\t1044  Virtio 1.0 RNG\n'
    const read = async (path: string) => (path === '/usr/share/hwdata/pci.ids' ? ids : io.read(path))
    const { cards } = cardsIn("- {vendor: '1af4', device: '1044', type: AICHIP, name: Own card}")
    const [own] = await driverOf('id_table_driver', { cards }).discover({ ...io, read })
    expect(own!.model).toBe('Own card')
  })

  const HEX = '0.vendor: must be four hex digits, as text'
  const row = (more: object) => JSON.stringify([{ vendor: '10de', device: '1', type: 'GPU', name: 'n', ...more }])
  test.each<readonly [string, string]>([
    ['{', 'is neither JSON nor YAML: '],
    ['a: 1', 'must be a list of cards'],
    ['[1]', '0: must be a card'],
    [row({ name: undefined }), '0.name: must be a card'],
    ...['x', 4318, '12345'].map((vendor) => [row({ vendor }), HEX] as const),
    [row({ class: '0b4' }), '0.class: must be 2, 4 or 6 hex digits'],
    [row({ type: 'TPU' }), '0.type: must be one of GPU'],
    [row({ traits: ['HW_X'] }), '0.traits.0: must be CUSTOM_'],
    [row({ traits: Array(51).fill('CUSTOM_A') }), '0.traits: must not be more than 50'],
    [row({ rc: 'GPU' }), '0.rc: must be FPGA, '],
    [row({ driver: 'pci_driver' }), '0.driver: must be one of id_table_driver'],
    [row({ colour: 'red' }), '0.colour: '],
    ...['n\u202e', 'n'.repeat(256)].map((name) => [row({ name }), '0.name: must be a name'] as const),
  ])('a table %j is refused', (text, rule) => {
    const { cards, problems } = cardsIn(text)
    expect(cards).toEqual([])
    expect(problems[0]).toContain(`cards.yaml: ${rule}`)
  })
  test('an empty table adds nothing', () => expect(cardsIn('')).toEqual({ cards: [], problems: [] }))
})
