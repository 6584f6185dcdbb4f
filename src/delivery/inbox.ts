/**
 * The inbox: turns the reports of hosts into commands, each message once.
 *
 * INBOX-1 an inventory report whose digest is known is recognised by its headers alone; its body is not parsed;
 * INBOX-2 a message that cannot be read, or is refused for good, goes to the dead letters with the reason, and
 *    consuming goes on;
 * INBOX-3 a report that cannot be taken now (`unavailable`, or an exception) is tried again, at most `tries` times and
 *    within `forMs` of its arrival, then INBOX-2 (but see INBOX-9 and INBOX-10). Any other fault is final at once,
 *    because the next try would fail in the same way;
 * INBOX-4 reports of one kind from one host are taken in order, and so are the results of one slot; different slots do
 *    not wait for each other;
 * INBOX-5 a message is acknowledged to the bus only when it was taken or stored among the dead letters;
 * INBOX-6 no host waits for another (L7): a report that waits for its next try, or for such a report, steps aside on
 *    the bus, at most `ASIDE_MAX` of a host at a time. Further ones are given back to the bus, which keeps later
 *    messages of that host back meanwhile;
 * INBOX-7 an inventory that can never be recorded is one dead letter, not one with each repetition: its digest is
 *    remembered;
 * INBOX-8 no part of a message is used before the message was admitted, not even its headers;
 * INBOX-9 only `inventoriesAtOnce` inventories are recorded at a time, whatever the number of hosts that start
 *    together: the others step aside and wait for their turn, which is not part of their time. Heartbeats and results
 *    of orders have no such turn;
 * INBOX-10 while the store cannot be read and written, no report is given up; once it can be again, each has its time
 *    and its tries anew.
 */
import { type Semaphore, createSemaphore } from '../vocabulary/semaphore.ts'
import { type KeyedMutex, createKeyedMutex } from '../vocabulary/keyedMutex.ts'
import { type Pauses, backoffMs, createPauses } from '../vocabulary/waiting.ts'
import type { Clock } from '../vocabulary/clock.ts'
import type { Fault, Outcome } from '../vocabulary/fault.ts'
import { CATALOGUE, CONTROL_GROUP } from '../wire/catalogue.ts'
import type { BusRecord } from '../wire/envelope.ts'
import type { Message, Sighting } from '../wire/message.ts'
import { letterIdOf } from '../wire/letterId.ts'
import { deadLetterRecord, inventoryDigest, readReport, sighting } from '../wire/message.ts'
import type { Report } from '../wire/reports.ts'
import type { Log } from '../vocabulary/log.ts'
import { textOf } from '../vocabulary/errorText.ts'
import type { Bus, Consumer, Delivered, StepAside } from '../bus/port.ts'
import { recent } from './recentIds.ts'

export type InboxOptions = {
  readonly bus: Pick<Bus, 'consume' | 'publish'>
  readonly clock: Clock
  readonly log: Log
  /** Who signed this message (null: it is unsigned), or the reason to refuse it. Absent: no message is signed. */
  readonly admit?: (record: BusRecord) => { readonly signer: string | null } | { readonly refused: string }
  /** Whether this inventory of that host is known and was counted as seen again. False: the body has to be read. */
  readonly unchanged: (seen: Sighting, signer: string | null) => boolean | Promise<boolean>
  /** A fault other than `unavailable` is final. */
  readonly take: (report: Report, messageId: string, signer: string | null) => Promise<Outcome<unknown>>
  /** Whether the store can be read and written at present. Absent: it always can. */
  readonly storeAnswers?: () => Promise<boolean>
  readonly group?: string
  readonly inventoriesAtOnce?: number
  /** How many messages of one partition are handled at once. */
  readonly window?: number
  readonly retry?: { readonly firstMs: number; readonly maxMs: number; readonly tries: number; readonly forMs: number }
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
  /** At a stop, messages that wait for another try are left to the next inbox of the group. */
  readonly stop: () => Promise<void>
  readonly counts: () => InboxCounts
}

const DEFAULTS = {
  storeAnswers: async () => true,
  group: CONTROL_GROUP,
  inventoriesAtOnce: 16,
  window: 64,
  retry: { firstMs: 50, maxMs: 2000, tries: 30, forMs: 60_000 },
}
const ASIDE_MAX = 32
const STORE_ANSWER_KEPT_MS = 1000
const RECENT = { ids: 64, hosts: 4096 }
type Settings = Omit<InboxOptions, keyof typeof DEFAULTS> & typeof DEFAULTS
/** `reason`: why a report was not taken; `later`: it may be taken later; `content`: its own content is at fault. */
type Refusal = { readonly reason: string; readonly later: boolean; readonly content: boolean }
/** A message while the inbox works on it. `aside`: whether it stepped aside on the bus. */
type Visit = { readonly record: Delivered; readonly cameAt: number; readonly aside: () => boolean }
/** A message that was admitted. */
type Admitted = Visit & { readonly signer: string | null }

