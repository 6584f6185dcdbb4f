/**
 * Sends results to the bus.
 *
 * OUTBOX-1 a result is sent until the bus has stored it, also after a restart of the host: the ledger records which
 *    results were not sent;
 * OUTBOX-2 only the last result of a slot is sent, so there are never more results than slots;
 * OUTBOX-3 one publish is under way at a time.
 */
import { type Pauses, createPauses, backoffMs } from '../vocabulary/waiting.ts'
import type { HostName } from '../vocabulary/identifiers.ts'
import type { Clock, Ids } from '../vocabulary/clock.ts'
import type { Log } from '../vocabulary/log.ts'
import { textOf } from '../vocabulary/errorText.ts'
import type { Bus } from '../bus/port.ts'
import { traceField } from '../vocabulary/trace.ts'
import { reportRecord } from '../wire/message.ts'
import type { OrderResult } from '../wire/reports.ts'
import type { Boot } from './boot.ts'
import type { Entry } from './entry.ts'
import type { Ledger } from './ledger.ts'

const BATCH_MAX = 200
const RETRY = { firstMs: 50, maxMs: 5000 }

export type OutboxOptions = {
  readonly host: HostName
  readonly boot: Boot
  readonly ledger: Ledger
  readonly bus: Pick<Bus, 'publish'>
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
}
/** `id` is made once for each result, so that a repeated publish carries the same id. */
type Letter = { readonly id: string; readonly entry: Entry }

const resultOf = (host: HostName, boot: Boot, entry: Entry): OrderResult => ({
  type: 'OrderResult',
  host,
  ...boot,
  order: entry.type,
  slot: entry.slot,
  deployableUuid: entry.deployableUuid,
  number: entry.number,
  ...(entry.arq === undefined ? {} : { arq: entry.arq }),
  ...traceField(entry.trace),
  startedAt: entry.startedAt,
  finishedAt: entry.finishedAt,
  result: entry.result!,
})

export class Outbox {
  readonly #options: OutboxOptions
  readonly #letters = new Map<string, Letter>()
  #sending: Promise<void> | null = null
  #closed = false
  readonly #pauses: Pauses
  #failures = 0

  constructor(options: OutboxOptions) {
    this.#options = options
    this.#pauses = createPauses(options.clock)
    for (const entry of options.ledger.all()) if (entry.state === 'done' && !entry.sent) this.send(entry)
  }

  /** Results that are not on the bus yet. */
  get size(): number {
    return this.#letters.size
  }
  /** Takes an entry that is done and on disk. */
  send(entry: Entry): void {
    if (this.#closed) return
    this.#letters.set(entry.slot, { id: this.#options.ids.uuid(), entry })
    this.#sending ??= this.#run()
  }
  /** Resolves when no result waits to be sent. */
  async idle(): Promise<void> {
    await this.#sending
  }
  /** Results that are not sent when this resolves are sent after the next start. */
  async close(): Promise<void> {
    this.#closed = true
    this.#pauses.stop()
    await this.#sending
  }

  async #run(): Promise<void> {
    await Promise.resolve()
    while (this.#letters.size > 0 && !this.#closed) {
      if (await this.#round([...this.#letters.values()].slice(0, BATCH_MAX))) continue
      await this.#pauses.pause(backoffMs(RETRY, this.#failures))
    }
    this.#sending = null
  }
  async #round(letters: readonly Letter[]): Promise<boolean> {
    const { host, boot, bus, clock, log } = this.#options
    try {
      await bus.publish(letters.map(({ id, entry }) => reportRecord(resultOf(host, boot, entry), id, clock.now())))
    } catch (error) {
      log.warn({ host, results: letters.length, reason: textOf(error), failures: ++this.#failures }, 'outbox.again')
      return false
    }
    this.#failures = 0
    for (const letter of letters) this.#published(letter)
    return true
  }
  #published(letter: Letter): void {
    const { ledger } = this.#options
    const { slot, number } = letter.entry
    if (this.#letters.get(slot) === letter) this.#letters.delete(slot)
    const known = ledger.get(slot)
    if (!this.#closed && known?.number === number && known.state === 'done') ledger.note({ ...known, sent: true })
  }
}
