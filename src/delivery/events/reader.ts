/**
 * Reads the journal once for all streams of the process.
 *
 * READER-1 facts are told in the order of the feed, which is the order of the relay: no row is read before all older transactions have ended;
 * READER-2 it reads while there are streams. It is woken by appends of this process and by the hints for the relay, and looks by itself as well;
 * READER-3 when another server may hold the journal, the last row that was told must still be there. If it is not, or rows after it are
 *    in the archive, the ring begins anew, and every stream tells its client (`reset`).
 */
import type { Cancel } from '../../clock.ts'
import { textOf } from '../../errorText.ts'
import { type Pauses, backoffMs, createPauses } from '../../waiting.ts'
import type { Settings } from './options.ts'
import type { Pages } from './pages.ts'
import { Ring } from './ring.ts'

export class Reader {
  readonly #settings: Settings
  readonly #pages: Pages
  readonly #pauses: Pauses
  readonly #listeners = new Set<() => void>()
  #ring: Ring | null = null
  #generation = 0
  #incarnation = 0
  /** The ring that is being begun. */
  #beginning: Promise<void> | null = null
  #users = 0
  /** The loop that reads at present. */
  #loop: object | null = null
  #woken = false
  #failures = 0
  #lastRows = -Infinity
  #linger: Cancel = () => {}
  #unsubscribe: readonly (() => void)[] = []

  constructor(settings: Settings, pages: Pages) {
    this.#settings = settings
    this.#pages = pages
    this.#pauses = createPauses(settings.clock)
  }

  /** Changes when the ring begins anew. */
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
  /** Begins to read if nobody did. Rejects with `Unreadable`; then it was not entered. */
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
  /** The listener is called when there is something new, or the ring began anew. */
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
        await this.#pauses.pause(poll.leastMs)
        if (!this.#woken) await this.#pauses.pause(this.#restMs())
      } catch (error) {
        if (this.#failures++ === 0) log.warn({ reason: textOf(error) }, 'events.unread')
        await this.#pauses.pause(backoffMs(retry, this.#failures))
      }
    }
  }
  #restMs(): number {
    const { poll, clock, journal } = this.#settings
    // what is written by this process itself wakes it
    if (journal.exclusive) return poll.aloneMs
    return clock.monotonic() - this.#lastRows < poll.busyForMs ? poll.busyMs : poll.idleMs
  }
  /** Whether there may be more to read at once. */
  async #read(): Promise<boolean> {
    const { journal, rowsMax, clock } = this.#settings
    const [ring, incarnation] = [this.#ring, journal.incarnation ?? 0]
    if (ring === null) return false
    if (incarnation !== this.#incarnation && (await this.#pages.start(ring.head)) === 'unknown') return this.#again()
    this.#incarnation = incarnation
    const page = await this.#pages.after(ring.head, rowsMax)
    // what was read may be of two servers
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
