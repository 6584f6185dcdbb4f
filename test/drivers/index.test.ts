import { describe, expect, test } from 'vitest'
import { DRIVER_NAMES, driverByName, LATER_DRIVER_NAMES } from '../../src/drivers/index.ts'

describe('a driver by its entry-point name', () => {
  test.each(DRIVER_NAMES)('%s is made', (name) => {
    const reading = driverByName(name, { simulated: { seed: 1, devices: [] } })
    expect(reading).toMatchObject({ ok: true, driver: { name } })
  })

  test.each(LATER_DRIVER_NAMES)('%s is known and not yet there', (name) =>
    expect(driverByName(name)).toEqual({
      ok: false,
      problems: [
        {
          field: 'enabled_drivers',
          rule: `${name} comes in a later release; this release has pci_driver, fake_driver, simulated_driver`,
        },
      ],
    }),
  )

  test.each(['', 'nvidia', 'toString', '__proto__'])("'%s' is unknown", (name) =>
    expect(driverByName(name)).toEqual({
      ok: false,
      problems: [
        {
          field: 'enabled_drivers',
          rule: `unknown driver '${name}'; this release has pci_driver, fake_driver, simulated_driver`,
        },
      ],
    }),
  )

  test.each([
    ['pci_driver', { pci: { whitelist: '[{"vendor_id": "x"}]' } }, 'pci.passthrough_whitelist[0].vendor_id'],
    ['fake_driver', { fake: { handles: 0 } }, 'fake'],
    ['simulated_driver', { simulated: { seed: 1, devices: [{ kind: 'gpu', handles: 0 }] } }, 'simulated'],
    ['simulated_driver', {}, 'simulated'],
  ] as const)('%s with options %j has a problem', (name, options, field) =>
    expect(driverByName(name, options)).toMatchObject({ ok: false, problems: [{ field }] }),
  )
})
