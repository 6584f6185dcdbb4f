/** What is read of each file and of each column that tells a measurement: on both sides of what counts as a number. */
import { describe, expect, test } from 'vitest'
import type { HostIo } from '../../src/drivers/driver.ts'
import type { Numbers } from '../../src/health.ts'
import { npuSmi } from '../../src/drivers/measuring/npuSmi.ts'
import { nvidiaSmi } from '../../src/drivers/measuring/nvidiaSmi.ts'
import { measuresPci, pciNumbers } from '../../src/drivers/pci/measured.ts'
import { parsePciAddress, pciJson } from '../../src/pci.ts'
import { never } from './driver.contract.ts'
import { recordedHostIo, type Tree } from './recordedHostIo.ts'
import { pciTree } from './trees.ts'

const ADDRESS = '0000:81:00.0'
const at = (text: string) => parsePciAddress(text)!
const FOLDER = `/sys/bus/pci/devices/${ADDRESS}`
const host = (more: Tree) =>
  recordedHostIo({ sys: pciTree({ [ADDRESS]: { vendor: '10de', device: '20b5', class: '030200', more } }) })
const numbers = (more: Tree): Promise<Numbers | null> => pciNumbers(host(more), '/sys', at(ADDRESS))

describe('the kernel', () => {
  test('tells of a function that it does not have nothing at all', async () =>
    expect(await pciNumbers(host({}), '/sys', at('0000:82:00.0'))).toBe(null))
  test.each<[string, string, object]>([
    ['aer_dev_fatal', 'TOTAL_ERR_FATAL', { pci_fatal_errors: 7 }],
    ['aer_dev_nonfatal', 'TOTAL_ERR_NONFATAL', { pci_nonfatal_errors: 7 }],
    ['aer_dev_correctable', 'TOTAL_ERR_COR', { pci_correctable_errors: 7 }],
  ])('counts in %s what the line %s says, and in no other', async (file, total, counted) => {
    expect(await numbers({ [file]: `Bad TLP 3\n${total} 7\nOther 9\n` })).toEqual(counted)
    for (const line of [`X${total} 7`, `${total} 7x`, `${total}  7`, `${total} -7`, `${total} ${'7'.repeat(16)}`])
      expect(await numbers({ [file]: `${line}\n` })).toEqual({})
  })
  test('tells its other numbers where one file cannot be read', async () => {
    const io = host({
      aer_dev_fatal: 'TOTAL_ERR_FATAL 7\n',
      aer_dev_nonfatal: 'TOTAL_ERR_NONFATAL 1\n',
      hwmon: { hwmon0: { temp1_input: '40000', temp2_input: '50000' } },
    })
    const read: HostIo['read'] = (path) =>
      path.endsWith('aer_dev_fatal') || path.endsWith('temp2_input') ? Promise.reject(new Error('EIO')) : io.read(path)
    expect(await pciNumbers({ ...io, read }, '/sys', at(ADDRESS))).toEqual({
      pci_nonfatal_errors: 1,
      temperature_celsius: 40,
    })
  })
  const link = (speed: string, most: string, width: string, widest: string): Tree => ({
    current_link_speed: speed,
    max_link_speed: most,
    current_link_width: width,
    max_link_width: widest,
  })
  test.each<[Tree, object]>([
    [link('16.0 GT/s PCIe', '16.0 GT/s PCIe', '16', '16'), { link_reduced: 0 }],
    // a GPU that is not known to be busy
    [link('8.0 GT/s', '16.0 GT/s', '16', '16'), { link_reduced: 0 }],
    [link('16.0 GT/s', '16.0 GT/s', '8', '16'), { link_reduced: 1 }],
    [link('16.0 GT/s', '8.0 GT/s', '16', '8'), { link_reduced: 0 }],
    [link('Unknown', '16.0 GT/s', '16', '16'), {}],
    [link('16.0 GT/s', 'Unknown', '16', '16'), {}],
    [link('16.0 GT/s', '16.0 GT/s', '0', '16'), {}],
    [link('16.0 GT/s', '16.0 GT/s', '16', '0'), {}],
  ])('tells whether the link is reduced only where all four files say it: %j', async (files, told) => {
    expect(await numbers(files)).toEqual(told)
    for (const name of Object.keys(files)) {
      const { [name]: _, ...others } = files
      expect(await numbers(others)).toEqual({})
    }
  })
  test('tells the hottest sensor and the smallest margin of all that are below the function', async () => {
    const sensors = (name: string, files: Tree): Tree => ({ [name]: files })
    const nvme: Tree = {
      nvme0: {
        ...sensors('hwmon3', { temp1_input: '61000', temp1_crit: '90000' }),
        hwmon: sensors('hwmon4', { temp1_input: '62000', temp1_crit: '80000' }),
        xhwmon5: { temp1_input: '99000' },
        hwmon6x: { temp1_input: '99000' },
      },
    }
    const hwmon = sensors('hwmon1', {
      temp1_input: '-5500',
      temp2_input: '60500.5',
      temp2_crit: '75000',
      temp3_input: '1000',
      temp3_crit: '0',
      temp4_input: '1000',
      temp4_crit: '-1',
      temp5_input: '1000',
      temp5_crit: 'none',
      xtemp6_input: '99000',
      temp6_inputx: '99000',
      temp_input: '99000',
      temp7_crit: '1',
    })
    expect(await numbers({ hwmon, nvme })).toEqual({ temperature_celsius: 62, temperature_margin_celsius: 14.4995 })
    expect(await numbers({ nvme })).toEqual({ temperature_celsius: 62, temperature_margin_celsius: 18 })
    expect(await numbers({ hwmon: { hwmon1: { temp1_input: '5000' } } })).toEqual({ temperature_celsius: 5 })
  })
})

