/**
 * What hosts measure of their devices: the last readings are kept beside the sightings of hosts, and a device that becomes bad, or is no longer
 * bad, is recorded.
 *
 * MEASURED-1 values are no rows of the journal: of all that is measured, only a change between bad and not bad is a fact, of the device and of its deployables;
 * MEASURED-2 a reading is compared with what is recorded, again and again: one that was lost, came twice, or met a store that did not answer, is made good
 *   by the next one. What agrees is remembered for `AGREED_FOR_MS`, because another process may have taken readings in between;
 * MEASURED-3 a device that a whole reading does not list cannot be measured any more, and counts as not bad; of a reading with a complaint nothing follows for it.
 */
import type { Heartbeat } from '../../wire/reports.ts'
import type { MeasuredDevice, Measurements } from '../../wire/measurements.ts'
import type { DeviceUuid, HostName } from '../../identifiers.ts'
import { canonicalInfo } from '../../pci.ts'
import { textOf } from '../../errorText.ts'
import { storable } from '../../text.ts'
import type { HostReading } from '../../actors/runtime/sharing.ts'
import { type Host, host, hostKey } from '../../actors/host/decider.ts'
import { createTellAll } from './devices.ts'
import type { Kernel } from '../kernel/kernel.ts'

export type MeasurementsKeeper = {
  /** Takes the readings of a heartbeat that counts. Never fails: what could not be recorded is tried again with the next reading. */
  readonly take: (beat: Heartbeat) => Promise<void>
  /** Stores what was read, for all processes; called by the sweeper. */
  readonly note: () => Promise<void>
}

const AGREED_FOR_MS = 300_000
const READINGS_MAX = 20_000
/** Stored with one statement. */
const PORTION_MAX = 1000
const REASON_MAX = 1000

/** Pure. What hosts say in words is text that a column can hold. */
const inStorableWords = ({ complaint, devices, ...reading }: Measurements): Measurements => ({
  ...reading,
  ...(complaint === undefined ? {} : { complaint: storable(complaint) }),
  devices: devices.map((one) => ({ ...one, reasons: one.reasons.map(storable) })),
})

/** Pure. Why the device is bad, in words; null: it is not. */
const failingBy = ({ health, reasons }: MeasuredDevice): string | null =>
  health === 'bad' ? storable(reasons.join('; ')).slice(0, REASON_MAX) || 'its host says so' : null

/** Pure. What is to be recorded of the devices of the driver that measured; `null` as reason: not bad. */
export const verdicts = (
  { devices }: Pick<Host, 'devices'>,
  { driver, devices: measured, complaint }: Measurements,
): ReadonlyMap<DeviceUuid, string | null> => {
  const told = new Map(measured.map((one) => [canonicalInfo(one.controlPath), failingBy(one)]))
  return new Map(
    Object.entries(devices).flatMap(([canonical, held]) => {
      if (held.driver !== driver) return []
      const reason = told.get(canonical)
      if (reason === undefined && complaint !== undefined) return []
      return [[held.uuid, reason ?? null]]
    }),
  )
}

const placeOf = (host: HostName, { driver }: Measurements): string => JSON.stringify([host, driver])
const isBad = (reason: string | null): boolean => reason !== null

/** Records which devices are bad now, and which are not any more. */
const createRecord = (kernel: Kernel) => {
  const { readers, log } = kernel
  const tellAll = createTellAll(kernel)
  /** Whether everything that the reading says is recorded now. */
  return async (name: HostName, wanted: ReturnType<typeof verdicts>): Promise<boolean> => {
    const listed = await readers.list('devices', { hostname: name }, {})
    if (!listed.ok) return false
    const changes = listed.value.items.filter(
      ({ uuid, failing }) => wanted.has(uuid) && isBad(wanted.get(uuid)!) !== isBad(failing),
    )
    let whole = true
    for (const { uuid } of changes) {
      const failing = wanted.get(uuid)!
      const told = await tellAll({ by: `host ${name}` }, uuid, { type: 'SetHealth', failing })
      if (told.ok) log.info({ host: name, device: uuid, failing }, 'device.health')
      else log.warn({ host: name, device: uuid, fault: told.fault }, 'device.healthNotRecorded')
      whole &&= told.ok
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
