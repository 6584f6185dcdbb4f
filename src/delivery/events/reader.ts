/**
 * Reads the journal once for all streams of the process.
 *
 * READER-1 facts are sent in the order of the feed, which is also the relay's: no row is read before all older
 *    transactions have ended;
 * READER-2 it reads while streams are open. Appends of this process and hints for the relay wake it, and it polls as
 *    well;
 * READER-3 after a possible failover of the database, the last row that was sent must still exist. If it does not, or
 *    rows after it are in the archive, the ring starts empty, and every stream tells its client (`reset`).
 */
import type { Cancel } from '../../vocabulary/clock.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import { type Pauses, backoffMs, createPauses } from '../../vocabulary/waiting.ts'
import type { Settings } from './options.ts'
import type { Pages } from './pages.ts'
import { Ring } from './ring.ts'

type ReaderSettings = Pick<
  Settings,
  'clock' | 'log' | 'hints' | 'hint' | 'poll' | 'retry' | 'rowsMax' | 'ringBytes' | 'lingerMs'
> & { readonly journal: Pick<Settings['journal'], 'onAppended' | 'exclusive' | 'incarnation'> }
type ReaderPages = Pick<Pages, 'earlier' | 'newest' | 'start' | 'after'>

export class Reader {
  readonly #settings: ReaderSettings
  readonly #pages: ReaderPages
  /** Before each next read: only a stop ends it early. An append meanwhile is remembered (`#woken`). */
  readonly #leastPauses: Pauses
  /** After that: appends and hints end it early. */
  readonly #pauses: Pauses
  readonly #listeners = new Set<() => void>()
  #ring: Ring | null = null
  #generation = 0
  #incarnation = 0
  /** The ring that is being started. */
  #beginning: Promise<void> | null = null
  #users = 0
  /** The loop that reads now. */
  #loop: object | null = null
  #woken = false
  #failures = 0
  #lastRows = -Infinity
  #linger: Cancel = () => {}
  #unsubscribe: readonly (() => void)[] = []

  constructor(settings: ReaderSettings, pages: ReaderPages) {
    this.#settings = settings
    this.#pages = pages
    this.#pauses = createPauses(settings.clock)
    this.#leastPauses = createPauses(settings.clock)
  }

  /** Changes whenever the ring starts empty. */
  get generation(): number {
    return this.#generation
  }
  /** Only between `enter` and `leave`. */
  get ring(): Ring {
    if (this.#ring === null) throw new Error('nobody reads the journal for streams')
    return this.#ring
  }
  get bytes(): number {
    return this.#ring?.bytes ?? 0
  }
  /** Starts the loop if none runs. Rejects with `Unreadable`; then the call does not count as entered. */
  async enter(): Promise<void> {
    this.#users++
    this.#linger()
    try {
      if (this.#ring === null) await (this.#beginning ??= this.#begin().finally(() => (this.#beginning = null)))
    } catch (error) {
      this.leave()
      throw error
    }
    this.#run()
  }
  leave(): void {
    this.#users--
    if (this.#users > 0) return
    this.#linger = this.#settings.clock.after(this.#settings.lingerMs, () => {
      if (this.#users === 0) this.stop()
    })
  }
  /** The listener is called when there are new events, or the ring has started empty. */
  readonly onMoved = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
  stop(): void {
    this.#linger()
    this.#loop = null
    this.#ring = null
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.#unsubscribe = []
    this.#pauses.wake()
    this.#leastPauses.wake()
  }

  async #begin(): Promise<void> {
    this.#incarnation = this.#settings.journal.incarnation ?? 0
    this.#ring = new Ring(await this.#pages.newest(), this.#settings.ringBytes, this.#pages.earlier)
    this.#generation++
  }
  #run(): void {
    if (this.#loop !== null) return
    const loop = (this.#loop = {})
    const { journal, hints, hint } = this.#settings
    this.#unsubscribe = [journal.onAppended(this.#wake), hints.onHint(hint, this.#wake)]
    void this.#keepReading(() => this.#loop === loop)
  }
  readonly #wake = (): void => {
    this.#woken = true
    this.#pauses.wake()
  }
  async #keepReading(isCurrent: () => boolean): Promise<void> {
    const { log, retry, poll } = this.#settings
    while (isCurrent()) {
      this.#woken = false
      try {
        const more = await this.#read()
        this.#failures = 0
        if (more) continue
        await this.#pauseBetween(this.#restMs(), isCurrent)
      } catch (error) {
        if (this.#failures++ === 0) log.warn({ reason: textOf(error) }, 'events.unread')
        await this.#pauseBetween(backoffMs(retry, this.#failures) - poll.leastMs, isCurrent)
      }
    }
  }
  /** `ms`: after the least pause, unless there is an append. */
  async #pauseBetween(ms: number, isCurrent: () => boolean): Promise<void> {
    await this.#leastPauses.pause(this.#settings.poll.leastMs)
    if (!this.#woken && isCurrent()) await this.#pauses.pause(ms)
  }
  #restMs(): number {
    const { poll, clock, journal } = this.#settings
    // appends of this process wake the loop
    if (journal.exclusive) return poll.aloneMs
    return clock.monotonic() - this.#lastRows < poll.busyForMs ? poll.busyMs : poll.idleMs
  }
  /** Whether the next read may find more rows at once. */
  async #read(): Promise<boolean> {
    const { journal, rowsMax, clock } = this.#settings
    const [ring, incarnation] = [this.#ring, journal.incarnation ?? 0]
    if (ring === null) return false
    if (incarnation !== this.#incarnation && (await this.#pages.start(ring.head)) === 'unknown') return this.#again()
    this.#incarnation = incarnation
    const page = await this.#pages.after(ring.head, rowsMax)
    // the rows may come from two servers
    if (this.#ring !== ring || (journal.incarnation ?? 0) !== incarnation) return true
    if (page === null) return this.#again()
    if (page.end === ring.head) return false
    ring.add(page.entries, page.end)
    this.#lastRows = clock.monotonic()
    this.#tell()
    return !page.last
  }
  async #again(): Promise<boolean> {
    this.#settings.log.warn({ after: this.#ring?.head.id }, 'events.reset')
    await this.#begin()
    this.#tell()
    return true
  }
  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}
