/**
 * The devices that drivers discover, as sections of a report. An error makes a failed section, never a shorter list.
 */
import type { DeployableName, DriverName } from '../vocabulary/identifiers.ts'
import * as v from 'valibot'
import { type Card, cardOf } from '../vocabulary/card.ts'
import { textOf } from '../vocabulary/errorText.ts'
import type { Clock } from '../vocabulary/clock.ts'
import { orLate } from '../vocabulary/waiting.ts'
import type { Driver, HostIo, InUse } from '../drivers/driver.ts'
import { ReportedDevice } from '../vocabulary/hardware.ts'
import type { Order } from '../wire/orders.ts'
import type { InventoryReport as Report } from '../wire/reports.ts'
import { canonicalAddress, dividedBy, functionOf } from '../vocabulary/attachedFunctions.ts'
import { handleKey } from './entry.ts'
import type { Playbooks } from './playbooks.ts'
import { type CardsShown, cardsShown, misplaced } from './whereabouts.ts'

export type Section = Report['drivers'][number]

/** The devices as the wire schema accepts them, or the first rule that they break. */
const checked = (driver: string, devices: unknown): Section => {
  const result = v.safeParse(v.pipe(v.array(ReportedDevice), v.maxLength(1000)), devices, { abortEarly: true })
  if (result.success) return { driver, status: 'ok', devices: result.output }
  const [issue] = result.issues
  return failure(driver, `reported what no report may hold: ${v.getDotPath(issue) ?? 'devices'}: ${issue.message}`)
}
export const failure = (driver: string, error: string): Section => ({
  driver,
  status: 'failed',
  error: error.slice(0, 2000),
})

export type WatchOptions = {
  readonly io: HostIo
  readonly clock: Clock
  /** The time limit of one discovery, in ms. */
  readonly limitMs: number
  readonly heldBack: Playbooks['heldBack']
}
/** Runs one discovery of a driver at a time, each with a time limit. While one is overdue, later ones fail at once. */
export class Watch {
  readonly #driver: Driver
  readonly #io: HostIo
  readonly #clock: Clock
  readonly #limitMs: number
  readonly #heldBack: Playbooks['heldBack']
  readonly #seen = Promise.withResolvers<void>()
  #last: Promise<unknown> = Promise.resolve()
  #overdue = false
  #restored = false

  constructor(driver: Driver, { io, clock, limitMs, heldBack }: WatchOptions) {
    this.#driver = driver
    this.#io = io
    this.#clock = clock
    this.#limitMs = limitMs
    this.#heldBack = heldBack
  }

