/**
 * The fencing ledger: the last order of each slot and its result, on the host's own disk.
 *
 * LEDGER-1 an order's number is on disk before the order has any effect, and its result before it is sent;
 * LEDGER-2 a write adds whole lines, and the last line of a slot counts. An incomplete last line never had an effect
 *    and is ignored. The whole file is replaced when it is new, incomplete or long, or after a failed write, so that
 *    nothing is added after half a line;
 * LEDGER-3 entries that are noted in the same step become one write, and one write is in progress at a time;
 * LEDGER-4 a ledger that cannot be read, or belongs to another host, prevents the start: forgotten numbers would let
 *    old orders through;
 * LEDGER-5 the ledger is bounded: see `prune` and `ENTRIES_MAX`. A slot that may be prepared is forgotten last;
 * LEDGER-6 entries are kept as of where their cards are (`whereabouts.ts`), also those that are written later.
 */
import { type Pauses, createPauses, backoffMs } from '../vocabulary/waiting.ts'
import type { HostName, SlotUuid } from '../vocabulary/identifiers.ts'
import * as v from 'valibot'
import type { Cancel, Clock } from '../vocabulary/clock.ts'
import { textOf } from '../vocabulary/errorText.ts'
import type { Log } from '../vocabulary/log.ts'
import type { Disk } from './disk.ts'
import { Entry, mayBePrepared } from './entry.ts'
import { Fence } from './fence.ts'

/**
 * Above this number, the slot that had no order for the longest time is forgotten: an order that still comes for it is
 * past its deadline.
 */
const ENTRIES_MAX = 50_000
/** The mark that a result was sent is written with this delay: if a kill prevents it, the result is only sent again. */
const NOTE_AFTER_MS = 1000
const RETRY = { firstMs: 50, maxMs: 5000 }
/** How many lines beyond twice the number of entries the file may have before it is written anew. */
const SPARE_LINES_MAX = 4096

const Head = v.object({
  ledger: v.literal(1),
  host: v.string(),
  /** Number of the start that began the ledger. Ledgers of releases up to 0.2.0 lack it: they are complete. */
  from: v.optional(v.number()),
  /** True: the control has named the slots that it holds prepared on this host. */
  recalled: v.optional(v.boolean()),
})

export type LedgerOptions = {
  readonly disk: Disk
  readonly path: string
  readonly host: HostName
  readonly clock: Clock
  readonly log: Log
  /** Number of this start, with which a new ledger begins. */
  readonly boot: number
}

type Found = {
  readonly entries: readonly Entry[]
  readonly lines: number
  readonly torn: boolean
  readonly from: number | undefined
  readonly recalled: boolean
}
const parse = ({ path, host, boot }: LedgerOptions, text: string | null): Found => {
  if (text === null) return { entries: [], lines: 0, torn: true, from: boot, recalled: false }
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
  // text after the last line end is an incomplete line
  const torn = rest.pop() !== ''
  return {
    entries: rest.map((json, at) => line(Entry, json, at + 1)),
    lines: rest.length,
    torn,
    from: head.from,
    recalled: head.recalled ?? false,
  }
}

export class Ledger {
  /** Number of the start that began the ledger; undefined: the ledger is of a release up to 0.2.0, and complete. */
  readonly from: number | undefined
  readonly fence = new Fence()
  readonly #options: LedgerOptions
  /** Entries in the order of their last change. */
  readonly #entries = new Map<string, { readonly entry: Entry; readonly line: string }>()
  #waiting: (() => void)[] = []
  /** Lines that are not in the file yet. */
  #added: string[] = []
  #recalled: boolean
  #lines: number
  #whole: boolean
  #dirty = false
  #failures = 0
  #writing: Promise<void> | null = null
  #note: Cancel | null = null
  #closed = false
  readonly #pauses: Pauses
  #where: (entry: Entry) => Entry = (entry) => entry

