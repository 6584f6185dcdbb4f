/**
 * Measures the devices of each driver at intervals, and gives the new readings to heartbeats.
 *
 * MEASURE-1 no heartbeat, report or order waits for a reading: drivers are read in the background, one reading at a
 *    time, with a time limit;
 * MEASURE-2 each reading is sent once. A heartbeat carries the readings of as many drivers as fit; the others go with
 *    the next heartbeats;
 * MEASURE-3 a device that was bad counts as bad until `GOOD_READINGS` readings in a row are good, so that a device
 *    whose values go up and down is not offered and withdrawn again and again;
 * MEASURE-4 a reading is good only if it tells each quantity that made the device bad, but for passing ones (HEALTH-3).
 *    The tool of a vendor may fail, be missing, or not see a device that a guest has, while the kernel still tells its
 *    part: that says nothing of what only the tool tells (HEALTH-2);
 * MEASURE-5 which devices were bad, and why, survives a restart of the program and of the machine, until another kind
 *    of device is found in the same place, or another card. It follows its card to another place.
 */
import * as v from 'valibot'
import type { Cancel, Clock } from '../vocabulary/clock.ts'
import { orLate } from '../vocabulary/waiting.ts'
import type { Driver, HostIo, Measured } from '../drivers/driver.ts'
import { textOf } from '../vocabulary/errorText.ts'
import type { HostName } from '../vocabulary/identifiers.ts'
import type { Log } from '../vocabulary/log.ts'
import { Measurements } from '../wire/measurements.ts'
import { BadDevices } from './badDevices.ts'
import type { Section } from './sections.ts'

/** The most bytes of all readings in one heartbeat. */
const SENT_MAX_BYTES = 256 * 1024
/** The most bytes of one reading. Both limits together leave room for the rest of a heartbeat. */
const READING_MAX_BYTES = 512 * 1024
const COMPLAINT_MAX = 500

export type MeasuringOptions = {
  readonly host: HostName
  readonly io: HostIo
  readonly clock: Clock
  readonly log: Log
  /** 0: nothing is measured, and the readings say so. */
  readonly everyMs: number
  readonly limitMs: number
}

/** The readings of one driver. */
class Gauge {
  readonly driver: Driver
  readonly #options: MeasuringOptions
  readonly #bad: BadDevices
  #paths: readonly string[] | null = null
  #busy = false
  #complaint: string | null = null

