/** What simulated hosts report, to the letter: profiles and dashboards of users name these devices. */
import { expect, test } from 'vitest'
import { attributesOf, deployableName, traitName } from '../../src/drivers/names.ts'
import { mixedCloud, sizedCloud } from '../../src/drivers/simulated/cloud.ts'
import { FACTS, KINDS } from '../../src/drivers/simulated/models.ts'
import { simulatedDriver, type SimulatedPlan } from '../../src/drivers/simulated/simulated.ts'
import { recordedHostIo } from './recordedHostIo.ts'

const host = () => recordedHostIo({}, 'h')
const shown = async (plan: SimulatedPlan) => simulatedDriver(plan).discover(host())

test('the models of each kind', () => {
  expect(
    KINDS.flatMap((kind) => {
      const { type, resourceClass, hostWork, programmable, models } = FACTS[kind]
      return [
        `${kind}: ${type} ${resourceClass}${hostWork ? ', work on the host' : ''}${programmable ? ', programmable' : ''}`,
        ...models.map((one) => `  ${Object.values(one).join(' | ')}`),
      ]
    }),
  ).toMatchInlineSnapshot(`
    [
      "gpu: GPU PGPU",
      "  10de | 20f1 | NVIDIA Corporation GA100 [A100 PCIe 40GB] | 3D controller | NVIDIA | A100",
      "  10de | 27b8 | NVIDIA Corporation AD104GL [L4] | 3D controller | NVIDIA | L4",
      "  10de | 2330 | NVIDIA Corporation GH100 [H100 SXM5 80GB] | 3D controller | NVIDIA | H100",
      "  10de | 1eb8 | NVIDIA Corporation TU104GL [Tesla T4] | 3D controller | NVIDIA | T4",
      "fpga: FPGA FPGA, work on the host, programmable",
      "  10ee | 5000 | Xilinx Corporation Alveo U200 XDMA Platform | Processing accelerators | XILINX | U200",
      "  8086 | 09c4 | Intel Corporation PAC with Intel Arria 10 GX FPGA | Processing accelerators | INTEL | PAC_ARRIA10",
      "nic: NIC CUSTOM_NIC, work on the host",
      "  8086 | 1572 | Intel Corporation Ethernet Controller X710 for 10GbE SFP+ | Ethernet controller | INTEL | X710",
      "  8086 | 158b | Intel Corporation Ethernet Controller XXV710 for 25GbE SFP28 | Ethernet controller | INTEL | XXV710",
      "qat: QAT CUSTOM_QAT",
      "  8086 | 37c8 | Intel Corporation C620 Series Chipset Family QAT | Co-processor | INTEL | C62X",
      "ssd: SSD CUSTOM_SSD",
      "  1bd4 | 1001 | IEIT SYSTEMS Co., Ltd NS8600G1U320 NVME SSD | Non-Volatile memory controller | INSPUR | NS8600G1U320",
      "  144d | a80a | Samsung Electronics Co Ltd NVMe SSD Controller PM9A1/PM9A3/980PRO | Non-Volatile memory controller | SAMSUNG | PM9A3",
      "aichip: AICHIP CUSTOM_AICHIP",
      "  1da3 | 1020 | Habana Labs Ltd. Gaudi2 AI Training Accelerator | Processing accelerators | HABANA | GAUDI2",
      "  19e5 | d100 | Huawei Technologies Co., Ltd. Device | Processing accelerators | HUAWEI | ASCEND310",
    ]
  `)
})

test('a card with two functions, of a vendor whose older trait is kept', async () => {
  const [, gpu] = await shown({
    seed: 's',
    devices: [
      { kind: 'nic', handles: 300 },
      { kind: 'gpu', handles: 2 },
    ],
  })
  expect(gpu).toMatchInlineSnapshot(`
    {
      "controlPath": {
        "info": "{"bus": "02", "device": "00", "domain": "acc0", "function": "0"}",
        "type": "PCI",
      },
      "deployables": [
        {
          "attributes": [
            {
              "key": "rc",
              "value": "PGPU",
            },
            {
              "key": "trait0",
              "value": "OWNER_CYBORG",
            },
            {
              "key": "trait1",
              "value": "CUSTOM_GPU_NVIDIA",
            },
            {
              "key": "trait2",
              "value": "CUSTOM_GPU_PRODUCT_ID_27B8",
            },
            {
              "key": "trait3",
              "value": "CUSTOM_GPU_NVIDIA_L4",
            },
            {
              "key": "trait4",
              "value": "CUSTOM_NVIDIA_27B8",
            },
          ],
          "driverName": "simulated",
          "handles": [
            {
              "info": {
                "bus": "02",
                "device": "00",
                "domain": "acc0",
                "function": "1",
              },
              "type": "PCI",
            },
            {
              "info": {
                "bus": "02",
                "device": "00",
                "domain": "acc0",
                "function": "2",
              },
              "type": "PCI",
            },
          ],
          "hostWork": false,
          "name": "h_acc0:02:00.0",
          "numAccelerators": 2,
          "programmable": false,
        },
      ],
      "model": "NVIDIA Corporation AD104GL [L4]",
      "stdBoardInfo": "{"product_id": "27b8", "controller": "3D controller"}",
      "type": "GPU",
      "vendor": "10de",
      "vendorBoardInfo": "{"vendor_info": "simulated", "serial": "855DD377"}",
    }
  `)
})

