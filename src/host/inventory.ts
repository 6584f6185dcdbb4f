/**
 * Sends the reports of the host: its full inventory and, separately, heartbeats.
 *
 * REPORT-1 a report is the full inventory: every driver has a section, complete or failed;
 * REPORT-2 the reports of one start are numbered upwards, and one is made at a time; a report that is asked for
 *    meanwhile follows it;
 * REPORT-3 a report that could not be sent is not kept, since a newer one soon replaces it;
 * REPORT-4 a report also says which slots are prepared, as many as fit; a host with more of them continues in its next
 *    report. The answer to a question is looked up after the question came. A report without slots answers none, and
 *    leaves the question to the next one.
 */
import type { HostName } from '../vocabulary/identifiers.ts'
import type { Cancel, Clock, Ids } from '../vocabulary/clock.ts'
import type { Log } from '../vocabulary/log.ts'
import { textOf } from '../vocabulary/errorText.ts'
import type { Bus } from '../bus/port.ts'
import { MESSAGE_MAX_BYTES, reportRecord } from '../wire/message.ts'
import type { SlotsQuestion } from '../wire/orders.ts'
import type { Heartbeat, InventoryReport } from '../wire/reports.ts'
import type { Measurements } from '../wire/measurements.ts'
import type { PlaybookRun } from '../wire/playbooks.ts'
import type { Slots } from '../wire/slots.ts'
import type { Boot } from './boot.ts'
import type { Entry } from './entry.ts'
import { hardwareInUse, roomInUse, unexplained } from './hardwareInUse.ts'
import { pageOf, roomForSlots } from './preparedSlots.ts'
import type { Measuring } from './measuring.ts'
import type { Section, Watch } from './sections.ts'
import { Atlas, fitting } from './sections.ts'
import type { CardsShown } from './whereabouts.ts'

/** 16 KiB of a message are for the fields of a report besides its sections. */
const SECTIONS_MAX_BYTES = MESSAGE_MAX_BYTES - 16 * 1024
const AGAIN_AFTER_MS = 5000

export type InventoryOptions = {
  readonly host: HostName
  readonly boot: Boot
  readonly version: string
  readonly aliases: readonly string[]
  readonly watches: readonly Watch[]
  readonly measuring: Measuring
  readonly bus: Pick<Bus, 'publish'>
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly reportEveryMs: number
  readonly heartbeatEveryMs: number
  readonly load: () => { readonly ordersInHand: number; readonly resultsWaiting: number }
  /** Whether the host began a new ledger and has no answer yet about the slots that are prepared on it. */
  readonly asking: () => boolean
  readonly ledger: () => readonly Entry[]
  /** Called when it is known anew where the cards are. */
  readonly placed: (cards: CardsShown) => void
  /** Called with the sections of each full inventory. */
  readonly looked: (sections: readonly Section[]) => void
  /** Null: this host has no playbooks. */
  readonly playbooks: () => readonly PlaybookRun[] | null
  /** Returns a section as it is reported, with the functions of the images that are loaded. */
  readonly divided: (section: Section) => Section
}

type Looked = {
  readonly sections: readonly Section[]
  readonly question: SlotsQuestion | null
  /** Null: no driver can tell. */
  readonly used: Slots['inUse'] | null
}

const sizeOf = (part: object): number => Buffer.byteLength(JSON.stringify(part))

export class Inventory {
  readonly atlas = new Atlas()
  readonly #options: InventoryOptions
  readonly #status: Record<string, Heartbeat['status']['drivers'][string]>
  #number = 0
  /** The slot with which the next report begins; null: the first slot of all. */
  #page: string | null = null
  #question: SlotsQuestion | null = null
  #current: Promise<boolean> = Promise.resolve(true)
  #next: Promise<boolean> | null = null
  #timers: { report?: Cancel; heartbeat?: Cancel } = {}
  #beating = false
  #closed = false

  constructor(options: InventoryOptions) {
    this.#options = options
    this.#status = Object.fromEntries(options.watches.map(({ name }) => [name, 'starting']))
  }

