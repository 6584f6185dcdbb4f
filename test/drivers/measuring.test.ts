/** What drivers measure: of files that the kernel shows, and of what the tools of vendors print. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Numbers } from '../../src/vocabulary/health.ts'
import { never } from './driver.contract.ts'
import { driverOf } from './machines.ts'
import { type Programs, recordedHostIo, type Tree } from './recordedHostIo.ts'
import { pciTree } from './trees.ts'

const pathOf = (bus: string): string => `{"bus": "${bus}", "device": "00", "domain": "0000", "function": "0"}`
const measured = async (name: string, sys: Tree, programs: Programs = {}, buses = ['81']) => {
  const io = recordedHostIo({ sys }, 'compute1', '/state', programs)
  return driverOf(name).measure!(io, buses.map(pathOf), never)
}
const numbersOf = async (...given: Parameters<typeof measured>): Promise<Numbers> => {
  const { devices, complaint } = await measured(...given)
  expect(complaint).toBeUndefined()
  return devices[0]!.numbers
}
const withFiles = (more: Tree, vendor = '1da3', device = '1020'): Tree =>
  pciTree({ '0000:81:00.0': { vendor, device, class: '120000', more } })

/** As the kernel's own documentation shows them. */
const AER: Tree = {
  aer_dev_correctable: 'Receiver Error 2\nBad TLP 0\nAdvisory Non-Fatal 0\nTOTAL_ERR_COR 2\n',
  aer_dev_fatal: 'Undefined 0\nData Link Protocol 1\nSurprise Down Error 0\nTOTAL_ERR_FATAL 1\n',
  aer_dev_nonfatal: 'Undefined 0\nData Link Protocol 0\nTOTAL_ERR_NONFATAL 3\n',
}

describe('any PCI card', () => {
  test('tells its error counters', async () =>
    expect(await numbersOf('id_table_driver', withFiles(AER))).toEqual({
      pci_correctable_errors: 2,
      pci_fatal_errors: 1,
      pci_nonfatal_errors: 3,
    }))
  test('tells the hottest of its sensors, and how near the nearest is to its limit', async () => {
    const hwmon = {
      hwmon3: {
        name: 'amdgpu\n',
        temp1_input: '45000\n',
        temp1_crit: '100000\n',
        temp2_input: '61500\n',
        temp2_crit: '110000\n',
        temp3_input: '30000\n',
        temp3_crit: '0\n',
        power1_input: '1\n',
      },
    }
    expect(await numbersOf('id_table_driver', withFiles({ hwmon }))).toEqual({
      temperature_celsius: 61.5,
      temperature_margin_celsius: 48.5,
    })
  })
  test('tells those of an NVMe controller, whose sensors lie below it', async () => {
    const nvme = { nvme0: { hwmon1: { temp1_input: '80850\n', temp1_crit: '80850\n' }, model: 'a\n' } }
    const sys = pciTree({ '0000:81:00.0': { vendor: '144d', device: 'a80a', class: '010802', more: { nvme } } })
    expect(await numbersOf('nvme_ssd_driver', sys)).toEqual({
      temperature_celsius: 80.85,
      temperature_margin_celsius: 0,
    })
  })
  test.each([
    ['8.0 GT/s PCIe', '16', 1],
    ['16.0 GT/s PCIe', '8', 1],
    ['16.0 GT/s PCIe', '16', 0],
  ])('tells whether its link of %s x%s is less than it could be', async (speed, width, reduced) => {
    const link = {
      current_link_speed: `${speed}\n`,
      max_link_speed: '16.0 GT/s PCIe\n',
      current_link_width: `${width}\n`,
      max_link_width: '16\n',
    }
    expect(await numbersOf('pci_driver', withFiles(link))).toEqual({ link_reduced: reduced })
  })
  test('tells nothing that its files do not say', async () => {
    const odd: Tree = {
      aer_dev_fatal: 'garbage\n',
      aer_dev_nonfatal: '',
      hwmon: { hwmon0: { temp1_input: '', temp2_input: {}, temp3_crit: '1\n' } },
      current_link_speed: 'Unknown\n',
      max_link_speed: 'Unknown\n',
      current_link_width: '0\n',
      max_link_width: '255\n',
    }
    expect(await numbersOf('id_table_driver', withFiles(odd))).toEqual({})
  })
  test('is left out when the host does not have it any more, or its control path is none', async () => {
    const io = recordedHostIo({ sys: withFiles(AER) })
    const { devices } = await driverOf('id_table_driver').measure!(io, [pathOf('82'), 'nonsense', pathOf('81')], never)
    expect(devices.map(({ controlPath }) => controlPath)).toEqual([pathOf('81')])
  })
  test.each(['intel_fpga_driver', 'xilinx_fpga_driver', 'intel_nic_driver', 'intel_qat_driver', 'inspur_fpga_driver'])(
    '%s measures as well',
    async (name) => expect(await numbersOf(name, withFiles(AER))).toMatchObject({ pci_fatal_errors: 1 }),
  )
})