test('models and serial numbers follow from seed and place', async () => {
  const lines = async (seed: string | number) =>
    (await shown({ seed, devices: KINDS.map((kind) => ({ kind, handles: 1 })) })).map(
      ({ stdBoardInfo, vendorBoardInfo, deployables: [one] }) =>
        `${stdBoardInfo} ${vendorBoardInfo} ${one!.attributes.map(({ value }) => value).join(' ')}`,
    )
  expect(await lines(1)).toMatchInlineSnapshot(`
    [
      "{"product_id": "27b8", "controller": "3D controller"} {"vendor_info": "simulated", "serial": "C75ACE6F"} PGPU OWNER_CYBORG CUSTOM_GPU_NVIDIA CUSTOM_GPU_PRODUCT_ID_27B8 CUSTOM_GPU_NVIDIA_L4 CUSTOM_NVIDIA_27B8",
      "{"product_id": "5000", "controller": "Processing accelerators"} {"vendor_info": "simulated", "serial": "9D9156E4"} FPGA OWNER_CYBORG CUSTOM_FPGA_PRODUCT_ID_5000 CUSTOM_FPGA_XILINX_U200",
      "{"product_id": "1572", "controller": "Ethernet controller"} {"vendor_info": "simulated", "serial": "72788677"} CUSTOM_NIC OWNER_CYBORG CUSTOM_NIC_INTEL CUSTOM_NIC_PRODUCT_ID_1572 CUSTOM_NIC_INTEL_X710",
      "{"product_id": "37c8", "controller": "Co-processor"} {"vendor_info": "simulated", "serial": "F0F6D5D7"} CUSTOM_QAT OWNER_CYBORG CUSTOM_QAT_INTEL CUSTOM_QAT_PRODUCT_ID_37C8 CUSTOM_QAT_INTEL_C62X",
      "{"product_id": "1001", "controller": "Non-Volatile memory controller"} {"vendor_info": "simulated", "serial": "2740A386"} CUSTOM_SSD OWNER_CYBORG CUSTOM_SSD_INSPUR CUSTOM_SSD_PRODUCT_ID_1001 CUSTOM_SSD_INSPUR_NS8600G1U320",
      "{"product_id": "1020", "controller": "Processing accelerators"} {"vendor_info": "simulated", "serial": "DAB5C46F"} CUSTOM_AICHIP OWNER_CYBORG CUSTOM_AICHIP_HABANA CUSTOM_AICHIP_PRODUCT_ID_1020 CUSTOM_AICHIP_HABANA_GAUDI2",
    ]
  `)
  expect(await lines('demo/2')).toMatchInlineSnapshot(`
    [
      "{"product_id": "20f1", "controller": "3D controller"} {"vendor_info": "simulated", "serial": "17D08D96"} PGPU OWNER_CYBORG CUSTOM_GPU_NVIDIA CUSTOM_GPU_PRODUCT_ID_20F1 CUSTOM_GPU_NVIDIA_A100 CUSTOM_NVIDIA_20F1",
      "{"product_id": "5000", "controller": "Processing accelerators"} {"vendor_info": "simulated", "serial": "4BD0D641"} FPGA OWNER_CYBORG CUSTOM_FPGA_PRODUCT_ID_5000 CUSTOM_FPGA_XILINX_U200",
      "{"product_id": "1572", "controller": "Ethernet controller"} {"vendor_info": "simulated", "serial": "BDCA0DE6"} CUSTOM_NIC OWNER_CYBORG CUSTOM_NIC_INTEL CUSTOM_NIC_PRODUCT_ID_1572 CUSTOM_NIC_INTEL_X710",
      "{"product_id": "37c8", "controller": "Co-processor"} {"vendor_info": "simulated", "serial": "AD4E033B"} CUSTOM_QAT OWNER_CYBORG CUSTOM_QAT_INTEL CUSTOM_QAT_PRODUCT_ID_37C8 CUSTOM_QAT_INTEL_C62X",
      "{"product_id": "a80a", "controller": "Non-Volatile memory controller"} {"vendor_info": "simulated", "serial": "CC1E4F2C"} CUSTOM_SSD OWNER_CYBORG CUSTOM_SSD_SAMSUNG CUSTOM_SSD_PRODUCT_ID_A80A CUSTOM_SSD_SAMSUNG_PM9A3",
      "{"product_id": "d100", "controller": "Processing accelerators"} {"vendor_info": "simulated", "serial": "7AB395CF"} CUSTOM_AICHIP OWNER_CYBORG CUSTOM_AICHIP_HUAWEI CUSTOM_AICHIP_PRODUCT_ID_D100 CUSTOM_AICHIP_HUAWEI_ASCEND310",
    ]
  `)
})

