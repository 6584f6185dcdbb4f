/**
 * Takes the measurements that hosts send of their devices: stores the last readings beside the time the host was last
 * heard from, and records when a device becomes bad or recovers.
 *
 * MEASURED-1 measured values are not written to the journal: only a change between bad and not bad is, for the device
 *    and for its deployables;
 * MEASURED-2 each reading is compared with the recorded state. A reading that was lost, repeated or not stored is
 *    therefore made good by the next one. An agreement is remembered for `AGREED_FOR_MS` only, because another process
 *    may take readings too;
 * MEASURED-3 a device that a complete reading does not list cannot be measured and counts as not bad; a reading with an
 *    error says nothing of it.
 */
import type { Heartbeat } from '../../wire/reports.ts'
import type { MeasuredDevice, Measurements } from '../../wire/measurements.ts'
import type { DeviceUuid, HostName } from '../../vocabulary/identifiers.ts'
import { canonicalInfo } from '../../vocabulary/pci.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import { storable } from '../../vocabulary/text.ts'
import type { HostReading } from '../../actors/runtime/sharing.ts'
import { type Host, host, hostKey } from '../../actors/host/decider.ts'
import { createTellAll } from './devices.ts'
import type { Kernel } from '../kernel/kernel.ts'

export type MeasurementsKeeper = {
  /**
   * Takes the readings of an accepted heartbeat. Never fails: a change that could not be recorded is tried again with
   * the next reading.
   */
  readonly take: (beat: Heartbeat) => Promise<void>
  /** Stores the last readings for all processes; called by the sweeper. */
  readonly note: () => Promise<void>
}

const AGREED_FOR_MS = 300_000
const READINGS_MAX = 20_000
/** How many readings one statement stores. */
const PORTION_MAX = 1000
const REASON_MAX = 1000

/** Pure. Turns the texts of a host into texts that a database column can hold. */
const inStorableWords = ({ complaint, devices, ...reading }: Measurements): Measurements => ({
  ...reading,
  ...(complaint === undefined ? {} : { complaint: storable(complaint) }),
  devices: devices.map((one) => ({ ...one, reasons: one.reasons.map(storable) })),
})

/** Pure. Why the device is bad, as text; null: it is not bad. */
const failingBy = ({ health, reasons }: MeasuredDevice): string | null =>
  health === 'bad' ? storable(reasons.join('; ').slice(0, REASON_MAX)) || 'its host says so' : null

/** Pure. The changes to record for the devices of the driver that measured; a `null` reason means not bad. */
export const verdicts = (
  { devices }: Pick<Host, 'devices'>,
  { driver, devices: measured, complaint }: Measurements,
): ReadonlyMap<DeviceUuid, string | null> => {
  const reasons = new Map(measured.map((one) => [canonicalInfo(one.controlPath), failingBy(one)]))
  return new Map(
    Object.entries(devices).flatMap(([canonical, held]) => {
      if (held.driver !== driver) return []
      const reason = reasons.get(canonical)
      if (reason === undefined && complaint !== undefined) return []
      return [[held.uuid, reason ?? null]]
    }),
  )
}

const placeOf = (host: HostName, { driver }: Measurements): string => JSON.stringify([host, driver])
const isBad = (reason: string | null): boolean => reason !== null

/** Records which devices have become bad and which have recovered. */
const createRecord = (kernel: Kernel) => {
  const { readers, log } = kernel
  const tellAll = createTellAll(kernel)
  /** Returns whether the recorded states now agree with the whole reading. */
  return async (name: HostName, wanted: ReturnType<typeof verdicts>): Promise<boolean> => {
    const listed = await readers.list('devices', { hostname: name }, {})
    if (!listed.ok) return false
    const changes = listed.value.items.filter(
      ({ uuid, failing }) => wanted.has(uuid) && isBad(wanted.get(uuid)!) !== isBad(failing),
    )
    let whole = true
    for (const { uuid } of changes) {
      const failing = wanted.get(uuid)!
      const recorded = await tellAll({ by: `host ${name}` }, uuid, { type: 'SetHealth', failing })
      if (recorded.ok) log.info({ host: name, device: uuid, failing }, 'device.health')
      else log.warn({ host: name, device: uuid, fault: recorded.fault }, 'device.healthNotRecorded')
      whole &&= recorded.ok
    }
    return whole
  }
}

/** Keeps the last reading of each driver until it is stored. */
const createStock = ({ sharing, log }: Pick<Kernel, 'sharing' | 'log'>) => {
  const waiting = new Map<string, HostReading>()
  return {
    keep: (host: HostName, reading: Measurements): void => {
      const place = placeOf(host, reading)
      if (waiting.size < READINGS_MAX || waiting.has(place))
        waiting.set(place, { host, reading: inStorableWords(reading) })
    },
    note: async (): Promise<void> => {
      const portion = [...waiting].slice(0, PORTION_MAX)
      if (portion.length === 0) return
      for (const [place] of portion) waiting.delete(place)
      // a reading that could not be stored is replaced by the next one
      await sharing
        .noteMeasured(portion.map(([, reading]) => reading))
        .catch((error: unknown) => log.warn({ readings: portion.length, error: textOf(error) }, 'measured.notStored'))
    },
  }
}

export const createMeasurements = (kernel: Kernel): MeasurementsKeeper => {
  const { region, clock, log } = kernel
  const record = createRecord(kernel)
  const { keep, note } = createStock(kernel)
  const agreed = new Map<string, { readonly bad: string; readonly at: number }>()

  const compare = async (name: HostName, reading: Measurements): Promise<void> => {
    const known = await region.readCached(host, hostKey(name))
    if (!known.ok || !known.value.state.exists) return
    const place = placeOf(name, reading)
    const wanted = verdicts(known.value.state, reading)
    const bad = [...wanted]
      .map(([uuid, reason]) => `${uuid} ${isBad(reason)}`)
      .toSorted()
      .join()
    const last = agreed.get(place)
    if (last?.bad === bad && clock.monotonic() - last.at < AGREED_FOR_MS) return
    agreed.delete(place)
    if ((await record(name, wanted)) && agreed.size < READINGS_MAX) agreed.set(place, { bad, at: clock.monotonic() })
  }
  return {
    note,
    take: async ({ host: name, measured = [] }) => {
      for (const reading of measured) {
        keep(name, reading)
        try {
          await compare(name, reading)
        } catch (error) {
          log.warn({ host: name, driver: reading.driver, error: textOf(error) }, 'measured.notCompared')
        }
      }
    },
  }
}
