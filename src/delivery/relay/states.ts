/**
 * Publishes to the state topics the latest state of every entity that a row changed. The state is read after the row.
 *
 * STATES-1 a relay publishes states in portions, and reads each after the bus stored the one before, so a state is
 *    never followed by an older one;
 * STATES-2 a checkpoint is saved only after the states that its rows changed are published (`flush`); several rows of
 *    an entity give one state;
 * STATES-3 a publish of a former holder may arrive late, so that an old state is the last one on the topic. A new
 *    holder therefore publishes all states changed since that holder's checkpoint again after `graceMs`. Until then the
 *    store keeps that checkpoint (reader `<reader>.unsettled`), so that a further holder knows it too;
 * STATES-4 a relay whose own states arrived late publishes them again until a second read shows the same states:
 *    another relay that published older ones meanwhile will publish newer ones with its next rows;
 * STATES-5 a portion whose publish had an uncertain outcome may also arrive after a newer one of the same relay: it is
 *    published again after `graceMs`, and the record of STATES-3 says so before the checkpoint moves past its rows.
 *    This also holds if the lease was not trusted at that moment: the relay may renew it, and then no other relay
 *    publishes these states again.
 */
import { type Pauses, createPauses } from '../../vocabulary/waiting.ts'
import type { Latest } from '../../actors/latest.ts'
import type { FeedRow, Journal, Position } from '../../actors/runtime/ports.ts'
import type { Cancel, Clock } from '../../vocabulary/clock.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { BusRecord } from '../../wire/envelope.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import { fitting, type Mark } from './records.ts'
import type { SetAside } from './setAside.ts'

type Ports = {
  readonly source: Latest
  readonly journal: Pick<Journal, 'feed' | 'checkpoint'>
  readonly setAside: SetAside
  readonly clock: Clock
  readonly log: Log
  readonly reader: string
  readonly holder: string
  readonly graceMs: number
  readonly rowsMax: number
  /** Saves under the epoch of the tenure; false: the tenure is over. */
  readonly save: (reader: string, position: string) => Promise<boolean>
  /** Called when there are states to flush. */
  readonly wake: () => void
}

const PORTION = 500
/** The most entities that are published again after a change of holders; others wait for their next change. */
const UNSETTLED_MAX = 200_000
const LATE_TRIES = 30
const LATE_PAUSE_MS = 1000
const SETTLED = 'settled'
const FROM = 'from '

const portionsOf = <Item>(items: readonly Item[]): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / PORTION) }, (_, at) => items.slice(at * PORTION, (at + 1) * PORTION))

export class States {
  readonly #ports: Ports
  #touched = new Map<string, Mark>()
  readonly #late = new Map<string, Mark>()
  #healing: Promise<void> | null = null
  /**
   * Entities changed by rows that a former holder may have been publishing; null: all of them are known, and no more
   * are collected.
   */
  #unsettled: Map<string, Mark> | null = null
  /** States to publish again when the grace time has passed. */
  #again = new Map<string, Mark>()
  /** The grace time has passed, but the store does not record that yet. */
  #settling = false
  /** The store records that states may arrive late. */
  #marked = false
  #grace: Cancel = () => {}
  #stopped = false
  #published = 0
  #made = 0
  readonly #pauses: Pauses

  constructor(ports: Ports) {
    this.#ports = ports
    this.#pauses = createPauses(ports.clock)
  }