const words = (fault: Fault): string => {
  if (fault.kind === 'invalid') return `${fault.field}: ${fault.rule}`
  return fault.kind === 'forbidden' ? fault.rule : `${fault.kind}: ${JSON.stringify({ ...fault, kind: undefined })}`
}

const laneOf = (report: Report): string =>
  report.type === 'OrderResult' ? report.slot : `${report.host}/${report.type}`

class Intake {
  readonly #settings: Settings
  readonly #mutex: KeyedMutex
  readonly #recent = recent(RECENT.ids, RECENT.hosts)
  readonly #pauses: Pauses
  readonly #inventories: Semaphore
  /** Inventories that are being recorded or wait for their turn. */
  #inventoriesInHand = 0
  #storeAsked = { until: -Infinity, answer: Promise.resolve(true) }
  readonly #counts = { unchanged: 0, taken: 0, repeated: 0, retried: 0, dead: 0 }
  /** How many reports of each host have stepped aside. */
  readonly #asides = new Map<string, number>()
  /** The digest of each host's last inventory that was refused for good. */
  readonly #refused = recent(1, RECENT.hosts)
  #consumer: Consumer | null = null
  #stopping = false

  constructor(settings: Settings) {
    this.#settings = settings
    this.#pauses = createPauses(settings.clock)
    this.#mutex = createKeyedMutex(settings.clock)
    this.#inventories = createSemaphore(settings.inventoriesAtOnce)
  }