describe('a tool', () => {
  const printing = (programs: Readonly<Record<string, string | Error>>) => {
    const calls: unknown[] = []
    const io: HostIo = {
      ...host({}),
      run: async (program, args, ...more) => {
        calls.push([program, args, ...more])
        const printed = programs[`${args[0]!.split('=')[0]}`] ?? ''
        if (printed instanceof Error) throw printed
        return printed
      },
    }
    return { io, calls }
  }
  const told = async (tool: ReturnType<typeof npuSmi>, programs: Readonly<Record<string, string | Error>>) => {
    const { numbers: found, ...more } = await tool(printing(programs).io, never)
    return { ...Object.fromEntries(found), ...more }
  }
  const GPU = '--query-gpu'
  const ROWS = '--query-remapped-rows'
  test('of NVIDIA is asked for each field, within eight seconds', async () => {
    const { io, calls } = printing({})
    await nvidiaSmi('/usr/bin/nvidia-smi')(io, never)
    const format = '--format=csv,noheader,nounits'
    const gpu =
      'pci.bus_id,temperature.gpu,utilization.gpu,utilization.memory,power.draw,ecc.errors.corrected.volatile.total,ecc.errors.uncorrected.volatile.total,retired_pages.pending'
    expect(calls).toEqual([
      ['/usr/bin/nvidia-smi', [`${GPU}=${gpu}`, format], 8000, never],
      ['/usr/bin/nvidia-smi', [`${ROWS}=gpu_bus_id,remapped_rows.pending,remapped_rows.failure`, format], 8000, never],
    ])
  })
  test.each<[string, object]>([
    [
      '41, 87, 12, 71.35, 5, 6, Yes',
      {
        temperature_celsius: 41,
        utilisation_percent: 87,
        memory_utilisation_percent: 12,
        power_watts: 71.35,
        ecc_corrected_errors: 5,
        ecc_uncorrected_errors: 6,
        memory_repair_pending: 1,
        vendor_alarm: 0,
      },
    ],
    ['-, x1, 1x, 1., .5, 1e3, 7', {}],
    [
      '0,0,0,0,0,0,No',
      {
        temperature_celsius: 0,
        utilisation_percent: 0,
        memory_utilisation_percent: 0,
        power_watts: 0,
        ecc_corrected_errors: 0,
        ecc_uncorrected_errors: 0,
        memory_repair_pending: 0,
        vendor_alarm: 0,
      },
    ],
    [
      `${'9'.repeat(16)}, 1.${'9'.repeat(10)}, 7, , , , No`,
      { memory_utilisation_percent: 7, memory_repair_pending: 0, vendor_alarm: 0 },
    ],
  ])('of NVIDIA says %j', async (values, is) =>
    expect(await told(nvidiaSmi('s'), { [GPU]: `00000000:81:00.0, ${values}\n` })).toEqual({ [ADDRESS]: is }),
  )
  test('of NVIDIA tells of each card by its own line; other lines are passed over', async () => {
    const all =
      'No devices\n00000000:81:00.0, 1, 2, 3, 4, 5, 6\n00000000:82:00.0, 1, 2, 3, 4, 5, 6, No, 8\n00000000:83:00.0, 1, , , , , , \n'
    expect(await told(nvidiaSmi('s'), { [GPU]: all })).toEqual({
      '0000:83:00.0': { temperature_celsius: 1, vendor_alarm: 0 },
    })
  })
  test.each<[string, string, object]>([
    ['No', '0, 0', { memory_repair_pending: 0, memory_repair_failed: 0, vendor_alarm: 0 }],
    ['No', '1, 0', { memory_repair_pending: 1, memory_repair_failed: 0, vendor_alarm: 0 }],
    ['Yes', '0, 1', { memory_repair_pending: 1, memory_repair_failed: 1, vendor_alarm: 0 }],
    ['No', '2, 7', { memory_repair_pending: 1, memory_repair_failed: 1, vendor_alarm: 0 }],
    ['N/A', 'Yes, No', { memory_repair_pending: 1, memory_repair_failed: 0, vendor_alarm: 0 }],
    ['N/A', 'No, Yes', { memory_repair_pending: 0, memory_repair_failed: 1, vendor_alarm: 0 }],
    ['N/A', 'N/A, N/A', {}],
  ])('of NVIDIA tells the worse of pages (%s) and rows (%s)', async (pages, rows, is) =>
    expect(
      await told(nvidiaSmi('s'), { [GPU]: `${ADDRESS}, , , , , , , ${pages}`, [ROWS]: `${ADDRESS}, ${rows}` }),
    ).toEqual({ [ADDRESS]: is }),
  )
  test('of NVIDIA tells nothing of a card that only the rows name, and its part where rows are unknown', async () => {
    const gpu = `${ADDRESS}, 41, , , , , , No`
    expect(await told(nvidiaSmi('s'), { [GPU]: gpu, [ROWS]: '0000:99:00.0, 1, 1' })).toEqual({
      [ADDRESS]: { temperature_celsius: 41, memory_repair_pending: 0, vendor_alarm: 0 },
    })
    expect(await told(nvidiaSmi('s'), { [GPU]: gpu, [ROWS]: new Error('unknown') })).toEqual({
      [ADDRESS]: { temperature_celsius: 41, memory_repair_pending: 0, vendor_alarm: 0 },
    })
  })
  test.each<[Error, object]>([
    [new Error('spawn s ENOENT'), {}],
    [new Error('s: no end within 8000 ms'), { complaint: 's: no end within 8000 ms' }],
  ])('that fails with %s is complained of, unless it is not there', async (error, more) => {
    expect(await told(nvidiaSmi('s'), { [GPU]: error })).toEqual(more)
    expect(await told(npuSmi('s'), { info: error })).toEqual(more)
  })
  const chip = (health: string, power: string, use: string, address = ADDRESS) =>
    `| 0 310 | ${health} | ${power} |\n| 0 | ${address} | ${use} |\n`
  test('of Ascend is asked for its table, within eight seconds', async () => {
    const { io, calls } = printing({})
    await npuSmi('/opt/npu-smi')(io, never)
    expect(calls).toEqual([['/opt/npu-smi', ['info'], 8000, never]])
  })
  test.each<[string, object]>([
    [
      chip('OK', '12.8 45 0 / 970', '7 2457 / 8192'),
      { vendor_alarm: 0, power_watts: 12.8, temperature_celsius: 45, utilisation_percent: 7 },
    ],
    [chip('Warning', '1', '0'), { vendor_alarm: 1, power_watts: 1, utilisation_percent: 0 }],
    [chip('Alarm', 'NA 46', 'x7'), { vendor_alarm: 2, temperature_celsius: 46 }],
    [chip('Critical', '-1 4x', '7x'), { vendor_alarm: 3 }],
    [chip('ok', '', ''), { vendor_alarm: 0 }],
    [chip('', '', ''), {}],
    ['|||\n| 0 | 0000:81:00.0 |\n'.replace('|||', '| | |'), {}],
  ])('of Ascend says %j', async (text, is) =>
    expect(await told(npuSmi('s'), { info: text })).toEqual({ [ADDRESS]: is }),
  )
  test('of Ascend tells of each chip whose two lines have the same columns', async () => {
    const text = `${chip('OK', '1 2', '3')}+---+\n${chip('Alarm', '4 5', '6', '0000:82:00.0')}| 0 | 0000:83:00.0 | 1 | 2 |\n`
    expect(await told(npuSmi('s'), { info: text })).toEqual({
      [ADDRESS]: { vendor_alarm: 0, power_watts: 1, temperature_celsius: 2, utilisation_percent: 3 },
      '0000:82:00.0': { vendor_alarm: 2, power_watts: 4, temperature_celsius: 5, utilisation_percent: 6 },
    })
    expect(await told(npuSmi('s'), { info: '| 0 | 0000:81:00.0 | 7 |' })).toEqual({})
  })
})