  start(): void {
    void this.report()
    this.#beat()
    this.#options.measuring.start()
  }
  /** The last reading of each driver. */
  measured(): readonly Measurements[] {
    return this.#options.measuring.latest()
  }
  /** Resolves to whether a report that was begun after the call is on the bus. */
  report(): Promise<boolean> {
    this.#next ??= this.#current
      .catch(() => false)
      .then(() => {
        this.#current = this.#next!
        this.#next = null
        return this.#report()
      })
    return this.#next
  }
  /** Makes a report soon, which answers the question. */
  answer(question: SlotsQuestion): void {
    this.#question = question
    void this.report()
  }
  /** Discovers the devices of one driver, outside of any report. */
  async look(driver: string): Promise<Section | null> {
    const watch = this.#options.watches.find(({ name }) => name === driver)
    return watch === undefined ? null : this.#noted(await watch.look())
  }
  async seen(driver: string): Promise<void> {
    await this.#options.watches.find(({ name }) => name === driver)?.seen
  }
  async idle(): Promise<void> {
    while (this.#next !== null) await this.#next
    await this.#current
  }
  close(): void {
    this.#closed = true
    this.#timers.report?.()
    this.#timers.heartbeat?.()
    this.#options.measuring.close()
  }

  #noted(section: Section): Section {
    this.atlas.note(section)
    this.#options.placed(this.atlas.cards)
    this.#options.measuring.note(section)
    this.#status[section.driver] = section.status
    return section
  }
  async #report(): Promise<boolean> {
    const { watches, clock, reportEveryMs, looked, divided } = this.#options
    if (this.#closed) return false
    this.#timers.report?.()
    const question = this.#question
    this.#question = null
    const sections = await Promise.all(watches.map(async (watch) => this.#noted(await watch.look())))
    const used = await hardwareInUse(watches, this.#options)
    if (this.#closed) return false
    looked(sections)
    const sent = await this.#send({ sections: sections.map(divided), question, used })
    const again = sent ? reportEveryMs : Math.min(AGAIN_AFTER_MS, reportEveryMs)
    if (!this.#closed) this.#timers.report = clock.after(again, () => void this.report())
    return sent
  }
  /** Null: the prepared slots are not known, or the report has no room for them. */
  #slots(bytes: number, { question, used }: Pick<Looked, 'question' | 'used'>): Slots | null {
    const { host, asking, ledger, log } = this.#options
    // slots that only an earlier ledger held may be prepared as well
    if (asking()) return null
    const entries = ledger()
    const left = SECTIONS_MAX_BYTES - bytes
    const inUse = used && { inUse: unexplained(used, entries, roomInUse(left)) }
    const room = roomForSlots(left, Buffer.byteLength(JSON.stringify(inUse)))
    const from = question ? (question.from ?? null) : this.#page
    const paged = pageOf(entries, from, room)
    if (!question) this.#page = paged?.next ?? null
    if (paged === null) log.warn({ host, room }, 'inventory.slotsUnsaid')
    return paged && { ...paged.page, ...inUse, ...(question ? { answers: question.id } : {}) }
  }
  async #send({ sections, ...besides }: Looked): Promise<boolean> {
    const { host, boot, version, aliases, clock, bus, log } = this.#options
    const number = ++this.#number
    const now = clock.now()
    const runs = this.#options.playbooks()
    const playbooks = runs === null ? {} : { playbooks: runs }
    const playbookBytes = sizeOf(playbooks)
    const drivers = fitting(sections, SECTIONS_MAX_BYTES - playbookBytes)
    for (const section of drivers)
      if (section.status === 'failed') log.warn({ host, ...section }, 'inventory.driverFailed')
    const head = { host, ...boot, number, observedAt: now, version, aliases }
    const asks = this.#options.asking() ? { ledger: 'new' as const } : {}
    const slots = this.#slots(playbookBytes + sizeOf(drivers), besides)
    // a question that came meanwhile takes its place
    if (slots === null) this.#question ??= besides.question
    const report: InventoryReport = {
      type: 'Inventory',
      ...head,
      ...asks,
      ...(slots ? { slots } : {}),
      ...playbooks,
      drivers,
    }
    try {
      await bus.publish([reportRecord(report, `${boot.bootId}/${number}`, now)])
      return true
    } catch (error) {
      log.warn({ host, number, reason: textOf(error) }, 'inventory.unsent')
      return false
    }
  }
  readonly #beat = (): void => {
    const { clock, heartbeatEveryMs } = this.#options
    if (this.#closed) return
    this.#timers.heartbeat = clock.after(heartbeatEveryMs, this.#beat)
    // heartbeats are not queued while the bus accepts nothing
    if (!this.#beating) void this.#sendHeartbeat()
  }
  async #sendHeartbeat(): Promise<void> {
    const { host, boot, clock, bus, ids, log, load, measuring } = this.#options
    this.#beating = true
    const now = clock.now()
    const measured = measuring.take()
    const status = { drivers: { ...this.#status }, ...load() }
    const beat = { type: 'Heartbeat', host, ...boot, observedAt: now, status } as const
    const report = measured.length > 0 ? { ...beat, measured } : beat
    try {
      await bus.publish([reportRecord(report, ids.uuid(), now)])
    } catch (error) {
      measuring.giveBack(measured)
      log.warn({ host, reason: textOf(error) }, 'heartbeat.unsent')
    }
    this.#beating = false
  }
}