test('each card begins a bus of its own, and takes as many as it needs', async () => {
  const devices = [1, 255, 256, 4096, 1].map((handles) => ({ kind: 'qat' as const, handles }))
  const cards = await shown({ seed: 1, devices })
  expect(
    cards.map(({ controlPath, deployables: [one] }) => {
      const infos = one!.handles.map(({ info }) => Object.values(info).join(' '))
      return `${controlPath.info} ${infos.length} ${infos[0]} ... ${infos.at(-1)}`
    }),
  ).toMatchInlineSnapshot(`
    [
      "{"bus": "00", "device": "00", "domain": "acc0", "function": "0"} 1 00 00 acc0 0 ... 00 00 acc0 0",
      "{"bus": "01", "device": "00", "domain": "acc0", "function": "0"} 255 01 00 acc0 1 ... 01 1f acc0 7",
      "{"bus": "02", "device": "00", "domain": "acc0", "function": "0"} 256 02 00 acc0 1 ... 03 00 acc0 0",
      "{"bus": "04", "device": "00", "domain": "acc0", "function": "0"} 4096 04 00 acc0 1 ... 14 00 acc0 0",
      "{"bus": "15", "device": "00", "domain": "acc0", "function": "0"} 1 15 00 acc0 0 ... 15 00 acc0 0",
    ]
  `)
})

test('a plan at its limits is taken', () => {
  const plan = (count: number, handles: number) => () =>
    simulatedDriver({ seed: 1, devices: Array.from({ length: count }, () => ({ kind: 'gpu', handles })) })
  expect(plan(1000, 1)).not.toThrow()
  expect(plan(1, 4096)).not.toThrow()
  expect(plan(1, 4097)).toThrow('devices[0].handles: must be a whole number from 1 to 4096')
  expect(plan(1, 1.5)).toThrow('devices[0].handles: must be a whole number from 1 to 4096')
})

test('the hosts of a cloud', () => {
  const lines = (hosts: ReturnType<typeof mixedCloud>) =>
    hosts.map(({ hostname, plan }) => `${hostname} ${JSON.stringify(plan)}`)
  expect(lines(mixedCloud('x'))).toMatchInlineSnapshot(`
    [
      "sim-1 {"seed":"x/1","devices":[{"kind":"fpga","handles":16},{"kind":"gpu","handles":1},{"kind":"gpu","handles":1},{"kind":"nic","handles":8}]}",
      "sim-2 {"seed":"x/2","devices":[{"kind":"gpu","handles":1},{"kind":"gpu","handles":1},{"kind":"gpu","handles":1},{"kind":"gpu","handles":1},{"kind":"qat","handles":16},{"kind":"ssd","handles":1},{"kind":"ssd","handles":1}]}",
      "sim-3 {"seed":"x/3","devices":[{"kind":"aichip","handles":1},{"kind":"aichip","handles":1},{"kind":"fpga","handles":4},{"kind":"nic","handles":4},{"kind":"ssd","handles":1}]}",
    ]
  `)
  expect(lines(sizedCloud(7, { hosts: 2, devices: 1, handles: 3 }))).toEqual([
    'sim-1 {"seed":"7/1","devices":[{"kind":"fpga","handles":3}],"hostWork":true}',
    'sim-2 {"seed":"7/2","devices":[{"kind":"fpga","handles":3}],"hostWork":true}',
  ])
  expect(sizedCloud(7, { hosts: 1, devices: 1, handles: 3, hostWork: false })[0]!.plan.hostWork).toBe(false)
})

test('names that Placement takes', () => {
  expect(deployableName('h', 'x'.repeat(198))).toBe(`h_${'x'.repeat(198)}`)
  expect(() => deployableName('h', 'x'.repeat(199))).toThrow(
    /^hostname: 'h_x+' must not be longer than 200 characters$/,
  )
  expect(traitName('custom', 'a-.b', 'c')).toBe('CUSTOM_A_B_C')
  expect([traitName('a'.repeat(255)), traitName('a'.repeat(256))]).toEqual(['A'.repeat(255), 'A'.repeat(255)])
  expect(attributesOf('FPGA', ['a', 'b', 'a'])).toEqual([
    { key: 'rc', value: 'FPGA' },
    { key: 'trait0', value: 'a' },
    { key: 'trait1', value: 'b' },
  ])
})
