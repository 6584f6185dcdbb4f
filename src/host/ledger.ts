/**
 * The fencing ledger: what this host was last told for each slot, on its own disk.
 *
 * L1 an order's number is on disk before the order has any effect, and its result before anybody is told;
 * L2 the file is replaced whole, so a killed host finds the state before or after a write, never between;
 * L3 writes of the moment share one replacement, and one is under way at a time;
 * L4 a ledger that cannot be read, or is another host's, stops the start: forgotten numbers would let old orders through;
 * L5 it is bounded: see `prune` and `ENTRIES_MAX`.
 */
import * as v from 'valibot'
import type { Cancel, Clock } from '../clock.ts'
import { textOf } from '../bus/reason.ts'
import type { Log } from '../log.ts'
import type { Disk } from './disk.ts'
import { Entry } from './entry.ts'

/** Beyond it, the slot that was quiet longest is forgotten: what may still come for it is past its deadline. */
const ENTRIES_MAX = 50_000
/** A result that was sent need not be noted at once: it is only sent again after a kill. */
const NOTE_AFTER_MS = 1000
const RETRY = { firstMs: 50, maxMs: 5000 }

const Head = v.object({ ledger: v.literal(1), host: v.string() })

export type LedgerOptions = {
  readonly disk: Disk
  readonly path: string
  readonly host: string
  readonly clock: Clock
  readonly log: Log
}

const parse = (path: string, host: string, text: string | null): Entry[] => {
  if (text === null) return []
  const refused = (reason: string): never => {
    throw new Error(`${path}: ${reason}; the numbers of orders in it must not be lost, so the host does not start`)
  }
  const line = <Schema extends v.GenericSchema>(schema: Schema, json: string, at: number): v.InferOutput<Schema> => {
    try {
      return v.parse(schema, JSON.parse(json))
    } catch (error) {
      return refused(`line ${at + 1} cannot be read (${textOf(error)})`)
    }
  }
  const [first = '', ...rest] = text.trimEnd().split('\n')
  const head = line(Head, first, 0)
  if (head.host !== host) refused(`it belongs to the host ${head.host}, not ${host}`)
  return rest.map((json, at) => line(Entry, json, at + 1))
}

export class Ledger {
  readonly #options: LedgerOptions
  /** In the order of their last change. */
  readonly #entries = new Map<string, { readonly entry: Entry; readonly line: string }>()
  #waiting: (() => void)[] = []
  #dirty = false
  #failures = 0
  #writing: Promise<void> | null = null
  #note: Cancel | null = null
  #closed = false
  #wake: () => void = () => {}

  constructor(options: LedgerOptions, entries: readonly Entry[]) {
    this.#options = options
    for (const entry of entries) this.#put(entry)
  }

  get(slot: string): Entry | undefined {
    return this.#entries.get(slot)?.entry
  }
  all(): Entry[] {
    return [...this.#entries.values()].map(({ entry }) => entry)
  }
  /** Known at once, and resolved when it is on disk. A disk that refuses is asked again until the ledger is closed. */
  write(entry: Entry): Promise<void> {
    this.#put(entry)
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#flush()
    })
  }
  /** Known at once, on disk within a second or with the next write. */
  note(entry: Entry): void {
    this.#put(entry)
    this.#note ??= this.#options.clock.after(NOTE_AFTER_MS, () => this.#flush())
  }
  /** Forgets what is answered, was quiet for `keepMs`, and `kept` says nothing of. */
  prune(keepMs: number, kept: (entry: Entry) => boolean): number {
    const before = this.#options.clock.now() - keepMs
    const old = this.all().filter(
      (entry) => entry.state === 'done' && entry.sent && entry.finishedAt < before && !kept(entry),
    )
    for (const { slot } of old) this.#entries.delete(slot)
    if (old.length > 0) this.#flush()
    return old.length
  }
  /** `atOnce`: nothing is written any more, and who waits is never told, as in a kill. */
  async close(atOnce: boolean): Promise<void> {
    if (this.#note !== null && !atOnce) this.#flush()
    this.#note?.()
    this.#closed = atOnce || this.#failures > 0
    this.#wake()
    await this.#writing
    this.#closed = true
  }

  #put(entry: Entry): void {
    this.#entries.delete(entry.slot)
    this.#entries.set(entry.slot, { entry, line: JSON.stringify(entry) })
    if (this.#entries.size <= ENTRIES_MAX) return
    const quiet = this.all().find(({ state }) => state === 'done')
    if (quiet !== undefined) this.#entries.delete(quiet.slot)
  }
  #flush(): void {
    this.#dirty = true
    this.#writing ??= this.#run()
  }
  async #run(): Promise<void> {
    await Promise.resolve()
    while (this.#dirty && !this.#closed) {
      this.#dirty = false
      this.#note?.()
      this.#note = null
      const waiting = this.#waiting.splice(0)
      if (await this.#replaced()) waiting.forEach((written) => written())
      else this.#waiting.unshift(...waiting)
    }
    // in the same step as the last look at `dirty`: nothing asked for in between is left lying
    this.#writing = null
  }
  async #replaced(): Promise<boolean> {
    const { disk, path, host, log } = this.#options
    const lines = [...this.#entries.values()].map(({ line }) => line)
    try {
      await disk.replace(path, `${[JSON.stringify({ ledger: 1, host }), ...lines].join('\n')}\n`)
      this.#failures = 0
      return !this.#closed
    } catch (error) {
      this.#dirty = true
      log.error({ path, reason: textOf(error), failures: ++this.#failures }, 'ledger.diskRefused')
      await this.#pause(Math.min(RETRY.maxMs, RETRY.firstMs * 2 ** Math.min(this.#failures, 20)))
      return false
    }
  }
  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const cancel = this.#options.clock.after(ms, resolve)
    await promise
    cancel()
  }
}

export const openLedger = async (options: LedgerOptions): Promise<Ledger> => {
  const text = await options.disk.read(options.path)
  return new Ledger(options, parse(options.path, options.host, text))
}
