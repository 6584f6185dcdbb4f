/** Card models of the simulated driver. Ids and names are real, so that profiles written for the real card match. */
import type { ReportedDevice } from '../../vocabulary/hardware.ts'

export const KINDS = ['gpu', 'fpga', 'nic', 'qat', 'ssd', 'aichip'] as const
export type Kind = (typeof KINDS)[number]

export type Model = {
  readonly vendor: string
  readonly product: string
  readonly text: string
  readonly controller: string
  /** Used in traits. */
  readonly vendorName: string
  readonly family: string
}
export type KindFacts = {
  readonly type: ReportedDevice['type']
  readonly resourceClass: string
  /**
   * Whether a bind needs work on the host: an FPGA is cleared for the next tenant and a NIC's function is configured;
   * the others are passed through unchanged.
   */
  readonly hostWork: boolean
  readonly programmable: boolean
  readonly models: readonly Model[]
}

const model = (ids: string, vendorName: string, family: string, controller: string, text: string): Model => {
  const [vendor = '', product = ''] = ids.split(':')
  return { vendor, product, text, controller, vendorName, family }
}

const GPU = '3D controller'
const ACCELERATOR = 'Processing accelerators'
const ETHERNET = 'Ethernet controller'
const COPROCESSOR = 'Co-processor'
const NVME = 'Non-Volatile memory controller'

export const FACTS: Readonly<Record<Kind, KindFacts>> = {
  gpu: {
    type: 'GPU',
    resourceClass: 'PGPU',
    hostWork: false,
    programmable: false,
    models: [
      model('10de:20f1', 'NVIDIA', 'A100', GPU, 'NVIDIA Corporation GA100 [A100 PCIe 40GB]'),
      model('10de:27b8', 'NVIDIA', 'L4', GPU, 'NVIDIA Corporation AD104GL [L4]'),
      model('10de:2330', 'NVIDIA', 'H100', GPU, 'NVIDIA Corporation GH100 [H100 SXM5 80GB]'),
      model('10de:1eb8', 'NVIDIA', 'T4', GPU, 'NVIDIA Corporation TU104GL [Tesla T4]'),
    ],
  },
  fpga: {
    type: 'FPGA',
    resourceClass: 'FPGA',
    hostWork: true,
    programmable: true,
    models: [
      model('10ee:5000', 'XILINX', 'U200', ACCELERATOR, 'Xilinx Corporation Alveo U200 XDMA Platform'),
      model('8086:09c4', 'INTEL', 'PAC_ARRIA10', ACCELERATOR, 'Intel Corporation PAC with Intel Arria 10 GX FPGA'),
    ],
  },
  nic: {
    type: 'NIC',
    resourceClass: 'CUSTOM_NIC',
    hostWork: true,
    programmable: false,
    models: [
      model('8086:1572', 'INTEL', 'X710', ETHERNET, 'Intel Corporation Ethernet Controller X710 for 10GbE SFP+'),
      model('8086:158b', 'INTEL', 'XXV710', ETHERNET, 'Intel Corporation Ethernet Controller XXV710 for 25GbE SFP28'),
    ],
  },
  qat: {
    type: 'QAT',
    resourceClass: 'CUSTOM_QAT',
    hostWork: false,
    programmable: false,
    models: [model('8086:37c8', 'INTEL', 'C62X', COPROCESSOR, 'Intel Corporation C620 Series Chipset Family QAT')],
  },
  ssd: {
    type: 'SSD',
    resourceClass: 'CUSTOM_SSD',
    hostWork: false,
    programmable: false,
    models: [
      model('1bd4:1001', 'INSPUR', 'NS8600G1U320', NVME, 'IEIT SYSTEMS Co., Ltd NS8600G1U320 NVME SSD'),
      model('144d:a80a', 'SAMSUNG', 'PM9A3', NVME, 'Samsung Electronics Co Ltd NVMe SSD Controller PM9A1/PM9A3/980PRO'),
    ],
  },
  aichip: {
    type: 'AICHIP',
    resourceClass: 'CUSTOM_AICHIP',
    hostWork: false,
    programmable: false,
    models: [
      model('1da3:1020', 'HABANA', 'GAUDI2', ACCELERATOR, 'Habana Labs Ltd. Gaudi2 AI Training Accelerator'),
      model('19e5:d100', 'HUAWEI', 'ASCEND310', ACCELERATOR, 'Huawei Technologies Co., Ltd. Device'),
    ],
  },
}
