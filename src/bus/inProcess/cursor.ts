/**
 * Delivery of one partition to one consumer group, with the group's position.
 *
 * CURSOR-1 the position moves past a message only after its `take` resolved, and never moves back;
 * CURSOR-2 with a window of one, no message is started while another is in progress or waits for a retry;
 * CURSOR-3 with a larger window, messages are started in order; a failed one blocks the later messages of its key that
 *    are not started yet, until it is taken;
 * CURSOR-4 messages in progress at a killed member are started again by the next member, and their results at the
 *    killed one are ignored;
 * CURSOR-5 a message that has stepped aside (BUS-6) does not count in the window.
 */
import { type Backoff, backoffMs } from '../../vocabulary/waiting.ts'
import type { Cancel, Clock } from '../../vocabulary/clock.ts'
import type { Partition, Reader } from './partition.ts'
import { ASIDE_MAX, type Delivered, type StepAside } from '../port.ts'

export type Member = {
  readonly take: (message: Delivered, stepAside: StepAside) => Promise<void>
  readonly window: number
  /** Number of `take` calls in progress. */
  inHand: number
  /** Called when a `take` call has ended. */
  readonly ended: () => void
}

/**
 * For simulations: decides which of the possible next messages is delivered, when, and whether it is delivered again
 * later.
 */
export type Choice = { readonly index: number; readonly delayMs?: number; readonly againAfterMs?: number }
/**
 * The candidates are the oldest pending message of each key; never empty. A delayed message is delivered when its delay
 * is over.
 */
export type Mangle = (candidates: readonly Delivered[], group: string) => Choice

export type CursorOptions = {
  readonly partition: Partition
  readonly group: string
  readonly start: number
  /** The member that this partition is assigned to, if any. */
  readonly owner: () => Member | undefined
  readonly clock: Clock
  readonly retry: Backoff
  readonly mangle?: Mangle | undefined
  readonly failed: (message: Delivered, error: unknown) => void
  /** Called with the new position: all messages before the offset are taken. */
  readonly moved: (offset: number) => void
}

/** `spare`: a duplicate delivery of a message that was already taken. */
type Run = {
  readonly member: Member
  readonly message: Delivered
  readonly spare: boolean
  readonly againAfterMs?: number | undefined
  aside?: boolean
}
/** How many messages from the position on may be started while the message at the position is not finished. */
const LOOK_AHEAD = 4096
/** `mangle` may choose among this many messages at least, if so many are pending. */
const CANDIDATES = 16

export class Cursor implements Reader {
  readonly #options: CursorOptions
  readonly #runs = new Set<Run>()
  /**
   * Sets of offsets: in progress; finished, but above the position; waiting for a retry or a delay; and ready after
   * that wait.
   */
  readonly #active = new Set<number>()
  readonly #finished = new Set<number>()
  readonly #held = new Map<number, Cancel>()
  readonly #ripe = new Set<number>()
  readonly #tries = new Map<number, number>()
  readonly #spares: Delivered[] = []
  #asides = 0
  #position: number
  #scheduled = false

  constructor(options: CursorOptions) {
    this.#options = options
    this.#position = options.start
  }

