/**
 * The rounds of the relay: read, publish, remember; one after another, and only while the lease is trusted. The rules:
 * `relay.ts`.
 */
import { type Pauses, backoffMs, createPauses } from '../../vocabulary/waiting.ts'
import type { Append, FeedRow, Position } from '../../actors/runtime/ports.ts'
import type { Cancel } from '../../vocabulary/clock.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import { Leasehold, type Tenure } from './lease.ts'
import type { RelayState, Settings } from './options.ts'
import { recordsOf } from './records.ts'
import { SetAside } from './setAside.ts'
import { States } from './states.ts'

/** `barred`: another process has the lease, or it is not trusted. */
type Round = 'more' | 'done' | 'failed' | 'barred'
/** A checkpoint that could not be saved is tried again after this long, also when nothing more is published. */
const SAVE_AGAIN_MS = 1000

export class Rounds {
  readonly #settings: Settings
  readonly #lease: Leasehold
  readonly #states: States | null
  readonly #setAside: SetAside
  /** The tenure to which all the fields below belong. */
  #tenure: Tenure | null = null
  #position: Position = ''
  #saved: Position = ''
  /** The save to come, and those under way, one after another. */
  #saving: Cancel | null = null
  #saves: Promise<void> = Promise.resolve()
  /** The last save that was handed to the store. */
  #stored: Promise<unknown> = Promise.resolve()
  /**
   * Counts how often the relay began anew, which it also does within one tenure: a save that was begun earlier is about
   * other rows.
   */
  #beginnings = 0
  /** The timer of the next round, for rows that are not urgent. */
  #gathering: Cancel | null = null
  #running = false
  #loop: Promise<void> = Promise.resolve()
  /** Something may have been written since the last read began. */
  #woken = false
  readonly #pauses: Pauses
  #drains: (() => void)[] = []
  #unsubscribe: (() => void)[] = []
  #epoch = 0
  #incarnation = 0
  #rows = 0
  #messages = 0
  #failures = 0
  /** When the first failed round since the last successful one began. */
  #failingSince: number | null = null
  #oldest: number | null = null
  #lastRows = -Infinity

