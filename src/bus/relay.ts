/**
 * The relay: what the journal holds becomes messages, in commit order.
 *
 * R1 the checkpoint moves past a row only after its messages are stored on the bus: a row may be told twice, never not at all;
 * R2 one round is under way at a time, and a failed one is done again from its first row, so the order per key holds;
 * R3 it starts at once when this process appended what is urgent, with the rest it waits `gatherMs` for more, and it looks
 *    every `pollMs` for what others wrote;
 * R4 a row that cannot be told (a reaction throws, a message is too big) goes to the dead letters and stops nothing.
 */
import type { Append, FeedRow, Journal, JournalRow, Position } from '../actors/ports.ts'
import type { Cancel, Clock } from '../clock.ts'
import type { BusRecord } from '../wire/envelope.ts'
import { deadLetterRecord, MESSAGE_MAX_BYTES } from '../wire/message.ts'
import type { Log } from '../log.ts'
import { textOf } from './reason.ts'
import type { Bus } from './port.ts'

export type RelayOptions = {
  readonly journal: Pick<Journal, 'feed' | 'checkpoint' | 'saveCheckpoint' | 'onAppended'>
  readonly bus: Pick<Bus, 'publish'>
  /** Pure: what a row says to others. */
  readonly reactions: (row: FeedRow) => readonly BusRecord[]
  /** Whether somebody waits for what the row says to others. All rows, when not given. */
  readonly urgent?: (row: JournalRow) => boolean
  readonly clock: Clock
  readonly log: Log
  readonly reader?: string
  readonly pollMs?: number
  readonly gatherMs?: number
  readonly rowsMax?: number
  /** The checkpoint is saved at most so often; after a kill, the rows since the last save are told again. */
  readonly saveEveryMs?: number
  readonly retry?: { readonly firstMs: number; readonly maxMs: number }
}
export type RelayState = {
  readonly position: Position
  readonly rows: number
  readonly messages: number
  /** Rounds failed since the last good one. */
  readonly failures: number
  /** Age of the oldest row that was read and is not told yet; 0 when there is none. */
  readonly lagMs: number
}
export type Relay = {
  /** Resolves when the checkpoint is read. */
  readonly start: () => Promise<void>
  /** Ends the round under way and saves the checkpoint. */
  readonly stop: () => Promise<void>
  /** Resolves when all that was journaled at the call is on the bus, or the relay is stopped. */
  readonly drained: () => Promise<void>
  readonly state: () => RelayState
}

/** Under this name its checkpoint is kept. */
export const RELAY = 'relay'
const DEFAULTS = {
  reader: RELAY,
  pollMs: 500,
  gatherMs: 25,
  urgent: (_row: JournalRow): boolean => true,
  rowsMax: 500,
  saveEveryMs: 100,
  retry: { firstMs: 20, maxMs: 5000 },
}
type Settings = Omit<RelayOptions, keyof typeof DEFAULTS> & typeof DEFAULTS

class Rounds {
  readonly #settings: Settings
  #position: Position = ''
  #saved: Position = ''
  /** The save to come, and those under way, one after another. */
  #saving: Cancel | null = null
  #saves: Promise<void> = Promise.resolve()
  /** The ring to come, for what is not urgent. */
  #gathering: Cancel | null = null
  #running = false
  #loop: Promise<void> = Promise.resolve()
  /** Something may have been written since the last read began. */
  #woken = false
  #wake: () => void = () => {}
  #drains: (() => void)[] = []
  #unsubscribe: () => void = () => {}
  #rows = 0
  #messages = 0
  #failures = 0
  #oldest: number | null = null

  constructor(settings: Settings) {
    this.#settings = settings
  }