  constructor(driver: Driver, options: MeasuringOptions) {
    this.driver = driver
    this.#options = options
    this.#bad = new BadDevices({ driver: driver.name, io: options.io, log: options.log })
  }
  /** A failed discovery does not change the known devices. */
  note(section: Section): void {
    if (section.status !== 'ok') return
    this.#paths = section.devices.map(({ controlPath }) => controlPath.info)
    this.#bad.found(section.devices)
  }
  /** Null: there is no reading, for example because no device is known yet or an earlier reading has not ended. */
  async read(): Promise<Measurements | null> {
    if (this.#paths === null || this.#busy) return null
    const { everyMs } = this.#options
    const { measure } = this.driver
    if (measure === undefined) return null
    const { devices, complaint } = everyMs === 0 ? { devices: [] } : await this.#measured(measure, this.#paths)
    this.#noteComplaint(complaint ?? null)
    const measurements = this.#reportable(devices, complaint)
    await this.#bad.keep()
    return measurements
  }
  /**
   * Null: not even the reason for the lack of a reading can be reported, for example because reports do not allow the
   * time of this clock.
   */
  #reportable(devices: Measured['devices'], complaint: string | undefined): Measurements | null {
    const reading = this.#reading(devices, complaint)
    if (typeof reading !== 'string') return reading
    const why = this.#reading([], reading)
    if (typeof why !== 'string') return why
    this.#noteComplaint(why)
    return null
  }
  /** Returns the reading; a text: why a report must not contain it. */
  #reading(devices: Measured['devices'], complaint: string | undefined): Measurements | string {
    const reading = {
      driver: this.driver.name,
      at: this.#options.clock.now(),
      ...(complaint === undefined ? {} : { complaint: complaint.slice(0, COMPLAINT_MAX).toWellFormed() }),
      devices: devices.map(({ controlPath, numbers }) => ({
        controlPath,
        numbers,
        ...this.#bad.judged(controlPath, numbers),
      })),
    }
    const checked = v.safeParse(Measurements, reading, { abortEarly: true })
    if (!checked.success) {
      const [issue] = checked.issues
      return `measured what no report may hold: ${v.getDotPath(issue) ?? 'devices'}: ${issue.message}`
    }
    return Buffer.byteLength(JSON.stringify(reading)) > READING_MAX_BYTES
      ? `a reading must not be longer than ${READING_MAX_BYTES} bytes`
      : checked.output
  }
  async #measured(measure: NonNullable<Driver['measure']>, paths: readonly string[]): Promise<Measured> {
    const { io, clock, limitMs } = this.#options
    const giveUp = new AbortController()
    this.#busy = true
    const reading = Promise.resolve()
      .then(() => this.#bad.read())
      .then(() => measure(io, paths, giveUp.signal))
      .catch((error: unknown): Measured => ({ devices: [], complaint: textOf(error) || 'failed without a reason' }))
      .finally(() => (this.#busy = false))
    return orLate(clock, reading, limitMs, (): Measured => {
      giveUp.abort(new Error(`no end within ${limitMs} ms`))
      return { devices: [], complaint: `did not answer within ${limitMs} ms` }
    })
  }
  #noteComplaint(complaint: string | null): void {
    if (complaint === this.#complaint) return
    this.#complaint = complaint
    const { host, log } = this.#options
    if (complaint !== null) log.warn({ host, driver: this.driver.name, complaint }, 'measuring.failed')
    else log.info({ host, driver: this.driver.name }, 'measuring.well')
  }
}

/**
 * How often empty readings are made while measuring is off, so that a control which starts later learns that it is off.
 */
const OFF_EVERY_MS = 60_000

export class Measuring {
  readonly #options: MeasuringOptions
  readonly #gauges: readonly Gauge[]
  readonly #latest = new Map<string, Measurements>()
  readonly #unsent = new Set<string>()
  #timer: Cancel | null = null
  #closed = false

  constructor(drivers: readonly Driver[], options: MeasuringOptions) {
    this.#options = options
    this.#gauges = drivers.filter(({ measure }) => measure !== undefined).map((driver) => new Gauge(driver, options))
  }
  /** The first reading follows the first discovery of each driver. */
  start(): void {
    if (this.#gauges.length > 0) this.#again()
  }
  close(): void {
    this.#closed = true
    this.#timer?.()
  }
  note(section: Section): void {
    const gauge = this.#gauges.find(({ driver }) => driver.name === section.driver)
    const isFirst = gauge !== undefined && !this.#latest.has(section.driver)
    gauge?.note(section)
    if (isFirst) void this.#read(gauge)
  }
  /** The last reading of each driver, for metrics. */
  latest(): readonly Measurements[] {
    return [...this.#latest.values()]
  }
  /** Takes readings for a heartbeat. If that heartbeat cannot be sent, its readings are given back with `giveBack`. */
  take(): readonly Measurements[] {
    const taken: Measurements[] = []
    let bytes = 0
    for (const driver of this.#unsent) {
      const reading = this.#latest.get(driver)!
      bytes += Buffer.byteLength(JSON.stringify(reading))
      // a single reading is always taken, since its own limit leaves room for it
      if (taken.length > 0 && bytes > SENT_MAX_BYTES) break
      taken.push(reading)
    }
    for (const { driver } of taken) this.#unsent.delete(driver)
    return taken
  }
  giveBack(readings: readonly Measurements[]): void {
    for (const { driver } of readings) this.#unsent.add(driver)
  }
  readonly #again = (): void => {
    const { clock, everyMs } = this.#options
    if (this.#closed) return
    this.#timer = clock.after(everyMs || OFF_EVERY_MS, () => {
      for (const gauge of this.#gauges) void this.#read(gauge)
      this.#again()
    })
  }
  async #read(gauge: Gauge): Promise<void> {
    const reading = await gauge.read()
    if (reading === null || this.#closed) return
    this.#latest.set(reading.driver, reading)
    this.#unsent.add(reading.driver)
  }
}
