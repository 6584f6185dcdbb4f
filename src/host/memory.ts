/**
 * Decides which orders a host that has lost its ledger may execute.
 *
 * MEMORY-1 for a slot that the ledger does not contain, only orders sent for a start since the ledger began are
 *    executed. An order that names no start (of a control up to release 0.2.0) must have been sent since then. Other
 *    orders are ignored: those that still matter are sent again for the present start;
 * MEMORY-2 before the first such order, the host asks which slots the journal holds prepared on it, and writes the
 *    answer into its ledger. An order that names its start waits for that answer for a limited time, and is ignored if
 *    none comes;
 * MEMORY-3 an order for a later start than this one, or a control's message that a later start exists, means that
 *    another program runs under the name of this host: from then on, this program executes nothing until it is
 *    restarted.
 */
import type { Clock } from '../vocabulary/clock.ts'
import type { Log } from '../vocabulary/log.ts'
import { endedWithin } from '../vocabulary/waiting.ts'
import type { LedgerAnswer, Order, StopOrder } from '../wire/orders.ts'
import type { Boot } from './boot.ts'
import { recalled } from './entry.ts'
import type { Ledger } from './ledger.ts'

/**
 * An answer comes within milliseconds. An order that got no answer within this time is ignored, and is sent again by
 * the control.
 */
const ANSWER_WITHIN_MS = 5000

/**
 * `meant`: number of the start that the order was sent for; null: the order names none. `sentAt`: ms since the epoch.
 */
export type Sending = { readonly meant: number | null; readonly sentAt: number }

type Ports = { readonly clock: Clock; readonly log: Log; readonly doubled: (by: string) => void }

export class Memory {
  readonly #ledger: Ledger
  readonly #boot: Boot
  readonly #clock: Clock
  readonly #log: Log
  readonly #doubled: (by: string) => void
  readonly #answered = Promise.withResolvers<void>()
  #asking: boolean

  /** `doubled` is called when another program runs under the name of this host. */
  constructor(ledger: Ledger, boot: Boot, { clock, log }: Pick<Ports, 'clock' | 'log'>, doubled: Ports['doubled']) {
    this.#ledger = ledger
    this.#boot = boot
    this.#clock = clock
    this.#log = log
    this.#doubled = doubled
    this.#asking = ledger.asks
  }

  /** True: the next report must ask for the prepared slots. */
  get asking(): boolean {
    return this.#asking
  }
  /** Enters an answer into the ledger. Resolves when it is on disk. */
  async take({ bootId, slots, last }: LedgerAnswer): Promise<void> {
    if (bootId !== this.#boot.bootId || !this.#asking) return
    const now = this.#clock.now()
    const unknown = slots.filter(({ slot }) => this.#ledger.get(slot) === undefined)
    await Promise.all(unknown.map((held) => this.#ledger.write(recalled(held, now))))
    this.#log.info({ slots: slots.length, entered: unknown.length, last }, 'ledger.recalled')
    if (!last) return
    await this.#ledger.complete()
    this.#asking = false
    this.#answered.resolve()
  }
  heed({ bootId, by }: StopOrder): void {
    if (bootId === this.#boot.bootId) this.#doubled(`boot ${by}`)
  }
  /** The reason to ignore the order; null: there is none, and its number decides. */
  async against(order: Order, { meant, sentAt }: Sending): Promise<string | null> {
    const { from } = this.#ledger
    const { bootNumber } = this.#boot
    if (meant !== null && meant > bootNumber) {
      this.#doubled(`start ${meant}, for which an order came`)
      return `it was sent for start ${meant}, and this is start ${bootNumber}: another program runs under the name of this host`
    }
    if (this.#asking && meant !== null) await this.#answer()
    if (from === undefined || this.#ledger.get(order.slot) !== undefined) return null
    if (meant === null)
      return !(sentAt >= from)
        ? 'it was sent before the ledger of this host began, and does not say for which start'
        : null
    if (meant < from) return `it was sent for start ${meant}, and the ledger of this host begins with start ${from}`
    return this.#asking ? 'the control has not said yet what is prepared on this host' : null
  }
  async #answer(): Promise<void> {
    await endedWithin(this.#clock, ANSWER_WITHIN_MS, this.#answered.promise)
  }
}
