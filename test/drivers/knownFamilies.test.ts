/** Cards that their ids, or those of their board, tell apart: which family they have, and by which driver they come. */
import { describe, expect, test } from 'vitest'
import type { DriverOptions } from '../../src/drivers/index.ts'
import { never } from './driver.contract.ts'
import { cardsIn, driverOf } from './machines.ts'
import { recordedHostIo, type Tree } from './recordedHostIo.ts'
import { dflTree, pciTree, xclbin } from './trees.ts'

const ADDRESS = '0000:81:00.0'
const traitsBy = async (name: string, sys: Tree, options: DriverOptions = {}): Promise<readonly string[]> => {
  const devices = await driverOf(name, options).discover(recordedHostIo({ sys }))
  return devices.flatMap(({ deployables: [one] }) =>
    one!.attributes.filter(({ key }) => key.startsWith('trait')).map(({ value }) => value),
  )
}
const one = (vendor: string, device: string, pciClass: string): Tree =>
  pciTree({ [ADDRESS]: { vendor, device, class: pciClass } })

test.each([
  ['nvidia_gpu_driver', '10de:2342', '030200', 'CUSTOM_GPU_NVIDIA_GH200'],
  ['nvidia_gpu_driver', '10de:25b6', '030200', 'CUSTOM_GPU_NVIDIA_A2_A16'],
  ['nvidia_gpu_driver', '10de:2321', '030200', 'CUSTOM_GPU_NVIDIA_H100'],
  ['nvidia_gpu_driver', '10de:2321', '030200', 'CUSTOM_GPU_NVIDIA_H100L'],
  ['nvidia_gpu_driver', '10de:2909', '030200', 'CUSTOM_GPU_NVIDIA_B200'],
  ['id_table_driver', '1002:740c', '038000', 'CUSTOM_GPU_AMD_MI250X_MI250'],
  ['id_table_driver', '1002:7410', '038000', 'CUSTOM_GPU_AMD_MI210'],
  ['id_table_driver', '1002:75b0', '120000', 'CUSTOM_GPU_AMD_MI350X'],
  ['id_table_driver', '1002:73ae', '030000', 'CUSTOM_GPU_AMD_V620'],
  ['id_table_driver', '8086:e211', '030000', 'CUSTOM_GPU_INTEL_ARC_PRO_B60'],
  ['id_table_driver', '1eff:1250', '120000', 'CUSTOM_AICHIP_REBELLIONS_ATOM'],
  ['id_table_driver', '1eff:2031', '120000', 'CUSTOM_AICHIP_REBELLIONS_REBEL'],
  ['id_table_driver', '1eff:4002', '120000', 'CUSTOM_AICHIP_PRODUCT_ID_4002'],
  ['id_table_driver', '17cb:a080', '120000', 'CUSTOM_AICHIP_QUALCOMM_CLOUD_AI_80'],
  ['id_table_driver', '1e36:c042', '120000', 'CUSTOM_AICHIP_ENFLAME_L600'],
  ['huawei_ascend_driver', '19e5:d500', '120000', 'CUSTOM_AICHIP_HUAWEI_ASCEND_310P'],
  ['huawei_ascend_driver', '19e5:d801', '120000', 'CUSTOM_AICHIP_HUAWEI_ASCEND_910'],
  ['huawei_ascend_driver', '19e5:d802', '120000', 'CUSTOM_AICHIP_HUAWEI_ASCEND_910B'],
  ['huawei_ascend_driver', '19e5:d803', '120000', 'CUSTOM_AICHIP_HUAWEI_ASCEND_910C'],
  ['intel_qat_driver', '8086:128c', '0b4000', 'CUSTOM_QAT_INTEL_60CX8980'],
])('%s offers %s, of class %s, with the trait %s', async (driver, ids, pciClass, trait) => {
  const [vendor = '', device = ''] = ids.split(':')
  expect(await traitsBy(driver, one(vendor, device, pciClass))).toContain(trait)
})
test('a function of Rebellions that is no accelerator is not offered', async () =>
  expect(await traitsBy('id_table_driver', one('1eff', '4002', '060400'))).toEqual([]))

