/** Finds what was measured of a device among the last readings of its host. */
import type { DeviceHealth } from '../../actors/device/health.ts'
import { canonicalInfo } from '../../vocabulary/pci.ts'
import type { Measurements } from '../../wire/measurements.ts'
import { type Outcome, done } from '../../vocabulary/fault.ts'
import type { HostName } from '../../vocabulary/identifiers.ts'
import type { Kernel } from '../kernel/kernel.ts'

type Find = (driver: string, canonical: string) => DeviceHealth['measured']

/** Each device is found by its driver and its canonical control path; null: nothing was measured of it. */
const measuredIn = (readings: readonly Measurements[]): Find => {
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

/** Faults: those of a failed read (`Guard`). */
export const readMeasured = ({ sharing, guard }: Kernel, host: HostName): Promise<Outcome<Find>> => {
  const find = async () => done(measuredIn(await sharing.measuredOn(host)))
  return guard(find(), 'measurements', { host })
}
