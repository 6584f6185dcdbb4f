/**
 * Which devices of a driver were bad, and what has to be read of them before they count as good again (MEASURE-3 to
 * MEASURE-5). Kept in a file, because the tool that has said so need not answer after the next start.
 */
import * as v from 'valibot'
import { Card, likeness, remembered } from '../vocabulary/card.ts'
import type { HostIo } from '../drivers/driver.ts'
import { readIfThere } from '../drivers/files.ts'
import { textOf } from '../vocabulary/errorText.ts'
import type { ReportedDevice } from '../vocabulary/hardware.ts'
import { type Judged, type Numbers, QUANTITIES, badBy, isPassing, judgedBy } from '../vocabulary/health.ts'
import type { Log } from '../vocabulary/log.ts'
import { type CardsShown, cardsShown } from './whereabouts.ts'

const GOOD_READINGS = 3
/** The most that are remembered; a report has at most 1,000 devices of a driver. */
const DEVICES_MAX = 2000

/** By the place of the device. Hosts before release 0.4.0 keep no `card`. */
const Kept = v.record(
  v.string(),
  v.object({
    because: v.record(v.string(), v.string()),
    kind: v.optional(v.string()),
    card: v.optional(Card),
  }),
)
/**
 * `because`: the reason by the quantity that made it bad. `kind`, `card`: what the device was, to tell when another one
 * is in its place, and `card` also where the device is by then.
 */
type Bad = {
  readonly because: Readonly<Record<string, string>>
  readonly kind: string | undefined
  readonly card: Card | undefined
  /** How many good readings in a row it has had since. */
  readonly good: number
}
export type Found = Pick<ReportedDevice, 'type' | 'vendor' | 'stdBoardInfo' | 'controlPath' | 'card'>

/** The model is a name for people, which the names on a host may change. */
const kindOf = ({ type, vendor, stdBoardInfo }: Found): string => JSON.stringify([type, vendor, stdBoardInfo])
const uniqueReasons = (...all: readonly (readonly string[])[]): readonly string[] => [...new Set(all.flat())]

export type BadDevicesOf = { readonly driver: string; readonly io: HostIo; readonly log: Log }

export class BadDevices {
  readonly #of: BadDevicesOf
  readonly #path: string
  #bad = new Map<string, Bad>()
  #cards: CardsShown = cardsShown([])
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
    for (const [path, { because, kind, card }] of Object.entries(kept.success ? kept.output : {})) {
      // a later release may know other quantities
      const known = Object.entries(because).filter(([quantity]) => Object.hasOwn(QUANTITIES, quantity))
      if (known.length > 0) this.#bad.set(path, { because: Object.fromEntries(known), kind, card, good: 0 })
    }
    this.#kept = this.#text()
    this.#followCards()
  }
  /** The devices as they were found. One that is not found is remembered: it may be shown again. */
  found(devices: readonly Found[]): void {
    this.#kinds = new Map(devices.map((one) => [one.controlPath.info, kindOf(one)]))
    this.#cards = cardsShown(devices.map(({ controlPath, card }) => [controlPath.info, card ?? null]))
    this.#followCards()
  }
  /** All at once, because cards may have changed places. */
  #followCards(): void {
    const places = [...this.#bad].map(([path, bad]) => {
      const there = bad.card && this.#cards.at(path)
      const isHere = there && likeness(bad.card, there) === 'same'
      return { path, bad, place: bad.card && !isHere ? this.#cards.placeOf(bad.card) : null }
    })
    if (places.every(({ place }) => place === null)) return
    const [moved, others] = [places.filter(({ place }) => place !== null), places.filter(({ place }) => place === null)]
    this.#bad = new Map([...others, ...moved].map(({ path, bad, place }) => [place ?? path, bad]))
  }
  /** MEASURE-3, MEASURE-4 */
  judged(path: string, numbers: Numbers): Judged {
    const judged = judgedBy(numbers)
    const now = badBy(numbers)
    const kind = this.#kinds.get(path)
    const was = this.#known(path, kind)
    const there = this.#cards.at(path)
    const card = there === null ? was?.card : remembered(was?.card, there)
    const read: Readonly<Record<string, number | undefined>> = numbers
    const notMeasured = Object.entries(was?.because ?? {}).filter(
      ([quantity]) => read[quantity] === undefined && !isPassing(quantity),
    )
    if (now.size > 0) {
      const because = { ...Object.fromEntries(notMeasured), ...Object.fromEntries(now) }
      this.#bad.set(path, { because, kind: kind ?? was?.kind, card, good: 0 })
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
    this.#bad.set(path, { ...was, card, good })
    return { health: 'bad', reasons: uniqueReasons(Object.values(was.because)) }
  }
  /** MEASURE-5: nothing is known of another device in its place. */
  #known(path: string, kind: string | undefined): Bad | undefined {
    const was = this.#bad.get(path)
    const there = this.#cards.at(path)
    const alike = was?.card && there ? likeness(was.card, there) : 'alike'
    if (was === undefined || alike === 'same') return was
    const isOfKind = was.kind === kind || was.kind === undefined || kind === undefined
    if (alike === 'alike' && isOfKind) return was
    this.#bad.delete(path)
    return undefined
  }
  #text(): string {
    return JSON.stringify(
      Object.fromEntries(
        [...this.#bad].slice(-DEVICES_MAX).map(([path, { because, kind, card }]) => [path, { because, kind, card }]),
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