  readonly start = async (): Promise<void> => {
    const { bus, group, window } = this.#settings
    const { topic } = CATALOGUE.hostReports
    this.#consumer = await bus.consume({
      topic,
      group,
      from: 'earliest',
      window,
      take: (message, stepAside) => this.#visit(message, stepAside),
    })
  }
  readonly stop = async (): Promise<void> => {
    this.#stopping = true
    const stopped = this.#consumer?.stop()
    this.#pauses.stop()
    await stopped
  }
  readonly counts = (): InboxCounts => ({ ...this.#counts })

  async #visit(record: Delivered, stepAside: StepAside): Promise<void> {
    let counted = false
    let stepped = false
    const aside = (): boolean => {
      if (counted) return stepped
      const count = this.#asides.get(record.key) ?? 0
      if (count >= ASIDE_MAX) throw new Error(`${count} reports of ${record.key} wait already`)
      counted = true
      this.#asides.set(record.key, count + 1)
      return (stepped = stepAside())
    }
    try {
      await this.#receive({ record, cameAt: this.#settings.clock.monotonic(), aside })
    } finally {
      if (counted) this.#leaves(record.key)
    }
  }
  #leaves(key: string): void {
    const left = this.#asides.get(key)! - 1
    if (left > 0) this.#asides.set(key, left)
    else this.#asides.delete(key)
  }
  /** INBOX-4 */
  #inTurn(lane: string, visit: Visit, work: () => Promise<void>): Promise<void> {
    if (this.#mutex.isHeld(lane)) visit.aside()
    return this.#mutex.run(lane, work)
  }
  async #receive(came: Visit): Promise<void> {
    const admitted = this.#settings.admit?.(came.record) ?? { signer: null }
    if ('refused' in admitted) return this.#bury(came.record, admitted.refused)
    const visit = { ...came, signer: admitted.signer }
    const seen = sighting(visit.record)
    if (seen === null) return this.#read(visit)
    return this.#inTurn(`${seen.host}/Inventory`, visit, async () => {
      if (await this.#known(seen, visit.signer)) this.#counts.unchanged++
      else if (this.#refused.has(seen.host, seen.digest)) this.#counts.repeated++
      else return this.#read(visit, true)
    })
  }
  async #known(seen: Sighting, signer: string | null): Promise<boolean> {
    try {
      return await this.#settings.unchanged(seen, signer)
    } catch (error) {
      this.#settings.log.warn({ host: seen.host, reason: textOf(error) }, 'inbox.lookUpFailed')
      return false
    }
  }
  /** `inTurn`: the caller already holds the mutex of the report. */
  async #read(visit: Admitted, inTurn = false): Promise<void> {
    const message = readReport(visit.record)
    if (!message.ok) return this.#bury(visit.record, words(message.fault))
    const { body } = message.value
    const work = (): Promise<void> => this.#hand(visit, message.value)
    // the mutex of this host's inventories is held already, so taking it again would wait forever
    return inTurn && body.type === 'Inventory' ? work() : this.#inTurn(laneOf(body), visit, work)
  }
  async #hand(visit: Admitted, { id, body }: Message<Report>): Promise<void> {
    const { record } = visit
    if (this.#recent.has(record.key, id)) {
      this.#counts.repeated++
      return
    }
    const refusal = await this.#attempts(visit, body, id)
    // the id of a dead letter is not remembered, because an operator may send the message again
    if (refusal !== null) {
      await this.#bury(record, refusal.reason)
      // computed, not taken from the headers: there, a message could claim the digest of another host's inventory and
      // suppress it
      if (refusal.content && body.type === 'Inventory') this.#refused.add(body.host, inventoryDigest(body))
      return
    }
    this.#counts.taken++
    // a heartbeat that is taken twice does no harm, and its id would displace ids that matter
    if (body.type !== 'Heartbeat') this.#recent.add(record.key, id)
  }
  async #attempts(visit: Admitted, report: Report, id: string): Promise<Refusal | null> {
    const { retry, clock } = this.#settings
    let endsAt = visit.cameAt + retry.forMs
    for (let [failed, tried] = [1, 1]; ; failed++, tried++) {
      const asked = clock.monotonic()
      const refusal = await this.#turnOf(visit, report, () => {
        endsAt += clock.monotonic() - asked
        return this.#attempt(report, id, visit.signer)
      })
      if (refusal === null || !refusal.later) return refusal
      if (!(await this.#storeAnswers())) [tried, endsAt] = [0, clock.monotonic() + retry.forMs]
      else if (tried >= retry.tries || clock.monotonic() >= endsAt)
        return { ...refusal, reason: `after ${tried} ${tried === 1 ? 'try' : 'tries'}: ${refusal.reason}` }
      visit.aside()
      this.#counts.retried++
      await this.#pauses.pause(backoffMs(retry, failed))
      this.#expectRunning(refusal.reason)
    }
  }
  #expectRunning(reason: string): void {
    if (this.#stopping) throw new Error(`the inbox stops: ${reason}`)
  }
  /** Whether the store answers. Those who ask at about the same time share one answer. */
  #storeAnswers(): Promise<boolean> {
    const { clock, storeAnswers } = this.#settings
    if (clock.monotonic() >= this.#storeAsked.until)
      this.#storeAsked = { until: clock.monotonic() + STORE_ANSWER_KEPT_MS, answer: storeAnswers() }
    return this.#storeAsked.answer
  }
  /** INBOX-9 */
  async #turnOf<Value>(visit: Visit, { type }: Report, attempt: () => Promise<Value>): Promise<Value> {
    if (type !== 'Inventory') return attempt()
    // one that cannot step aside is given back to the bus: in the window, it would keep back other kinds of reports
    if (this.#inventoriesInHand >= this.#settings.inventoriesAtOnce && !visit.aside())
      throw new Error('too many inventories wait for their turn')
    this.#inventoriesInHand++
    try {
      return await this.#inventories(() => {
        this.#expectRunning('an inventory had not had its turn')
        return attempt()
      })
    } finally {
      this.#inventoriesInHand--
    }
  }
  async #attempt(report: Report, id: string, signer: string | null): Promise<Refusal | null> {
    try {
      const outcome = await this.#settings.take(report, id, signer)
      if (outcome.ok) return null
      const { kind } = outcome.fault
      return { reason: words(outcome.fault), later: kind === 'unavailable', content: kind === 'invalid' }
    } catch (error) {
      return { reason: textOf(error), later: true, content: false }
    }
  }
  async #bury(record: Delivered, reason: string): Promise<void> {
    const { bus, clock, log } = this.#settings
    const { topic, key, partition, offset } = record
    log.warn({ topic, key, partition, offset, reason }, 'inbox.dead')
    await bus.publish([deadLetterRecord(record, reason, { id: letterIdOf(record), time: clock.now() })])
    this.#counts.dead++
  }
}

export const inbox = (options: InboxOptions): Inbox => {
  const { start, stop, counts } = new Intake({ ...DEFAULTS, ...options })
  return { start, stop, counts }
}