describe('a reading', () => {
  const PATH = pciJson(at(ADDRESS))
  const AER: Tree = { aer_dev_fatal: 'TOTAL_ERR_FATAL 7\n', hwmon: { hwmon0: { temp1_input: '40000' } } }
  test('has what the kernel tells, and over that what the tool tells', async () => {
    const tool = async () => ({
      numbers: new Map<string, Numbers>([
        [ADDRESS, { temperature_celsius: 41 }],
        ['0000:82:00.0', { power_watts: 1 }],
      ]),
      complaint: 'half of it',
    })
    const measure = measuresPci('/sys', tool)
    expect(await measure(host(AER), [PATH, '{}', pciJson(at('0000:82:00.0'))], never)).toStrictEqual({
      devices: [{ controlPath: PATH, numbers: { pci_fatal_errors: 7, temperature_celsius: 41 } }],
      complaint: 'half of it',
    })
    expect(await measuresPci('/sys')(host(AER), [PATH], never)).toStrictEqual({
      devices: [{ controlPath: PATH, numbers: { pci_fatal_errors: 7, temperature_celsius: 40 } }],
    })
  })
  test('of no devices does not ask the tool, and ends when its time is over', async () => {
    let asked = 0
    const measure = measuresPci('/sys', async () => (asked++, { numbers: new Map() }))
    expect([await measure(host(AER), [], never), asked]).toEqual([{ devices: [] }, 0])
    await expect(measure(host(AER), [PATH], AbortSignal.abort(new Error('over')))).rejects.toThrow('over')
    expect(asked).toBe(1)
  })
  test('looks at no file of another name', async () => {
    const io = host(AER)
    const read: string[] = []
    const noting: HostIo = { ...io, read: (path) => (read.push(path), io.read(path)) }
    await measuresPci('/sys')(noting, [PATH], never)
    expect(read).toEqual([`${FOLDER}/aer_dev_fatal`, `${FOLDER}/hwmon/hwmon0/temp1_input`])
  })
})
