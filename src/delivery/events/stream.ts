/**
 * One stream of events: a place in the ring, or in the journal before the ring. Nothing else is kept for a client.
 *
 * STREAM-EVENTS-1 events continue from the last one sent, without a gap; where that is impossible, the client is told
 *    (`reset`);
 * STREAM-EVENTS-2 a client gets the next portion when it has read the one before. A client that falls behind the ring
 *    is disconnected (`slow`); it may reconnect, and then continues from the journal;
 * STREAM-EVENTS-3 when no event was sent for a while, a beat tells the place, so that a client that may see few events
 *    continues from there and not from its last event;
 * STREAM-EVENTS-4 nothing is sent to a caller who was not identified within the last `identifiedForMs`. A stream whose
 *    caller is no more accepted, or may read other events than at its beginning, ends (`expired`, `rights`).
 */
import type { EventStream, IdentifyAgain, Lost, Portion, PublishedEvent, StreamEnding } from '../../actors/events.ts'
import type { Cancel } from '../../vocabulary/clock.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import { createPauses } from '../../vocabulary/waiting.ts'
import type { Audience, Entry, Shows } from './entries.ts'
import type { Settings } from './options.ts'
import type { Pages } from './pages.ts'
import type { EventPosition } from './position.ts'
import type { Reader } from './reader.ts'

/** About this much is sent to a client at a time. */
const PORTION_BYTES = 64 * 1024
const PAGE_ROWS = 100

export type Shared = {
  readonly settings: Pick<
    Settings,
    'clock' | 'log' | 'random' | 'lifeMs' | 'beatMs' | 'stallMs' | 'identifiedForMs' | 'retryMs'
  >
  readonly pages: Pick<Pages, 'earlier' | 'oldest' | 'after' | 'isWholeAfter'>
  readonly reader: Pick<Reader, 'ring' | 'generation' | 'onMoved'>
  /** Limits how many streams read the journal at a time. */
  readonly inTurn: <Value>(work: () => Promise<Value>) => Promise<Value>
}
/** Which events the caller may see, and whether it still may. */
type Reading = { readonly shows: Shows; readonly audience: Audience; readonly identifyAgain: IdentifyAgain }
/** The place where the stream begins; `lost`: why the requested place cannot be used. */
export type From = { readonly place: EventPosition; readonly rest: readonly Entry[]; readonly lost: Lost | null }

export class Stream implements EventStream {
  /** Resolves when the stream ends. */
  readonly closed: Promise<StreamEnding>
  readonly #closing: (why: StreamEnding) => void
  readonly #shared: Shared
  readonly #shows: Shows
  readonly #audience: Audience
  readonly #identifyAgain: IdentifyAgain
  readonly #pauses
  readonly #unsubscribe: () => void
  readonly #endsAt: number
  #beatAt = -Infinity
  /** When the caller was last identified. */
  #identifiedAt: number
  #generation: number
  #place: EventPosition
  #lost: Lost | null
  /** Facts after the place that were read from the journal and not sent yet. */
  #pending: readonly Entry[]
  /** The end of the page that `#pending` comes from. */
  #pageEnd: EventPosition | null = null
  /** The ring number of the next entry; null: the place is before the ring, or has not been looked up. */
  #number: number | null = null
  /**
   * Another control has sent this client events that this control has not read yet; only events after the place are
   * sent.
   */
  #ahead = false
  #over: StreamEnding | null = null
  #unstalled: Cancel = () => {}
  #sent = 0

  constructor({ shows, audience, identifyAgain, ...shared }: Shared & Reading, from: From) {
    const { clock, lifeMs } = shared.settings
    const { promise, resolve } = Promise.withResolvers<StreamEnding>()
    this.closed = promise
    this.#closing = resolve
    this.#shared = shared
    this.#shows = shows
    this.#audience = audience
    this.#identifyAgain = identifyAgain
    this.#identifiedAt = clock.monotonic()
    this.#pauses = createPauses(clock)
    this.#unsubscribe = shared.reader.onMoved(this.#pauses.wake)
    this.#endsAt = clock.monotonic() + lifeMs
    this.#generation = shared.reader.generation
    this.#place = from.place
    this.#pending = from.rest
    this.#lost = from.lost
    this.#waitForClient()
  }