  get position(): number {
    return this.#position
  }
  get live(): boolean {
    return this.#options.owner() !== undefined
  }
  readonly wake = (): void => {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(this.#pump)
  }
  /** Ends a member as if its process was killed. */
  drop(member: Member): void {
    for (const run of [...this.#runs].filter((run) => run.member === member)) this.#forget(run)
    this.wake()
  }
  close(): void {
    for (const cancel of this.#held.values()) cancel()
    this.#held.clear()
  }

  readonly #pump = (): void => {
    this.#scheduled = false
    const { base } = this.#options.partition
    // messages that the partition deleted before they were read (PARTITION-3) are skipped
    if (this.#position < base) this.#position = base
    this.#advance()
    while (this.#step()) continue
  }
  #step(): boolean {
    const member = this.#options.owner()
    if (member === undefined || this.#runs.size - this.#asides >= member.window) return false
    const spare = this.#spares.shift()
    if (spare === undefined) return this.#choose(member, this.#candidates(member.window))
    this.#begin({ member, message: spare, spare: true })
    return true
  }
  #candidates(window: number): readonly Delivered[] {
    const { partition, mangle } = this.#options
    const most = mangle ? Math.max(window, CANDIDATES) : 1
    const ahead = window > 1 ? LOOK_AHEAD : most
    const until = Math.min(partition.end, this.#position + ahead)
    const barred = new Set<string>()
    const found: Delivered[] = []
    for (let offset = this.#position; offset < until && found.length < most; offset++) {
      const message = partition.at(offset)!
      if (this.#finished.has(offset)) continue
      const busy = this.#active.has(offset)
      if (!busy && !this.#held.has(offset) && !barred.has(message.key)) found.push(message)
      // with a window larger than one, a message may start while an earlier one of its key is in progress
      if (!busy || window === 1 || this.#tries.has(offset)) barred.add(message.key)
    }
    return found
  }
  #choose(member: Member, found: readonly Delivered[]): boolean {
    const { mangle, group } = this.#options
    const message = mangle ? found.find(({ offset }) => this.#ripe.has(offset)) : found[0]
    if (message !== undefined) this.#begin({ member, message, spare: false })
    if (message !== undefined || !mangle || found.length === 0) return message !== undefined
    const { index, delayMs = 0, againAfterMs } = mangle(found, group)
    const chosen = found[Math.abs(Math.trunc(index)) % found.length]!
    if (delayMs > 0) this.#hold(chosen.offset, delayMs)
    else this.#begin({ member, message: chosen, spare: false, againAfterMs })
    return true
  }
  #begin(run: Run): void {
    const { member, message, spare } = run
    this.#runs.add(run)
    if (!spare) this.#active.add(message.offset)
    this.#ripe.delete(message.offset)
    member.inHand++
    const ok = (): void => this.#ended(run, () => this.#taken(run))
    const fail = (error: unknown): void => this.#ended(run, () => this.#again(run, error))
    void Promise.resolve(message)
      .then((given) => member.take(given, () => this.#stepAside(run)))
      .then(ok, fail)
  }
  #stepAside(run: Run): boolean {
    if (run.aside) return true
    if (!this.#runs.has(run) || run.member.window === 1 || this.#asides >= ASIDE_MAX) return false
    run.aside = true
    this.#asides++
    this.wake()
    return true
  }
  #ended(run: Run, follow: () => void): void {
    const counts = this.#forget(run)
    run.member.inHand--
    run.member.ended()
    if (!counts) return
    if (!run.spare) follow()
    this.wake()
  }
  #forget(run: Run): boolean {
    if (!this.#runs.delete(run)) return false
    if (!run.spare) this.#active.delete(run.message.offset)
    if (run.aside) this.#asides--
    return true
  }
  #taken({ message, againAfterMs }: Run): void {
    this.#tries.delete(message.offset)
    this.#finished.add(message.offset)
    this.#advance()
    this.#options.partition.moved()
    if (againAfterMs === undefined) return
    this.#options.clock.after(againAfterMs, () => {
      this.#spares.push(message)
      this.wake()
    })
  }
  #again({ message }: Run, error: unknown): void {
    const { retry, failed } = this.#options
    const failures = (this.#tries.get(message.offset) ?? 0) + 1
    this.#tries.set(message.offset, failures)
    failed(message, error)
    this.#hold(message.offset, backoffMs(retry, failures))
  }
  #hold(offset: number, ms: number): void {
    const cancel = this.#options.clock.after(ms, () => {
      this.#held.delete(offset)
      this.#ripe.add(offset)
      this.wake()
    })
    this.#held.set(offset, cancel)
  }
  #advance(): void {
    for (const offset of this.#finished) if (offset < this.#position) this.#finished.delete(offset)
    const before = this.#position
    while (this.#finished.delete(this.#position)) this.#position++
    if (this.#position > before) this.#options.moved(this.#position)
  }
}