const ASCEND = `+------------------------------------------------------------------------------------------------+
| npu-smi 23.0.rc3                 Version: 23.0.rc3                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     310                 | Alarm         | 12.8        45                0    / 970           |
| 0                         | 0000:81:00.0  | 7           2457 / 8192                            |
+===========================+===============+====================================================+
| 1     310                 | OK            | NA          46                0    / 970           |
| 0                         | 0000:82:00.0  | 0           2457 / 8192                            |
+===========================+===============+====================================================+
`
const npus = (): Tree =>
  pciTree({
    '0000:81:00.0': { vendor: '19e5', device: 'd100', class: '120000' },
    '0000:82:00.0': { vendor: '19e5', device: 'd100', class: '120000' },
  })

describe('npu-smi', () => {
  test('tells of each chip by its address', async () => {
    const { devices } = await measured('huawei_ascend_driver', npus(), { 'npu-smi': () => ASCEND }, ['81', '82'])
    expect(devices.map(({ numbers }) => numbers)).toEqual([
      { vendor_alarm: 2, power_watts: 12.8, temperature_celsius: 45, utilisation_percent: 7 },
      { vendor_alarm: 0, temperature_celsius: 46, utilisation_percent: 0 },
    ])
  })
})

const GPUS = `00000000:81:00.0, 41, 87, 12, 71.35, 0, 0, No
00000000:82:00.0, 55, [N/A], [Not Supported], [Insufficient Permissions], [N/A], 4, [N/A]
`
const smi =
  (rows: () => string): Programs[string] =>
  ([query]) =>
    query?.startsWith('--query-gpu=pci.bus_id,') ? GPUS : rows()
const gpus = (): Tree =>
  pciTree({
    '0000:81:00.0': { vendor: '10de', device: '20b5', class: '030200', more: AER },
    '0000:82:00.0': { vendor: '10de', device: '1eb8', class: '030200' },
  })
const gpuNumbers = async (rows: () => string) => {
  const { devices, complaint } = await measured('nvidia_gpu_driver', gpus(), { 'nvidia-smi': smi(rows) }, ['81', '82'])
  return { numbers: devices.map(({ numbers }) => numbers), complaint }
}

describe('nvidia-smi', () => {
  test('tells of each GPU by its address, over what the kernel tells', async () => {
    const { numbers, complaint } = await gpuNumbers(() => '00000000:81:00.0, 1, 0\n')
    expect(complaint).toBeUndefined()
    expect(numbers).toEqual([
      {
        pci_correctable_errors: 2,
        pci_fatal_errors: 1,
        pci_nonfatal_errors: 3,
        temperature_celsius: 41,
        utilisation_percent: 87,
        memory_utilisation_percent: 12,
        power_watts: 71.35,
        ecc_corrected_errors: 0,
        ecc_uncorrected_errors: 0,
        memory_repair_pending: 1,
        memory_repair_failed: 0,
        vendor_alarm: 0,
      },
      { temperature_celsius: 55, ecc_uncorrected_errors: 4, vendor_alarm: 0 },
    ])
  })
  test('of an older release, which knows no rows of memory, tells the rest', async () => {
    const { numbers } = await gpuNumbers(() => {
      throw new Error('Invalid combination of input arguments')
    })
    expect(numbers[0]).toMatchObject({ temperature_celsius: 41, memory_repair_pending: 0 })
  })
  test('that fails is complained of, and the kernel still tells its part', async () => {
    const failing = {
      'nvidia-smi': () => {
        throw new Error('nvidia-smi: no devices were found')
      },
    }
    const { devices, complaint } = await measured('nvidia_gpu_driver', gpus(), failing)
    expect(complaint).toBe('nvidia-smi: no devices were found')
    expect(devices[0]!.numbers).toMatchObject({ pci_fatal_errors: 1 })
  })
  test('is not missed on a host without it', async () => {
    const { complaint, devices } = await measured('nvidia_gpu_driver', gpus())
    expect([complaint, devices.length]).toEqual([undefined, 1])
  })
})

describe('whatever is printed', () => {
  const programs = (text: string): Programs => ({ 'nvidia-smi': () => text, 'npu-smi': () => text })
  const line = fc.oneof(
    fc.string(),
    fc.constantFrom(...ASCEND.split('\n'), ...GPUS.split('\n'), '|', '0000:81:00.0', '| a | 0000:81:00.0 | b |'),
  )
  test('a reading ends, with finite numbers only', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.string(), async (lines, file) => {
        const text = lines.join('\n')
        const more = { ...AER, aer_dev_fatal: file, hwmon: { hwmon0: { temp1_input: file, temp1_crit: text } } }
        for (const name of ['nvidia_gpu_driver', 'huawei_ascend_driver'])
          for (const { numbers } of (await measured(name, withFiles(more), programs(text))).devices)
            for (const value of Object.values(numbers)) expect(Number.isFinite(value)).toBe(true)
      }),
      { numRuns: 200 },
    )
  })
})
