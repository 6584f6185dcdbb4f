/** Finds what was measured of a device among the last readings of its host. */
import type { DeviceHealth } from '../../actors/device/health.ts'
import { canonicalInfo } from '../../pci.ts'
import type { Measurements } from '../../wire/measurements.ts'
import { textOf } from '../../errorText.ts'
import { type Outcome, done, refuse } from '../../fault.ts'
import type { HostName } from '../../identifiers.ts'
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

/** Fault `unavailable`: the store does not tell the readings at present. */
export const readMeasured = async ({ sharing, log }: Kernel, host: HostName): Promise<Outcome<Find>> => {
  try {
    return done(measuredIn(await sharing.measuredOn(host)))
  } catch (error) {
    log.warn({ host, reason: textOf(error) }, 'measurements.unreadable')
    return refuse({ kind: 'unavailable', reason: 'the measurements cannot be read', retryAfterSeconds: 1 })
  }
}
