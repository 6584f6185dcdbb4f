/**
 * Programs that change cards, which an earlier start of the host program began, and which have outlived it: it was
 * killed.
 *
 * SURVIVORS-1 an order waits until no such program works on its device, within the limits of every wait for a device;
 * SURVIVORS-2 such a program is killed when it is as old as any program may become that this host runs, since nobody
 *    else watches it;
 * SURVIVORS-3 after the start only the cards are looked at on which such a program works, and for which orders wait: to
 *    look at a card keeps programs away from it for a moment.
 */
import type { Cancel, Clock } from '../vocabulary/clock.ts'
import type { AtWork, ToolLocks } from '../drivers/toolLocks.ts'
import { textOf } from '../vocabulary/errorText.ts'
import type { HostName } from '../vocabulary/identifiers.ts'
import type { Log } from '../vocabulary/log.ts'
import { endedWithin } from '../vocabulary/waiting.ts'

export type SurvivorOptions = {
  readonly tools: Pick<ToolLocks, 'atWork' | 'kill'> | null
  readonly host: HostName
  readonly clock: Clock
  readonly log: Log
  /** The longest that a program which changes a card may take. */
  readonly limitMs: number
}
type Survivor = { readonly gone: Promise<void>; readonly end: () => void; readonly said: string }

const LOOK_EVERY_MS = 500

const inWords = ({ workers }: AtWork): string =>
  workers.map(({ pid, program }) => `${program} (process ${pid})`).join(', ') || 'a process that cannot be seen'

export class Survivors {
  readonly #options: SurvivorOptions
  /** By the deployable that a program changes. */
  readonly #cards = new Map<string, Survivor>()
  #timer: Cancel = () => {}
  #sinceMs = 0
  #closed = false

  private constructor(options: SurvivorOptions) {
    this.#options = options
  }
  /**
   * Finds the programs, before this start has begun any. A host on which they cannot be looked for starts: it begins no
   * program beside them either (TOOLS-2).
   */
  static async open(options: SurvivorOptions): Promise<Survivors> {
    const survivors = new Survivors(options)
    const { host, clock, log } = options
    survivors.#sinceMs = clock.monotonic()
    for (const one of await survivors.#atWork(undefined)) {
      const { promise: gone, resolve: end } = Promise.withResolvers<void>()
      survivors.#cards.set(one.card, { gone, end, said: inWords(one) })
      log.warn({ host, deployable: one.card, processes: one.workers }, 'tool.survived')
    }
    survivors.#again()
    return survivors
  }
  /**
   * Resolves when none of these deployables is worked on (SURVIVORS-1). Rejects after `waitMs`, and when the signal is
   * aborted.
   */
  async wait(isMeant: (card: string) => boolean, waitMs: number, signal: AbortSignal): Promise<void> {
    const meant = [...this.#cards].flatMap(([card, survivor]) => (isMeant(card) ? [{ card, ...survivor }] : []))
    if (meant.length === 0) return
    const gone = Promise.all(meant.map((one) => one.gone))
    if (await endedWithin(this.#options.clock, waitMs, gone, signal)) return
    // of several, one that is still there
    const [{ card, said }] = [...meant.filter((one) => this.#cards.has(one.card)), ...meant] as [(typeof meant)[number]]
    throw new Error(
      `${card} was busy for ${waitMs} ms: an earlier start of the host program has left ${said} at work on it`,
    )
  }
  close(): void {
    this.#closed = true
    this.#timer()
  }

  async #atWork(cards: ReadonlySet<string> | undefined): Promise<readonly AtWork[]> {
    const { tools, host, log } = this.#options
    try {
      return (await tools?.atWork(cards)) ?? []
    } catch (error) {
      log.warn({ host, reason: textOf(error) }, 'tools.unknown')
      // what is known to work is not taken for gone
      return [...this.#cards.keys()].map((card) => ({ card, workers: [] }))
    }
  }
  #again(): void {
    if (this.#cards.size === 0 || this.#closed) return
    this.#timer = this.#options.clock.after(LOOK_EVERY_MS, () => void this.#look())
  }
  async #look(): Promise<void> {
    const { host, log } = this.#options
    const present = new Map((await this.#atWork(new Set(this.#cards.keys()))).map((one) => [one.card, one]))
    for (const [card, survivor] of [...this.#cards]) {
      const one = present.get(card)
      if (one !== undefined) await this.#bound(one)
      else {
        this.#cards.delete(card)
        log.info({ host, deployable: card }, 'tool.survivorEnded')
        survivor.end()
      }
    }
    this.#again()
  }
  async #bound(one: AtWork): Promise<void> {
    const { tools, host, clock, log, limitMs } = this.#options
    const ageMs = Math.max(clock.monotonic() - this.#sinceMs, ...one.workers.map((worker) => worker.ageMs))
    if (ageMs < limitMs || this.#closed) return
    log.warn({ host, deployable: one.card, processes: one.workers, limitMs }, 'tool.survivorKilled')
    await tools
      ?.kill(one.card)
      .catch((error: unknown) => log.warn({ host, deployable: one.card, reason: textOf(error) }, 'tool.notKilled'))
  }
}
