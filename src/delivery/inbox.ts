/**
 * The inbox: turns the reports of hosts into commands, each message once.
 *
 * INBOX-1 an inventory report whose digest is known is recognised by its headers alone; its body is not parsed;
 * INBOX-2 a message that cannot be read, or is refused for good, goes to the dead letters with the reason, and consuming goes on;
 * INBOX-3 a report that cannot be taken now (`unavailable`, or an exception) is tried again, at most `tries` times, then INBOX-2;
 * INBOX-4 reports of one kind of one host are taken in order, results of one slot as well; different slots do not wait for each other;
 * INBOX-5 a message is acknowledged to the bus only when it was taken or stored among the dead letters.
 */
import { type KeyedMutex, keyedMutex } from '../keyedMutex.ts'
import { type Pauses, backoffMs, createPauses } from '../waiting.ts'
import type { Clock } from '../clock.ts'
import { type Fault, type Outcome, isUndecided } from '../fault.ts'
import { CATALOGUE } from '../wire/catalogue.ts'
import type { Message, Sighting } from '../wire/message.ts'
import { deadLetterRecord, readReport, sighting } from '../wire/message.ts'
import type { Report } from '../wire/reports.ts'
import type { Log } from '../log.ts'
import { textOf } from '../errorText.ts'
import type { Bus, Consumer, Delivered } from '../bus/port.ts'
import { recent } from './recentIds.ts'

export type InboxOptions = {
  readonly bus: Pick<Bus, 'consume' | 'publish'>
  readonly clock: Clock
  readonly log: Log
  /** Whether this inventory of that host is known and was counted as seen again. False: the body has to be read. */
  readonly unchanged: (seen: Sighting) => boolean | Promise<boolean>
  /** A fault other than `unavailable` is final. */
  readonly take: (report: Report, messageId: string) => Promise<Outcome<unknown>>
  readonly group?: string
  /** How many messages of one partition are handled at once. */
  readonly window?: number
  readonly retry?: { readonly firstMs: number; readonly maxMs: number; readonly tries: number }
}
export type InboxCounts = {
  readonly unchanged: number
  readonly taken: number
  readonly repeated: number
  readonly retried: number
  readonly dead: number
}
export type Inbox = {
  readonly start: () => Promise<void>
  /** Messages that wait for another try are left to the next inbox of the group. */
  readonly stop: () => Promise<void>
  readonly counts: () => InboxCounts
}

const DEFAULTS = { group: 'control', window: 64, retry: { firstMs: 50, maxMs: 2000, tries: 30 } }
const RECENT = { ids: 64, hosts: 4096 }
type Settings = Omit<InboxOptions, keyof typeof DEFAULTS> & typeof DEFAULTS
/** Why a report was not taken, and whether it may be taken later. */
type Refusal = { readonly reason: string; readonly later: boolean }

const words = (fault: Fault): string =>
  fault.kind === 'invalid'
    ? `${fault.field}: ${fault.rule}`
    : `${fault.kind}: ${JSON.stringify({ ...fault, kind: undefined })}`

const laneOf = (report: Report): string =>
  report.type === 'OrderResult' ? report.slot : `${report.host}/${report.type}`

class Intake {
  readonly #settings: Settings
  readonly #mutex: KeyedMutex
  readonly #recent = recent(RECENT.ids, RECENT.hosts)
  readonly #pauses: Pauses
  readonly #counts = { unchanged: 0, taken: 0, repeated: 0, retried: 0, dead: 0 }
  #consumer: Consumer | null = null
  #stopping = false

  constructor(settings: Settings) {
    this.#settings = settings
    this.#pauses = createPauses(settings.clock)
    this.#mutex = keyedMutex(settings.clock)
  }

  readonly start = async (): Promise<void> => {
    const { bus, group, window } = this.#settings
    const { topic } = CATALOGUE.hostReports
    this.#consumer = await bus.consume({
      topic,
      group,
      from: 'earliest',
      window,
      take: (message) => this.#receive(message),
    })
  }
  readonly stop = async (): Promise<void> => {
    this.#stopping = true
    const stopped = this.#consumer?.stop()
    this.#pauses.stop()
    await stopped
  }
  readonly counts = (): InboxCounts => ({ ...this.#counts })

  #receive(record: Delivered): Promise<void> {
    const seen = sighting(record)
    if (seen === null) return this.#read(record)
    return this.#mutex.run(`${seen.host}/Inventory`, async () => {
      if (!(await this.#known(seen))) return this.#read(record, true)
      this.#counts.unchanged++
    })
  }
  async #known(seen: Sighting): Promise<boolean> {
    try {
      return await this.#settings.unchanged(seen)
    } catch (error) {
      this.#settings.log.warn({ host: seen.host, reason: textOf(error) }, 'inbox.lookUpFailed')
      return false
    }
  }
  /** `inTurn`: the mutex of the report is held already. */
  async #read(record: Delivered, inTurn = false): Promise<void> {
    const message = readReport(record)
    if (!message.ok) return this.#bury(record, words(message.fault))
    const { body } = message.value
    const work = (): Promise<void> => this.#hand(record, message.value)
    // a body that differs from its headers would wait here for itself
    return inTurn && body.type === 'Inventory' ? work() : this.#mutex.run(laneOf(body), work)
  }
  async #hand(record: Delivered, { id, body }: Message<Report>): Promise<void> {
    if (this.#recent.has(record.key, id)) {
      this.#counts.repeated++
      return
    }
    const refusal = await this.#attempts(body, id)
    // a dead letter may be sent again by an operator and is to be tried then, so it is not remembered
    if (refusal !== null) return this.#bury(record, refusal.reason)
    this.#counts.taken++
    // a repeated heartbeat does no harm, and would push out ids of messages that matter
    if (body.type !== 'Heartbeat') this.#recent.add(record.key, id)
  }
  async #attempts(report: Report, id: string): Promise<Refusal | null> {
    const { retry } = this.#settings
    for (let tried = 1; ; tried++) {
      const refusal = await this.#attempt(report, id)
      if (refusal === null || !refusal.later) return refusal
      if (tried >= retry.tries) return { ...refusal, reason: `after ${tried} tries: ${refusal.reason}` }
      this.#counts.retried++
      await this.#pauses.pause(backoffMs(retry, tried))
      if (this.#stopping) throw new Error(`the inbox stops: ${refusal.reason}`)
    }
  }
  async #attempt(report: Report, id: string): Promise<Refusal | null> {
    try {
      const outcome = await this.#settings.take(report, id)
      return outcome.ok ? null : { reason: words(outcome.fault), later: isUndecided(outcome.fault) }
    } catch (error) {
      return { reason: textOf(error), later: true }
    }
  }
  async #bury(record: Delivered, reason: string): Promise<void> {
    const { bus, clock, log } = this.#settings
    const { topic, key, partition, offset } = record
    log.warn({ topic, key, partition, offset, reason }, 'inbox.dead')
    await bus.publish([deadLetterRecord(record, reason, { id: `${topic}/${partition}/${offset}`, time: clock.now() })])
    this.#counts.dead++
  }
}

export const inbox = (options: InboxOptions): Inbox => {
  const { start, stop, counts } = new Intake({ ...DEFAULTS, ...options })
  return { start, stop, counts }
}