  get name(): string {
    return this.#driver.name
  }
  /** Null: the driver cannot tell, or must not be asked now. Rejects when it fails, or does not answer in time. */
  async inUse(): Promise<readonly InUse[] | null> {
    const { inUse } = this.#driver
    if (inUse === undefined || this.#overdue || this.#heldBack(this.name) !== null) return null
    return orLate(this.#clock, inUse(this.#io), this.#limitMs, () => {
      throw new Error(`no answer within ${this.#limitMs} ms`)
    })
  }
  /** Resolves after the first discovery, whether it succeeded or failed. */
  get seen(): Promise<void> {
    return this.#seen.promise
  }
  /** Begins after earlier discoveries, so it sees the devices as they are at the call or later. */
  look(): Promise<Section> {
    const held = this.#heldBack(this.name)
    if (held?.isOver) this.#seen.resolve()
    if (held !== null) return Promise.resolve(failure(this.name, held.reason))
    if (this.#overdue) return Promise.resolve(failure(this.name, 'the discovery before this one has not ended yet'))
    const section = this.#last.then(() => this.#bounded())
    this.#last = section
    return section
  }
  async #bounded(): Promise<Section> {
    if (this.#overdue) return failure(this.name, 'the discovery before this one has not ended yet')
    const giveUp = new AbortController()
    const looked = this.#section(giveUp.signal).finally(() => (this.#overdue = false))
    const section = await orLate(this.#clock, looked, this.#limitMs, () => {
      this.#overdue = true
      giveUp.abort(new Error(`no end within ${this.#limitMs} ms`))
      return failure(this.name, `did not answer within ${this.#limitMs} ms`)
    })
    this.#seen.resolve()
    return section
  }
  /**
   * Before the first discovery, for which orders wait, the driver restores what a restart of the machine has undone,
   * and before each later one what has to be there.
   */
  async #section(signal: AbortSignal): Promise<Section> {
    try {
      if (this.#restored) await this.#driver.ensure?.(this.#io, signal)
      else this.#restored = (await this.#driver.restore?.(this.#io, signal)) ?? true
      return checked(this.name, await this.#driver.discover(this.#io))
    } catch (error) {
      return failure(this.name, textOf(error) || 'failed without a reason')
    }
  }
}

/** Replaces sections by failed ones until the report fits into a message: the biggest first, with the reason. */
export const fitting = (sections: readonly Section[], maxBytes: number): readonly Section[] => {
  const sizes = sections.map((section) => Buffer.byteLength(JSON.stringify(section)))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  if (total <= maxBytes) return sections
  const biggest = sizes.indexOf(Math.max(...sizes))
  const { driver, status } = sections[biggest]!
  if (status === 'failed') return sections
  const reason = `its inventory of ${sizes[biggest]} bytes does not fit into a report of ${maxBytes}`
  return fitting(sections.with(biggest, failure(driver, reason)), maxBytes)
}

/** The handles of each deployable, as of the last successful discovery of each driver. */
export type Places = {
  /**
   * The device on which a deployable was seen last. A card may be off its bus while it is written, and is still the
   * device for which later orders wait (ORDERS-4).
   */
  readonly deviceOf: (driver: DriverName, deployable: DeployableName) => string | null
  readonly holds: (driver: DriverName, deployable: DeployableName, handle: string) => boolean
}
type DeviceSlots = { readonly device: string; readonly card: Card | null; readonly handles: ReadonlySet<string> }
/** Maps a virtual function to its physical function, and a mediated device to its function. */
type Parents = ReadonlyMap<string, string>
const parentsIn = (devices: readonly ReportedDevice[]): Parents =>
  new Map(
    devices.flatMap(({ deployables }) =>
      deployables.flatMap(({ handles }) =>
        handles.flatMap((handle) => {
          const physfn = handle.physfn === undefined ? null : canonicalAddress(handle.physfn)
          const { type, info } = handle
          const [parent] = dividedBy({ type, info }).concat(physfn ?? [])
          return parent === undefined ? [] : [[functionOf({ type, info }), parent] as const]
        }),
      ),
    ),
  )
const childrenIn = (parents: Parents): ReadonlyMap<string, readonly string[]> =>
  new Map(
    [...Map.groupBy(parents, ([, parent]) => parent)].map(([parent, pairs]) => [parent, pairs.map(([own]) => own)]),
  )
type Families = { readonly parents: Parents; readonly children: ReturnType<typeof childrenIn> }
const placesIn = (devices: readonly ReportedDevice[]): ReadonlyMap<string, DeviceSlots> =>
  new Map(
    devices.flatMap((device) => {
      const { controlPath, deployables } = device
      const card = controlPath.type === 'PCI' ? cardOf(device) : null
      return deployables.map(({ name, handles }) => [
        name,
        { device: controlPath.info, card, handles: new Set(['', ...handles.map(handleKey)]) },
      ])
    }),
  )

export class Atlas implements Places {
  readonly #drivers = new Map<DriverName, ReadonlyMap<DeployableName, DeviceSlots>>()
  readonly #seenAt = new Map<DriverName, Map<DeployableName, string>>()
  /** The functions of all drivers: one driver may show a physical function, and another one its virtual functions. */
  readonly #families = new Map<string, Families>()
  #cards = cardsShown([])
  /** A failed discovery does not change the known places. */
  note(section: Section): void {
    if (section.status !== 'ok') return
    const places = placesIn(section.devices)
    this.#drivers.set(section.driver, places)
    const seenAt = this.#seenAt.get(section.driver) ?? new Map<DeployableName, string>()
    for (const [name, { device }] of places) seenAt.set(name, device)
    this.#seenAt.set(section.driver, seenAt)
    const parents = parentsIn(section.devices)
    this.#families.set(section.driver, { parents, children: childrenIn(parents) })
    this.#cards = cardsShown(this.#namedCards())
  }
  *#namedCards(): Iterable<readonly [DeployableName, Card | null]> {
    for (const all of this.#drivers.values()) for (const [name, { card }] of all) yield [name, card]
  }
  /** The cards of all drivers: another driver may show the card that has the place of one. */
  get cards(): CardsShown {
    return this.#cards
  }
  /** The other functions that are the same hardware as this one: its physical function, or its virtual functions. */
  readonly shares = (own: string): readonly string[] =>
    [...this.#families.values()].flatMap(({ parents, children }) => [
      ...(parents.has(own) ? [parents.get(own)!] : []),
      ...(children.get(own) ?? []),
    ])
  deviceOf(driver: DriverName, deployable: DeployableName): string | null {
    return this.#seenAt.get(driver)?.get(deployable) ?? null
  }
  readonly otherCard = (order: Order): string | null => misplaced(order, this.#cards)
  holds(driver: DriverName, deployable: DeployableName, handle: string): boolean {
    return this.#drivers.get(driver)?.get(deployable)?.handles.has(handle) ?? false
  }
}
