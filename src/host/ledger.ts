/**
 * The fencing ledger: what this host was last told for each slot, on its own disk.
 *
 * LEDGER-1 an order's number is on disk before the order has any effect, and its result before anybody is told;
 * LEDGER-2 a write adds whole lines, the last line of a slot counts; a torn last line was never acted upon, and is left out;
 *    the file is replaced whole when it is new, torn, long, or after a failed write: nothing is added behind half a line;
 * LEDGER-3 what is asked for in one moment is one write, and one is under way at a time;
 * LEDGER-4 a ledger that cannot be read, or is another host's, stops the start: forgotten numbers would let old orders through;
 * LEDGER-5 it is bounded: see `prune` and `ENTRIES_MAX`.
 */
import { type Pauses, createPauses, backoffMs } from '../waiting.ts'
import * as v from 'valibot'
import type { Cancel, Clock } from '../clock.ts'
import { textOf } from '../errorText.ts'
import type { Log } from '../log.ts'
import type { Disk } from './disk.ts'
import { Entry } from './entry.ts'

/** Beyond it, the slot that was quiet longest is forgotten: what may still come for it is past its deadline. */
const ENTRIES_MAX = 50_000
/** A result that was sent need not be noted at once: it is only sent again after a kill. */
const NOTE_AFTER_MS = 1000
const RETRY = { firstMs: 50, maxMs: 5000 }
/** Lines beyond twice the entries, before the file is written anew. */
const SPARE_LINES_MAX = 4096

const Head = v.object({ ledger: v.literal(1), host: v.string() })

export type LedgerOptions = {
  readonly disk: Disk
  readonly path: string
  readonly host: string
  readonly clock: Clock
  readonly log: Log
}

type Found = { readonly entries: readonly Entry[]; readonly lines: number; readonly torn: boolean }
const parse = (path: string, host: string, text: string | null): Found => {
  if (text === null) return { entries: [], lines: 0, torn: true }
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
  const [first = '', ...rest] = text.split('\n')
  const head = line(Head, first, 0)
  if (head.host !== host) refused(`it belongs to the host ${head.host}, not ${host}`)
  // what stands behind the last line end was not written to its end
  const torn = rest.pop() !== ''
  return { entries: rest.map((json, at) => line(Entry, json, at + 1)), lines: rest.length, torn }
}

export class Ledger {
  readonly #options: LedgerOptions
  /** In the order of their last change. */
  readonly #entries = new Map<string, { readonly entry: Entry; readonly line: string }>()
  #waiting: (() => void)[] = []
  /** Not in the file yet. */
  #added: string[] = []
  #lines: number
  #whole: boolean
  #dirty = false
  #failures = 0
  #writing: Promise<void> | null = null
  #note: Cancel | null = null
  #closed = false
  readonly #pauses: Pauses

  constructor(options: LedgerOptions, { entries, lines, torn }: Found) {
    this.#options = options
    this.#pauses = createPauses(options.clock)
    for (const entry of entries) this.#put(entry)
    this.#added = []
    this.#lines = lines
    this.#whole = torn
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
    if (old.length === 0) return 0
    this.#whole = true
    this.#flush()
    return old.length
  }
  /** `atOnce`: nothing is written any more, and who waits is never told, as in a kill. */
  async close(atOnce: boolean): Promise<void> {
    if (this.#note !== null && !atOnce) this.#flush()
    this.#note?.()
    this.#closed = atOnce || this.#failures > 0
    this.#pauses.wake()
    await this.#writing
    this.#closed = true
  }

  #put(entry: Entry): void {
    const line = JSON.stringify(entry)
    this.#entries.delete(entry.slot)
    this.#entries.set(entry.slot, { entry, line })
    this.#added.push(line)
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
      if (await this.#stored()) waiting.forEach((written) => written())
      else this.#waiting.unshift(...waiting)
    }
    // in the same step as the last look at `dirty`: nothing asked for in between is left lying
    this.#writing = null
  }
  async #stored(): Promise<boolean> {
    const { path, log } = this.#options
    const added = this.#added.splice(0)
    try {
      await this.#save(added)
      this.#failures = 0
      return !this.#closed
    } catch (error) {
      this.#dirty = this.#whole = true
      log.error({ path, reason: textOf(error), failures: ++this.#failures }, 'ledger.diskRefused')
      await this.#pauses.pause(backoffMs(RETRY, this.#failures))
      return false
    }
  }
  async #save(added: readonly string[]): Promise<void> {
    const { disk, path, host } = this.#options
    if (!this.#whole && this.#lines + added.length <= 2 * this.#entries.size + SPARE_LINES_MAX) {
      this.#lines += added.length
      if (added.length > 0) await disk.append(path, `${added.join('\n')}\n`)
      return
    }
    const lines = [...this.#entries.values()].map(({ line }) => line)
    this.#whole = false
    this.#lines = lines.length
    await disk.replace(path, `${[JSON.stringify({ ledger: 1, host }), ...lines].join('\n')}\n`)
  }
}

export const openLedger = async (options: LedgerOptions): Promise<Ledger> => {
  const text = await options.disk.read(options.path)
  return new Ledger(options, parse(options.path, options.host, text))
}
