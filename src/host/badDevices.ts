/**
 * Which devices of a driver were bad, and what has to be read of them before they count as good again (MEASURE-3 to
 * MEASURE-5). Kept in a file, because the tool that has said so need not answer after the next start.
 */
import * as v from 'valibot'
import type { HostIo } from '../drivers/driver.ts'
import { readIfThere } from '../drivers/files.ts'
import { textOf } from '../errorText.ts'
import type { ReportedDevice } from '../hardware.ts'
import { type Judged, type Numbers, QUANTITIES, badBy, isPassing, judgedBy } from '../health.ts'
import type { Log } from '../log.ts'

export const GOOD_READINGS = 3
/** The most that are remembered; a report has at most 1,000 devices of a driver. */
const DEVICES_MAX = 2000

const Kept = v.record(v.string(), v.object({ because: v.record(v.string(), v.string()), kind: v.optional(v.string()) }))
/**
 * `because`: the reason by the quantity that made it bad. `kind`: what the device was, to tell when another one is in
 * its place.
 */
type Bad = {
  readonly because: Readonly<Record<string, string>>
  readonly kind: string | undefined
  /** How many good readings in a row it has had since. */
  readonly good: number
}
export type Found = Pick<ReportedDevice, 'type' | 'vendor' | 'stdBoardInfo' | 'controlPath'>

/** The model is a name for people, which the names on a host may change. */
const kindOf = ({ type, vendor, stdBoardInfo }: Found): string => JSON.stringify([type, vendor, stdBoardInfo])
const uniqueReasons = (...all: readonly (readonly string[])[]): readonly string[] => [...new Set(all.flat())]

export type BadDevicesOf = { readonly driver: string; readonly io: HostIo; readonly log: Log }

export class BadDevices {
  readonly #of: BadDevicesOf
  readonly #path: string
  readonly #bad = new Map<string, Bad>()
  #kinds: ReadonlyMap<string, string> = new Map()
  #kept = '{}'
  #isRead = false

  constructor(of: BadDevicesOf) {
    this.#of = of
    this.#path = `${of.io.stateDir}/${of.driver}.failing.json`
  }
  /** Reads the file, once. Without it, or if it is damaged, no device was bad. Rejects when it cannot be read. */
  async read(): Promise<void> {
    if (this.#isRead) return
    const text = (await readIfThere(this.#of.io, this.#path)) ?? '{}'
    this.#isRead = true
    const kept = v.safeParse(v.pipe(v.string(), v.parseJson(), Kept), text)
    if (!kept.success) this.#of.log.warn({ driver: this.#of.driver, path: this.#path }, 'measuring.failingUnknown')
    for (const [path, { because, kind }] of Object.entries(kept.success ? kept.output : {})) {
      // a later release may know other quantities
      const known = Object.entries(because).filter(([quantity]) => Object.hasOwn(QUANTITIES, quantity))
      if (known.length > 0) this.#bad.set(path, { because: Object.fromEntries(known), kind, good: 0 })
    }
    this.#kept = this.#text()
  }
  /** The devices as they were found. One that is not found is remembered: it may be shown again. */
  found(devices: readonly Found[]): void {
    this.#kinds = new Map(devices.map((one) => [one.controlPath.info, kindOf(one)]))
  }
  /** MEASURE-3, MEASURE-4 */
  judged(path: string, numbers: Numbers): Judged {
    const judged = judgedBy(numbers)
    const now = badBy(numbers)
    const kind = this.#kinds.get(path)
    const was = this.#known(path, kind)
    const read: Readonly<Record<string, number | undefined>> = numbers
    const notMeasured = Object.entries(was?.because ?? {}).filter(
      ([quantity]) => read[quantity] === undefined && !isPassing(quantity),
    )
    if (now.size > 0) {
      const because = { ...Object.fromEntries(notMeasured), ...Object.fromEntries(now) }
      this.#bad.set(path, { because, kind: kind ?? was?.kind, good: 0 })
      return {
        health: 'bad',
        reasons: uniqueReasons(
          judged.reasons,
          notMeasured.map(([, reason]) => reason),
        ),
      }
    }
    if (was === undefined) return judged
    const good = notMeasured.length > 0 ? 0 : was.good + 1
    if (good === GOOD_READINGS) {
      this.#bad.delete(path)
      return judged
    }
    this.#bad.set(path, { ...was, good })
    return { health: 'bad', reasons: uniqueReasons(Object.values(was.because)) }
  }
  /** MEASURE-5: nothing is known of another kind of device in its place. */
  #known(path: string, kind: string | undefined): Bad | undefined {
    const was = this.#bad.get(path)
    if (was === undefined || was.kind === kind || was.kind === undefined || kind === undefined) return was
    this.#bad.delete(path)
    return undefined
  }
  #text(): string {
    return JSON.stringify(
      Object.fromEntries(
        [...this.#bad].slice(-DEVICES_MAX).map(([path, { because, kind }]) => [path, { because, kind }]),
      ),
    )
  }
  /** Writes what has changed. What could not be written is tried again with the next reading. */
  async keep(): Promise<void> {
    const [before, text] = [this.#kept, this.#text()]
    if (text === before) return
    this.#kept = text
    const { driver, io, log } = this.#of
    try {
      await io.keep(this.#path, text)
    } catch (error) {
      this.#kept = before
      log.warn({ driver, path: this.#path, error: textOf(error) }, 'measuring.failingNotKept')
    }
  }
}