test('a vendor that looks like a number in YAML is read as it is written', async () => {
  const { cards, problems } = cardsIn(
    '- {vendor: 19e5, device: 0270, type: AICHIP, name: own, driver: huawei_ascend_driver, traits: [CUSTOM_OWN]}',
  )
  expect(problems).toEqual([])
  expect(await traitsBy('huawei_ascend_driver', one('19e5', '0270', '120000'), { cards })).toContain('CUSTOM_OWN')
})

describe('a DFL board', () => {
  const board = (subsystem: string, maker = '8086'): Tree => {
    const sys = dflTree()
    const files = ((sys['devices'] as Tree)['pci0000:b1'] as Tree)['0000:b1:00.0'] as Tree
    Object.assign(files, {
      device: '0xbcce\n',
      subsystem_vendor: `0x${maker}\n`,
      subsystem_device: `0x${subsystem}\n`,
    })
    return sys
  }
  test.each([
    ['138d', 'CUSTOM_FPGA_INTEL_PAC_D5005'],
    ['1770', 'CUSTOM_FPGA_INTEL_N6000'],
    ['1771', 'CUSTOM_FPGA_INTEL_N6001'],
    ['17d4', 'CUSTOM_FPGA_INTEL_C6100'],
  ])('of subsystem %s has the trait %s, and that of all such boards', async (subsystem, trait) =>
    expect(await traitsBy('intel_fpga_driver', board(subsystem))).toEqual(
      expect.arrayContaining([trait, 'CUSTOM_FPGA_INTEL_DFL']),
    ),
  )
  test('of another subsystem, or of another maker, is such a board', async () => {
    for (const sys of [board('ffff'), board('1771', '1bd4')]) {
      const traits = await traitsBy('intel_fpga_driver', sys)
      expect(traits).toContain('CUSTOM_FPGA_INTEL_DFL')
      expect(traits).not.toContain('CUSTOM_FPGA_INTEL_N6001')
    }
  })
  test('is what a row of an operator says', async () => {
    const { cards } = cardsIn(
      '- {vendor: 8086, device: bcce, type: FPGA, name: own, family: own, driver: intel_fpga_driver}',
    )
    const traits = await traitsBy('intel_fpga_driver', board('1771'), { cards })
    expect(traits).toContain('CUSTOM_FPGA_INTEL_OWN')
    expect(traits).not.toContain('CUSTOM_FPGA_INTEL_N6001')
  })
})

test('a V80 is offered, and is not programmable: its program is not that of XRT', async () => {
  const sys = pciTree({
    '0000:3b:00.0': { vendor: '10ee', device: '50b4', class: '120000' },
    '0000:3b:00.1': { vendor: '10ee', device: '50b5', class: '120000' },
  })
  const io = recordedHostIo({
    sys,
    images: { 'a.xclbin': xclbin('11111111-2222-4333-8444-555555555555') },
    opt: { xilinx: { xrt: { bin: { xbutil: '' } } } },
  })
  const driver = driverOf('xilinx_fpga_driver')
  const [card] = await driver.discover(io)
  expect([card!.stub, card!.deployables[0]!.programmable]).toEqual([undefined, false])
  await expect(driver.program!(io, card!.deployables[0]!.name, '/images/a.xclbin', never)).rejects.toThrow(
    'is loaded by AMI (ami_tool), not by XRT',
  )
})

test('a divided GPU that can give no vGPU, because other types use it, says so', async () => {
  const type = (name: string, available: number): Tree => ({
    name: `${name}\n`,
    available_instances: `${available}\n`,
    create: '',
    devices: {},
  })
  const more = { mdev_supported_types: { 'nvidia-222': type('GRID T4-1B', 0), 'nvidia-230': type('GRID T4-1Q', 13) } }
  const io = recordedHostIo({ sys: pciTree({ [ADDRESS]: { vendor: '10de', device: '1eb8', class: '030200', more } }) })
  const gpu = { types: ['nvidia-222'], addresses: { 'nvidia-222': [ADDRESS] }, withoutVfs: false }
  const driver = driverOf('nvidia_gpu_driver', { gpu })
  expect((await driver.discover(io)).map(({ deployables: [unit] }) => unit!.numAccelerators)).toEqual([0])
  expect(await driver.leftOut!(io)).toEqual([
    { address: ADDRESS, reason: 'no vGPU of nvidia-222 can be made now: vGPUs of other types use what it needs' },
  ])
})
