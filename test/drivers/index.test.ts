import { describe, expect, test } from 'vitest'
import { DRIVER_NAMES, type DriverOptions, HARDWARE_DRIVERS, driverByName } from '../../src/drivers/index.ts'

test('the names are those that configurations of other systems have, and a few more', () => {
  expect(DRIVER_NAMES.toSorted()).toEqual(
    [
      // drivers.md 1.2
      'intel_fpga_driver',
      'inspur_fpga_driver',
      'xilinx_fpga_driver',
      'nvmf_spdk_driver',
      'nvidia_gpu_driver',
      'fake_driver',
      'huawei_ascend_driver',
      'intel_qat_driver',
      'intel_nic_driver',
      'inspur_nvme_ssd_driver',
      'pci_driver',
      // of this project
      'nvme_ssd_driver',
      'id_table_driver',
      'simulated_driver',
    ].toSorted(),
  )
})

describe('a driver by its entry-point name', () => {
  test.each(DRIVER_NAMES)('%s is made', (name) => {
    const reading = driverByName(name, { simulated: { seed: 1, devices: [] } })
    expect(reading).toMatchObject({ ok: true, driver: { name } })
  })

  test.each(['', 'nvidia', 'toString', '__proto__'])("'%s' is unknown", (name) =>
    expect(driverByName(name)).toEqual({
      ok: false,
      problems: [
        {
          field: 'enabled_drivers',
          rule: `unknown driver '${name}'; this release has ${DRIVER_NAMES.join(', ')}`,
        },
      ],
    }),
  )

  test('with options out of range has the rule as its problem; any other error is a fault of the program', () => {
    const problem = (name: string, options: DriverOptions) => {
      const reading = driverByName(name, options)
      return reading.ok ? [] : reading.problems
    }
    expect(problem('fake_driver', { fake: { handles: 256 } })).toEqual([
      { field: 'fake', rule: 'fake.handles: must be a whole number from 1 to 255' },
    ])
    expect(problem('fake_driver', { fake: { devices: 244, handles: 255 } })).toEqual([])
    expect(problem('simulated_driver', { simulated: { seed: 1, devices: [{ kind: 'gpu', handles: 0 }] } })).toEqual([
      { field: 'simulated', rule: 'devices[0].handles: must be a whole number from 1 to 4096' },
    ])
    expect(problem('simulated_driver', {})).toEqual([
      { field: 'simulated', rule: 'simulated_driver needs a plan of devices' },
    ])
    const broken = { simulated: { seed: 1, devices: 7 } } as unknown as DriverOptions
    expect(() => driverByName('simulated_driver', broken)).toThrow(TypeError)
  })
  test('looks at hardware, but for the fake and the simulated one', () =>
    expect(DRIVER_NAMES.filter((name) => !HARDWARE_DRIVERS.includes(name))).toEqual([
      'fake_driver',
      'simulated_driver',
    ]))
})