  constructor(options: LedgerOptions, { entries, lines, torn, from, recalled }: Found) {
    this.#options = options
    this.from = from
    this.#recalled = recalled
    this.#pauses = createPauses(options.clock)
    for (const entry of entries) this.#put(entry)
    this.#added = []
    this.#lines = lines
    this.#whole = torn
  }

  get(slot: SlotUuid): Entry | undefined {
    return this.#entries.get(slot)?.entry
  }
  all(): Entry[] {
    return [...this.#entries.values()].map(({ entry }) => entry)
  }
  /**
   * Remembers the entry at once and resolves when it is on disk. A write that fails is tried again until the ledger is
   * closed.
   */
  write(entry: Entry): Promise<void> {
    this.#put(entry)
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#flush()
    })
  }
  /** True: the ledger may lack slots that are prepared, so the control has to be asked. */
  get asks(): boolean {
    return this.from !== undefined && !this.#recalled
  }
  /** Notes that the control has answered. Resolves when this is on disk, with all entries written before. */
  complete(): Promise<void> {
    this.#recalled = this.#whole = true
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#flush()
    })
  }
  /** Remembers the entry at once; it is on disk within a second or with the next write. */
  note(entry: Entry): void {
    this.#put(entry)
    this.#note ??= this.#options.clock.after(NOTE_AFTER_MS, () => this.#flush())
  }
  /** Moves the entries, these and later ones, to where their cards are now (LEDGER-6). */
  place(where: (entry: Entry) => Entry): void {
    this.#where = where
    const { host, log } = this.#options
    for (const entry of this.all()) {
      const { slot, deployable, away } = where(entry)
      if (deployable === entry.deployable && away === entry.away) continue
      log.warn({ host, slot, was: entry.deployable, is: away ? 'away' : deployable }, 'ledger.cardMoved')
      void this.write(entry)
    }
  }
  /**
   * Forgets slots that are not prepared, whose result was sent, that had no order for `keepMs`, and that `kept` does
   * not name.
   */
  prune(keepMs: number, kept: (entry: Entry) => boolean): number {
    const before = this.#options.clock.now() - keepMs
    const old = this.all().filter(
      (entry) =>
        entry.state === 'done' && entry.sent && entry.finishedAt < before && !mayBePrepared(entry) && !kept(entry),
    )
    for (const { slot } of old) this.#entries.delete(slot)
    if (old.length === 0) return 0
    this.#whole = true
    this.#flush()
    return old.length
  }
  /** `atOnce`: nothing more is written and pending notes never resolve, as in a kill. */
  async close(atOnce: boolean): Promise<void> {
    if (this.#note !== null && !atOnce) this.#flush()
    this.#note?.()
    this.#closed = atOnce || this.#failures > 0
    this.#pauses.wake()
    await this.#writing
    this.#closed = true
  }

  #put(written: Entry): void {
    const entry = this.#where(written)
    const line = JSON.stringify(entry)
    this.#entries.delete(entry.slot)
    this.#entries.set(entry.slot, { entry, line })
    this.fence.note(entry)
    this.#added.push(line)
    if (this.#entries.size > ENTRIES_MAX) this.#forgetOne()
  }
  #forgetOne(): void {
    const quiet = this.all().filter(({ state }) => state === 'done')
    const least = quiet.find((entry) => !mayBePrepared(entry)) ?? quiet[0]
    if (least === undefined) return
    this.#entries.delete(least.slot)
    this.fence.forget(least.slot)
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
    // in the same step as the last check of `#dirty`, so that no note made in between is overlooked
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
    await disk.replace(
      path,
      `${[JSON.stringify({ ledger: 1, host, from: this.from, recalled: this.#recalled }), ...lines].join('\n')}\n`,
    )
  }
}

export const openLedger = async (options: LedgerOptions): Promise<Ledger> => {
  const text = await options.disk.read(options.path)
  return new Ledger(options, parse(options, text))
}