  readonly start = async (): Promise<void> => {
    if (this.#running) return
    const { journal, reader } = this.#settings
    this.#position = this.#saved = await journal.checkpoint(reader)
    this.#running = true
    this.#unsubscribe = journal.onAppended(this.#appended)
    this.#woken = true
    this.#loop = this.#run()
  }
  readonly stop = async (): Promise<void> => {
    this.#running = false
    this.#unsubscribe()
    this.#gathering?.()
    this.#ring()
    await this.#loop
    this.#saving?.()
    await this.#save()
    this.#release(this.#drains.splice(0))
  }
  readonly drained = (): Promise<void> =>
    new Promise((resolve) => {
      if (!this.#running) return resolve()
      this.#drains.push(resolve)
      this.#ring()
    })
  readonly state = (): RelayState => ({
    position: this.#position,
    rows: this.#rows,
    messages: this.#messages,
    failures: this.#failures,
    lagMs: this.#oldest === null ? 0 : Math.max(0, this.#settings.clock.now() - this.#oldest),
  })

  readonly #appended = (appends?: readonly Append[]): void => {
    const { urgent, clock, gatherMs } = this.#settings
    if (appends?.some(({ rows }) => rows.some(urgent)) ?? true) return this.#ring()
    this.#gathering ??= clock.after(gatherMs, () => this.#ring())
  }
  readonly #ring = (): void => {
    this.#gathering?.()
    this.#gathering = null
    this.#woken = true
    this.#wake()
  }
  async #run(): Promise<void> {
    const { retry, pollMs } = this.#settings
    while (this.#running) {
      if (!this.#woken) await this.#rest(pollMs)
      if (!this.#running) return
      this.#woken = false
      // only who asked before the read began may be told that it found nothing more
      const drains = this.#drains.splice(0)
      const more = await this.#round()
      if (more === false) this.#release(drains)
      else this.#drains.unshift(...drains)
      if (more === true) this.#woken = true
      if (more === null) await this.#pause(Math.min(retry.maxMs, retry.firstMs * 2 ** Math.min(this.#failures - 1, 20)))
    }
  }
  /** Whether rows may be left; null: it failed. */
  async #round(): Promise<boolean | null> {
    const { journal, bus, rowsMax, log } = this.#settings
    try {
      const rows = await journal.feed(this.#position, rowsMax)
      if (rows.length > 0) await this.#tell(rows, bus)
      this.#failures = 0
      return rows.length === rowsMax
    } catch (error) {
      this.#failures++
      log.warn({ reason: textOf(error), failures: this.#failures, after: this.#position }, 'relay.again')
      return null
    }
  }
  async #tell(rows: readonly FeedRow[], bus: Pick<Bus, 'publish'>): Promise<void> {
    this.#oldest ??= rows[0]!.at
    const records = rows.flatMap((row) => this.#recordsOf(row))
    if (records.length > 0) await bus.publish(records)
    this.#oldest = null
    this.#position = rows.at(-1)!.position
    this.#rows += rows.length
    this.#messages += records.length
    this.#saving ??= this.#settings.clock.after(this.#settings.saveEveryMs, () => void this.#save())
  }
  #recordsOf(row: FeedRow): readonly BusRecord[] {
    try {
      return this.#settings.reactions(row).map((record) => this.#fitting(record, row))
    } catch (error) {
      const failed: BusRecord = { topic: 'journal', key: row.key, value: JSON.stringify(row), headers: {} }
      return [this.#dead(failed, row, `reaction: ${textOf(error)}`)]
    }
  }
  #fitting(record: BusRecord, row: FeedRow): BusRecord {
    const bytes = Buffer.byteLength(record.value)
    if (bytes <= MESSAGE_MAX_BYTES) return record
    return this.#dead(record, row, `a message of ${bytes} bytes, more than ${MESSAGE_MAX_BYTES}`)
  }
  #dead(record: BusRecord, { key, version, at, position }: FeedRow, reason: string): BusRecord {
    this.#settings.log.error({ key, version, position, reason }, 'relay.untold')
    return deadLetterRecord(record, reason, { id: `${key}/${version}/dead`, time: at, position })
  }
  #save(): Promise<void> {
    this.#saving = null
    this.#saves = this.#saves.then(() => this.#saveNow())
    return this.#saves
  }
  async #saveNow(): Promise<void> {
    const { journal, reader, log } = this.#settings
    const position = this.#position
    if (position === this.#saved) return
    try {
      await journal.saveCheckpoint(reader, position)
      this.#saved = position
    } catch (error) {
      log.warn({ reason: textOf(error), position }, 'relay.checkpointLate')
    }
  }

  /** Until something is written, the relay is stopped, or the time is over. */
  async #rest(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const cancel = this.#settings.clock.after(ms, resolve)
    await promise
    cancel()
    this.#wake = () => {}
  }
  /** A failed round is not hurried by what is written meanwhile, only by a stop. */
  async #pause(ms: number): Promise<void> {
    const until = this.#settings.clock.now() + ms
    while (this.#running && this.#settings.clock.now() < until) await this.#rest(until - this.#settings.clock.now())
    this.#woken = true
  }
  #release(drains: readonly (() => void)[]): void {
    for (const drained of drains) drained()
  }
}

export const relay = (options: RelayOptions): Relay => {
  const { start, stop, drained, state } = new Rounds({ ...DEFAULTS, ...options })
  return { start, stop, drained, state }
}
