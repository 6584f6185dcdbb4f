/**
 * The messages of one partition that a member has fetched and not finished. They are started in order, up to `window`
 * at once. The rules are those of the in-process bus (`cursor.ts`): CURSOR-1 the position is the offset of the oldest
 * message not taken; CURSOR-2 with a window of one, no message is started while another is in progress or waits for a
 * retry; CURSOR-3 with a larger window, a failed message blocks the later ones of its key; CURSOR-5 a message that has
 * stepped aside does not count in the window.
 */
import { backoffMs, type Backoff } from '../../vocabulary/waiting.ts'
import type { Cancel, Clock } from '../../vocabulary/clock.ts'
import { ASIDE_MAX, type Delivered, type StepAside } from '../port.ts'

export type LaneOptions = {
  readonly clock: Clock
  readonly window: number
  readonly retry: Backoff
  readonly take: (message: Delivered, stepAside: StepAside) => Promise<void>
  readonly failed: (message: Delivered, error: unknown) => void
  /** Called when a message is finished. */
  readonly moved: () => void
}
type Entry = {
  readonly offset: number
  /** Null when the message is finished: then only its offset matters. */
  message: Delivered | null
  readonly bytes: number
  state: 'waiting' | 'running' | 'aside' | 'held' | 'done'
  tries: number
}

/** The approximate memory that the message needs, in bytes. */
const bytesOf = ({ key, value, headers }: Delivered): number =>
  Object.entries(headers).reduce(
    (sum, [name, text]) => sum + 2 * (name.length + text.length),
    2 * (key.length + value.length) + 400,
  )

export class Lane {
  readonly #options: LaneOptions
  readonly #entries: Entry[] = []
  readonly #timers = new Set<Cancel>()
  #next = -1
  /** How many messages are in progress, and how many of these have stepped aside. */
  #running = 0
  #aside = 0
  #bytes = 0
  #closed = false
  #idle: (() => void) | null = null

  constructor(options: LaneOptions) {
    this.#options = options
  }

  /** The offset of the oldest message that is not taken; -1 before the first fetch. */
  get position(): number {
    return this.#entries[0]?.offset ?? this.#next
  }
  /** The offset of the next message to fetch. */
  get next(): number {
    return this.#next
  }
  get size(): { readonly count: number; readonly bytes: number } {
    return { count: this.#entries.length, bytes: this.#bytes }
  }
  get inHand(): number {
    return this.#running
  }

  /**
   * Skips messages that the lane already has: after a rebalance the broker sends uncommitted ones again. `end`: the
   * offset after the last one.
   */
  put(messages: readonly Delivered[], end: number): void {
    for (const message of messages.filter(({ offset }) => offset >= this.#next)) {
      const bytes = bytesOf(message)
      this.#entries.push({ offset: message.offset, message, bytes, state: 'waiting', tries: 0 })
      this.#bytes += bytes
    }
    this.#next = Math.max(this.#next, end)
    this.#pump()
  }
  /** Starts no more messages. Resolves when none is in progress. */
  async close(): Promise<void> {
    this.#closed = true
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
    if (this.#running === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#idle = resolve
    await promise
  }

  #pump(): void {
    if (this.#closed) return
    const { window } = this.#options
    const barred = new Set<string>()
    const ahead = window === 1 ? 1 : this.#entries.length
    for (let at = 0; at < ahead && this.#running - this.#aside < window; at++) {
      const entry = this.#entries[at]
      if (!entry?.message) continue
      if (entry.state === 'waiting' && !barred.has(entry.message.key)) this.#begin(entry, entry.message)
      if (entry.tries > 0) barred.add(entry.message.key)
    }
  }
  #begin(entry: Entry, message: Delivered): void {
    entry.state = 'running'
    this.#running++
    const ok = (): void => this.#taken(entry)
    const fail = (error: unknown): void => this.#again(entry, message, error)
    const { take } = this.#options
    void Promise.resolve(message)
      .then((given) => take(given, () => this.#stepAside(entry)))
      .then(ok, fail)
  }
  #stepAside(entry: Entry): boolean {
    if (entry.state === 'aside') return true
    if (entry.state !== 'running' || this.#options.window === 1 || this.#aside >= ASIDE_MAX) return false
    entry.state = 'aside'
    this.#aside++
    this.#pump()
    return true
  }
  #taken(entry: Entry): void {
    this.#ended(entry, 'done')
    this.#bytes -= entry.bytes
    entry.message = null
    while (this.#entries[0]?.state === 'done') this.#entries.shift()
    this.#options.moved()
    this.#pump()
  }
  #again(entry: Entry, message: Delivered, error: unknown): void {
    const { clock, retry, failed } = this.#options
    failed(message, error)
    const ms = backoffMs(retry, ++entry.tries)
    this.#ended(entry, 'held')
    if (this.#closed) return
    const cancel = clock.after(ms, () => {
      this.#timers.delete(cancel)
      entry.state = 'waiting'
      this.#pump()
    })
    this.#timers.add(cancel)
    this.#pump()
  }
  #ended(entry: Entry, state: 'done' | 'held'): void {
    if (entry.state === 'aside') this.#aside--
    entry.state = state
    if (--this.#running === 0) this.#idle?.()
  }
}