  /** Begins a new tenure after `checkpoint`. */
  async begin(checkpoint: Position): Promise<void> {
    const { journal, reader, rowsMax, save } = this.#ports
    this.forget()
    this.#marked = true
    const kept = await journal.checkpoint(`${reader}.unsettled`)
    const from = kept.startsWith(FROM) ? kept.slice(FROM.length) : checkpoint
    if (!kept.startsWith(FROM)) await save(`${reader}.unsettled`, FROM + checkpoint)
    const unsettled = new Map<string, Mark>()
    for (let at = from; at !== checkpoint;) {
      const rows = await journal.feed(at, rowsMax)
      const end = rows.findIndex(({ position }) => position === checkpoint)
      this.#note(end < 0 ? rows : rows.slice(0, end + 1), unsettled)
      if (end >= 0 || rows.length < rowsMax) break
      at = rows.at(-1)!.position
    }
    this.#unsettled = unsettled
  }
  /** Notes published rows. `all`: the journal had no further rows at the time of the read. */
  noted(rows: readonly FeedRow[], all: boolean): void {
    this.#note(rows, this.#touched)
    if (this.#unsettled === null) return
    this.#note(rows, this.#unsettled)
    if (!all) return
    const unsettled = this.#unsettled
    this.#unsettled = null
    this.#tellAgain(unsettled.values())
  }
  /** Ends the tenure. */
  forget(): void {
    this.#grace()
    this.#touched = new Map()
    this.#unsettled = null
    this.#again = new Map()
    this.#settling = false
  }
  get waiting(): boolean {
    return this.#touched.size > 0 || this.#settling
  }
  get published(): number {
    return this.#published
  }
  /**
   * Publishes the states changed until now; false: the lease was no longer trusted, and some states were not published.
   * Rejects when the outcome is uncertain.
   */
  async flush(trusted: () => boolean): Promise<boolean> {
    await this.#mark()
    const settling = this.#settling
    // published entities are removed from the map; the others stay for the next flush
    const open = this.#touched
    this.#touched = new Map()
    try {
      if (!(await this.#tellAll(open, trusted))) return false
    } finally {
      for (const [key, mark] of open) if (!this.#touched.has(key)) this.#touched.set(key, mark)
    }
    if (settling && this.#settling && this.#unsettled === null) await this.#settled()
    return true
  }
  async stop(): Promise<void> {
    this.#stopped = true
    this.#grace()
    this.#pauses.stop()
    await this.#healing
  }

  #tellAgain(marks: Iterable<Mark>): void {
    for (const mark of marks) this.#again.set(mark.key, mark)
    this.#settling = false
    this.#grace()
    this.#grace = this.#ports.clock.after(this.#ports.graceMs, () => {
      for (const [key, mark] of this.#again) if (!this.#touched.has(key)) this.#touched.set(key, mark)
      this.#again = new Map()
      this.#settling = true
      this.#ports.wake()
    })
  }
  /** Recorded before the publish, so that the checkpoint stays before the rows whose states may arrive late. */
  async #mark(): Promise<void> {
    const { journal, reader, save } = this.#ports
    if (this.#marked || this.#again.size === 0) return
    this.#marked = await save(`${reader}.unsettled`, FROM + (await journal.checkpoint(reader)))
  }
  async #settled(): Promise<void> {
    const { reader, save } = this.#ports
    if (!(await save(`${reader}.unsettled`, SETTLED))) return
    this.#settling = false
    this.#marked = false
  }
  #note(rows: readonly FeedRow[], into: Map<string, Mark>): void {
    const { source, log } = this.#ports
    for (const { key, version, at, position } of rows) {
      if (!source.tells(key)) continue
      if (into.size < UNSETTLED_MAX || into.has(key)) into.set(key, { key, version, at, position })
      else log.error({ key, version }, 'relay.stateUntold')
    }
  }
  async #tellAll(open: Map<string, Mark>, trusted: () => boolean): Promise<boolean> {
    for (const marks of portionsOf([...open.values()])) {
      if (!(await this.#tell(marks, trusted))) return false
      for (const { key } of marks) open.delete(key)
    }
    return true
  }
  async #tell(marks: readonly Mark[], trusted: () => boolean): Promise<boolean> {
    const { source, setAside } = this.#ports
    const latest = await source.read(marks.map(({ key }) => key))
    if (!trusted()) return false
    try {
      if (!(await setAside.publish(this.#records(marks, latest), trusted))) return false
      this.#published += marks.length
    } catch (error) {
      this.#tellAgain(marks)
      throw error
    } finally {
      if (!trusted()) this.#cameLate(marks)
    }
    return true
  }
  #records(marks: readonly Mark[], latest: ReadonlyMap<string, string | null>): readonly BusRecord[] {
    const { source, holder, log } = this.#ports
    return marks.map((mark) =>
      fitting(source.record(mark, latest.get(mark.key) ?? null, `${holder}.${++this.#made}`), mark, log),
    )
  }
  #cameLate(marks: readonly Mark[]): void {
    this.#ports.log.warn({ entities: marks.length }, 'relay.statesLate')
    for (const mark of marks) this.#late.set(mark.key, mark)
    this.#healing ??= this.#heal()
  }
  async #heal(): Promise<void> {
    const { log, graceMs } = this.#ports
    const doubted = new Map<string, Mark>()
    for (let tries = 0; this.#late.size > 0 && tries < LATE_TRIES && !this.#stopped; tries++) {
      await this.#tellLate().catch((error: unknown) => {
        for (const [key, mark] of this.#late) doubted.set(key, mark)
        log.warn({ reason: textOf(error) }, 'relay.statesLateAgain')
        return this.#pauses.pause(LATE_PAUSE_MS)
      })
      if (this.#late.size > 0 || doubted.size === 0) continue
      await this.#pauses.pause(graceMs)
      for (const [key, mark] of doubted) this.#late.set(key, mark)
      doubted.clear()
    }
    if (this.#late.size > 0 && !this.#stopped) log.error({ entities: this.#late.size }, 'relay.statesOld')
    this.#late.clear()
    this.#healing = null
  }
  async #tellLate(): Promise<void> {
    const { source, setAside } = this.#ports
    const marks = [...this.#late.values()].slice(0, PORTION)
    const keys = marks.map(({ key }) => key)
    const latest = await source.read(keys)
    await setAside.publish(this.#records(marks, latest), () => !this.#stopped)
    this.#published += marks.length
    const now = await source.read(keys)
    for (const key of keys) if (now.get(key) === latest.get(key)) this.#late.delete(key)
  }
}