  /** Number of events sent to the client. */
  get sent(): number {
    return this.#sent
  }
  readonly close = (why: StreamEnding): void => {
    if (this.#over !== null) return
    this.#over = why
    this.#unstalled()
    this.#unsubscribe()
    this.#pauses.stop()
    this.#closing(why)
  }
  readonly next = async (): Promise<Portion> => {
    this.#unstalled()
    try {
      return await this.#next()
    } catch (error) {
      // the store does not answer: the client reconnects, to this control or another
      if (this.#over === null) this.#shared.settings.log.warn({ reason: textOf(error) }, 'events.failed')
      return this.#bye('failed')
    } finally {
      this.#waitForClient()
    }
  }
  #waitForClient(): void {
    const { clock, stallMs } = this.#shared.settings
    if (this.#over === null) this.#unstalled = clock.after(stallMs, () => this.close('stalled'))
  }

  async #next(): Promise<Portion> {
    const { clock } = this.#shared.settings
    for (;;) {
      await this.#identifyIfDue()
      const portion = this.#due() ?? (await this.#reset()) ?? (await this.#found())
      if (portion !== null) return portion
      if (this.#isMoved()) continue
      const now = clock.monotonic()
      await this.#pauses.pause(Math.max(0, Math.min(this.#beatAt, this.#endsAt) - now))
    }
  }
  /** Closes the stream if its caller may not read it any more. */
  async #identifyIfDue(): Promise<void> {
    const { clock, identifiedForMs } = this.#shared.settings
    const now = clock.monotonic()
    if (this.#over !== null || now < this.#identifiedAt + identifiedForMs) return
    const why = await Promise.race([this.#identifyAgain(), this.closed])
    this.#identifiedAt = now
    if (why !== null) this.close(why)
  }
  /** Whether there may be something to send at once. */
  #isMoved(): boolean {
    const { generation, ring } = this.#shared.reader
    if (this.#over !== null || this.#lost !== null || this.#generation !== generation) return true
    return this.#number === null || this.#number < ring.end
  }
  /** The messages that come before any event. */
  #due(): Portion | null {
    const now = this.#shared.settings.clock.monotonic()
    if (this.#over !== null) return this.#bye(this.#over)
    if (now >= this.#endsAt) return this.#bye('lifetime')
    return this.#lost === null && this.#generation === this.#shared.reader.generation && now >= this.#beatAt
      ? this.#beat()
      : null
  }
  #bye(why: StreamEnding): Portion {
    this.close(why)
    const { retryMs, random } = this.#shared.settings
    return { kind: 'bye', why: this.#over ?? why, retryMs: Math.round(retryMs * (1 + random())) }
  }
  #said(): void {
    const { clock, beatMs } = this.#shared.settings
    this.#beatAt = clock.monotonic() + beatMs
  }
  #beat(): Portion {
    const { reader, settings } = this.#shared
    this.#said()
    return { kind: 'beat', id: this.#place.id, newest: reader.ring.head.id, at: settings.clock.now() }
  }
  async #reset(): Promise<Portion | null> {
    const { reader, pages } = this.#shared
    const anew = this.#generation !== reader.generation
    if (this.#lost === null && !anew) return null
    const why = this.#lost ?? 'unknown'
    const oldest = await pages.oldest()
    this.#generation = reader.generation
    this.#lost = null
    this.#pending = []
    this.#place = reader.ring.head
    this.#number = reader.ring.end
    this.#ahead = false
    this.#said()
    return { kind: 'reset', why, oldest: oldest.id, id: this.#place.id }
  }

  async #found(): Promise<Portion | null> {
    if (this.#pending.length > 0) return this.#fromPending()
    if (this.#number !== null) return this.#fromRing(this.#number)
    const { reader, pages } = this.#shared
    if (!pages.earlier(this.#place, reader.ring.floor)) {
      this.#ahead = pages.earlier(reader.ring.head, this.#place)
      this.#number = reader.ring.after(this.#place)
      return this.#fromRing(this.#number)
    }
    await this.#readPage()
    return null
  }
  async #readPage(): Promise<void> {
    const { pages, inTurn, reader } = this.#shared
    const { floor } = reader.ring
    const page = await inTurn(() => pages.after(this.#place, PAGE_ROWS, this.#audience))
    const gap = page === null || (page.end === this.#place && !(await pages.isWholeAfter(this.#place)))
    if (gap) {
      this.#lost = 'archived'
      return
    }
    this.#pending = page.entries
    // an empty page with nothing archived after it: no events lie between the place and the beginning of the ring
    this.#place = page.end === this.#place && page.last ? floor : page.entries.length === 0 ? page.end : this.#place
    this.#pageEnd = page.end
  }
  #fromPending(): Portion | null {
    const events: PublishedEvent[] = []
    let [bytes, at] = [0, 0]
    while (at < this.#pending.length && bytes < PORTION_BYTES) {
      const entry = this.#pending[at++]!
      this.#place = entry.place
      const shown = this.#shows(entry)
      if (shown === null) continue
      events.push(shown)
      bytes += entry.bytes
    }
    this.#pending = this.#pending.slice(at)
    if (this.#pending.length === 0 && this.#pageEnd !== null) this.#place = this.#pageEnd
    return this.#portion(events)
  }
  #fromRing(from: number): Portion | null {
    const { ring } = this.#shared.reader
    if (from < ring.first) return this.#bye('slow')
    const { earlier } = this.#shared.pages
    const events: PublishedEvent[] = []
    let [bytes, number] = [0, from]
    while (number < ring.end && bytes < PORTION_BYTES) {
      const entry = ring.entry(number++)
      this.#ahead = this.#ahead && !earlier(this.#place, entry.place)
      if (this.#ahead) continue
      this.#place = entry.place
      const shown = this.#shows(entry)
      if (shown === null) continue
      events.push(shown)
      bytes += entry.bytes
    }
    this.#number = number
    if (number === ring.end && !this.#ahead) this.#place = ring.head
    return this.#portion(events)
  }
  #portion(events: readonly PublishedEvent[]): Portion | null {
    if (events.length === 0) return null
    this.#sent += events.length
    this.#said()
    return { kind: 'events', events }
  }
}