  constructor(settings: Settings) {
    this.#settings = settings
    this.#pauses = createPauses(settings.clock)
    const { sharing, reader, holder, clock, log, lease, states } = settings
    this.#lease = new Leasehold({ ...lease, sharing, name: reader, holder, clock, log, gained: this.#ring })
    this.#setAside = new SetAside(settings)
    const save = (name: string, position: string): Promise<boolean> => this.#saveUnder(name, position)
    const wake = (): void => this.#saveSoon(0)
    this.#states =
      states === undefined ? null : new States({ ...settings, source: states, save, wake, setAside: this.#setAside })
  }

  readonly start = async (): Promise<void> => {
    if (this.#running) return
    await this.#lease.start()
    this.#running = true
    const { journal, hints, reader } = this.#settings
    this.#unsubscribe = [journal.onAppended(this.#appended), hints.onHint(reader, this.#hinted)]
    this.#woken = true
    this.#loop = this.#run()
  }
  readonly stop = async (): Promise<void> => {
    this.#running = false
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.#gathering?.()
    this.#ring()
    await this.#loop
    this.#saving?.()
    await this.#save()
    this.#saving?.()
    await this.#lease.stop()
    await this.#states?.stop()
    this.#release(this.#drains.splice(0))
  }
  readonly drained = (): Promise<void> =>
    new Promise((resolve) => {
      if (!this.#running) return resolve()
      this.#drains.push(resolve)
      this.#ring()
    })
  readonly state = (): RelayState => {
    const active = this.#lease.trusted(this.#tenure)
    const lagMs = this.#oldest === null ? 0 : Math.max(0, this.#settings.clock.now() - this.#oldest)
    return {
      active,
      epoch: this.#epoch,
      position: active ? this.#position : '',
      rows: this.#rows,
      messages: this.#messages,
      failures: this.#failures,
      lagMs,
      states: this.#states?.published ?? 0,
      setAside: this.#setAside.count,
    }
  }

  readonly #appended = (appends?: readonly Append[]): void => {
    const { urgent, clock, gatherMs, hints, reader } = this.#settings
    const isUrgent = appends?.some(({ rows }) => rows.some(urgent)) ?? true
    if (this.#tenure === null) return isUrgent ? hints.send(reader) : undefined
    if (isUrgent) return this.#ring()
    this.#gathering ??= clock.after(gatherMs, () => this.#ring())
  }
  readonly #hinted = (): void => {
    if (this.#tenure !== null) this.#ring()
  }
  readonly #ring = (): void => {
    this.#gathering?.()
    this.#gathering = null
    this.#woken = true
    this.#pauses.wake()
  }
  async #run(): Promise<void> {
    const { retry } = this.#settings
    while (this.#running) {
      if (!this.#woken) await this.#rest(this.#restMs())
      if (!this.#running) return
      this.#woken = false
      // only callers of `drain` from before the read may be told that it found nothing more
      const drains = this.#drains.splice(0)
      const ended = await this.#turn()
      if (ended === 'done') this.#release(drains)
      else this.#drains.unshift(...drains)
      if (ended === 'more') this.#woken = true
      if (ended === 'failed') await this.#pause(backoffMs(retry, this.#failures))
    }
  }
  /** How long to rest before the next read. */
  #restMs(): number {
    const { journal, pollMs, poll, lease, clock, hints } = this.#settings
    // the lease wakes the relay when it is gained
    if (!this.#lease.trusted(this.#tenure)) return lease.renewMs
    if (journal.exclusive) return pollMs
    if (clock.monotonic() - this.#lastRows >= poll.busyForMs) return poll.idleMs
    return hints.arrive() ? poll.hintedMs : poll.busyMs
  }
  async #turn(): Promise<Round> {
    const { tenure } = this.#lease
    // positions of another server mean other rows: start again from what is recorded
    const { incarnation = 0 } = this.#settings.journal
    if (incarnation !== this.#incarnation) this.#forget()
    this.#incarnation = incarnation
    if (!this.#lease.trusted(tenure)) {
      if (tenure === null) this.#forget()
      return 'barred'
    }
    const began = this.#settings.clock.monotonic()
    try {
      if (this.#tenure !== tenure) await this.#begin(tenure)
      const ended = await this.#round(tenure)
      this.#failures = 0
      this.#failingSince = null
      return ended
    } catch (error) {
      this.#failures++
      const { log } = this.#settings
      log.warn({ reason: textOf(error), failures: this.#failures, after: this.#position }, 'relay.again')
      this.#leaveToOthers((this.#failingSince ??= began))
      return 'failed'
    }
  }
  #leaveToOthers(failingSince: number): void {
    const { clock, asideAfterMs, asideForMs, log } = this.#settings
    if (clock.monotonic() - failingSince < asideAfterMs) return
    log.warn({ failures: this.#failures, forMs: asideForMs }, 'relay.aside')
    this.#failingSince = null
    this.#lease.stepAside(asideForMs)
  }
  async #begin(tenure: Tenure): Promise<void> {
    const { journal, reader } = this.#settings
    this.#forget()
    // a save under way would move the checkpoint after it was read
    await this.#stored
    const position = await journal.checkpoint(reader)
    this.#tenure = tenure
    this.#epoch = tenure.epoch
    this.#position = this.#saved = position
    try {
      await this.#states?.begin(position)
    } catch (error) {
      this.#forget()
      throw error
    }
  }
  #forget(): void {
    this.#beginnings++
    this.#tenure = null
    this.#position = this.#saved = ''
    this.#oldest = null
    this.#states?.forget()
  }
  async #round(tenure: Tenure): Promise<Round> {
    const { journal, rowsMax } = this.#settings
    const rows = await journal.feed(this.#position, rowsMax)
    if (rows.length > 0 && !(await this.#tell(rows, tenure))) return 'barred'
    this.#states?.noted(rows, rows.length < rowsMax)
    return rows.length === rowsMax ? 'more' : 'done'
  }
  /** False: the tenure was over or may have been; nothing is remembered. */
  async #tell(rows: readonly FeedRow[], tenure: Tenure): Promise<boolean> {
    const { reactions, log, clock, saveEveryMs } = this.#settings
    this.#oldest ??= rows[0]!.at
    const records = rows.flatMap((row) => recordsOf(row, reactions, log))
    if (!this.#lease.trusted(tenure)) return false
    if (!(await this.#setAside.publish(records, () => this.#lease.trusted(tenure)))) return false
    if (this.#lease.tenure !== tenure) return false
    this.#oldest = null
    this.#position = rows.at(-1)!.position
    this.#lastRows = clock.monotonic()
    this.#rows += rows.length
    this.#messages += records.length
    this.#saveSoon(saveEveryMs)
    return true
  }

  #saveSoon(ms: number): void {
    this.#saving ??= this.#settings.clock.after(ms, () => void this.#save())
  }
  #save(): Promise<void> {
    this.#saving = null
    this.#saves = this.#saves.then(() => this.#saveNow())
    return this.#saves
  }
  async #saveNow(): Promise<void> {
    const { reader, log } = this.#settings
    const [position, tenure, beginning] = [this.#position, this.#tenure, this.#beginnings]
    const isOver = (): boolean => this.#beginnings !== beginning || this.#isReplaced()
    const waiting = this.#states?.waiting ?? false
    if (this.#isReplaced() || tenure === null || (position === this.#saved && !waiting)) return
    try {
      const flushed = (await this.#states?.flush(() => this.#lease.trusted(tenure))) ?? true
      if (!flushed) return this.#saveSoon(SAVE_AGAIN_MS)
      if (position === this.#saved || isOver()) return
      if ((await this.#saveUnder(reader, position)) && !isOver()) this.#saved = position
    } catch (error) {
      log.warn({ reason: textOf(error), position }, 'relay.checkpointLate')
      this.#saveSoon(SAVE_AGAIN_MS)
    }
  }
  /** What was published is of another server now; the next turn starts from what is recorded. */
  #isReplaced(): boolean {
    return (this.#settings.journal.incarnation ?? 0) !== this.#incarnation
  }
  /** Saves under the epoch of the tenure; when that is refused, the relay steps down. */
  async #saveUnder(reader: string, position: string): Promise<boolean> {
    const { sharing, reader: name, log } = this.#settings
    const tenure = this.#tenure
    if (tenure === null) return false
    const saving = sharing.saveUnder({ name, epoch: tenure.epoch }, reader, position)
    this.#stored = saving.catch(() => {})
    const saved = await saving
    if (saved || this.#tenure !== tenure) return saved
    log.warn({ epoch: tenure.epoch, position }, 'relay.steppedDown')
    this.#lease.lost(tenure)
    this.#forget()
    return false
  }

  /** Rests until something is written, the lease is gained, the relay is stopped, or the time is over. */
  #rest(ms: number): Promise<void> {
    return this.#pauses.pause(ms)
  }
  /** Waits after a failed round. Only a stop ends this early, not an append. */
  async #pause(ms: number): Promise<void> {
    const until = this.#settings.clock.monotonic() + ms
    for (let left = ms; this.#running && left > 0; left = until - this.#settings.clock.monotonic())
      await this.#rest(left)
    this.#woken = true
  }
  #release(drains: readonly (() => void)[]): void {
    for (const drained of drains) drained()
  }
}
