/** Finds what was measured of a device among the last readings of its host. Pure. */
import type { DeviceHealth } from '../../actors/device/health.ts'
import { canonicalInfo } from '../../pci.ts'
import type { Measurements } from '../../wire/measurements.ts'

type Measured = DeviceHealth['measured']

/** Each device is found by its driver and its canonical control path; null: nothing was measured of it. */
export const measuredIn = (readings: readonly Measurements[]): ((driver: string, canonical: string) => Measured) => {
  const found = new Map(
    readings.map(({ driver, at, devices }) => [
      driver,
      new Map(
        devices.map(({ controlPath, health, reasons, numbers }) => [
          canonicalInfo(controlPath),
          { at, health, reasons, numbers },
        ]),
      ),
    ]),
  )
  return (driver, canonical) => found.get(driver)?.get(canonical) ?? null
}
