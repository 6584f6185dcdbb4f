/**
 * Handles orders from their arrival to their recorded result.
 *
 * ORDERS-1 only the newest order of a slot counts: an older one is ignored, a newer one aborts the one in hand and
 *    waits for its end;
 * ORDERS-2 a repeated order is answered with its recorded result; while it is in hand, it gets no answer of its own;
 * ORDERS-3 an order found in hand after a kill is carried out again when repeated, which drivers have to tolerate;
 * ORDERS-4 one order at a time works on a device; devices do not wait for each other;
 * ORDERS-5 after its deadline (`deadlines.ts`) an order is not carried out, unless it is a release;
 * ORDERS-6 an order that does not end keeps its device: later orders for it fail as busy instead of running beside it;
 * ORDERS-7 an order for a card is not carried out on another card that has its place by now.
 */
import { endedWithin, orAborted } from '../vocabulary/waiting.ts'
import type { DeployableName, DriverName, HostName } from '../vocabulary/identifiers.ts'
import type { Clock } from '../vocabulary/clock.ts'
import type { Log } from '../vocabulary/log.ts'
import { textOf } from '../vocabulary/errorText.ts'
import { type Span, type Tracer, traceField } from '../vocabulary/trace.ts'
import type { ReportedHandle } from '../vocabulary/hardware.ts'
import type { Order } from '../wire/orders.ts'
import { HostStops } from '../drivers/runToEnd.ts'
import { Final, type OrderOutcome, type Tools, Uncleaned, executeOrder, refuseMisplaced } from './executeOrder.ts'
import { NotClean, cleaningLimitMs } from './cleaning.ts'
import { type DueAt, createDeadlines } from './deadlines.ts'
import type { Shares } from './fence.ts'
import { type Conclusion, type Entry, type Result, failed, finished } from './entry.ts'
import { inHand, isLate, isOther, judge, slotIn } from './entry.ts'
import type { Ledger } from './ledger.ts'
import type { Sending } from './memory.ts'
import type { Survivors } from './survivors.ts'
import { type KeyedMutex, createKeyedMutex } from '../vocabulary/keyedMutex.ts'

export type Limits = Readonly<Record<`${Order['type']}Ms`, number>> & {
  /** How long a driver may take to end after its signal was aborted. */
  readonly graceMs: number
  readonly inHandMax: number
}
export type OrderEnded = (
  type: Order['type'],
  outcome: Result['status'] | 'superseded' | 'stopped',
  tookMs: number,
) => void
export type OrdersOptions = {
  readonly host: HostName
  /** The number of this start of the host. */
  readonly boot: number
  readonly ledger: Ledger
  readonly tools: Tools
  readonly clock: Clock
  readonly log: Log
  readonly limits: Limits
  readonly tracer: Tracer
  readonly ended: OrderEnded
  /** Resolves when the devices of the driver were discovered once. */
  readonly seen: (driver: DriverName) => Promise<void>
  readonly deviceOf: (driver: DriverName, deployable: DeployableName) => string | null
  readonly otherCard: (order: Order) => string | null
  readonly shares: Shares
  readonly survivors: Survivors
  /** Called with each entry that is done and on disk. */
  readonly onDone: (entry: Entry) => void
  /** Called when the inventory may have changed. */
  readonly changed: () => void
}

/** The host stops: orders in hand stay in hand, and are carried out again when they are repeated. */
const STOPPING = new HostStops('the host stops')

/** Whether the inventory may have changed when such an order fails. */
const concernsImage = (order: Order): boolean =>
  order.type === 'Program' ||
  order.type === 'Probe' ||
  (order.type === 'PrepareSlot' && (order.bitstream !== undefined || order.expects !== undefined))

/** One order being carried out. `ended` resolves when its driver no longer works on the device. */
type Run = {
  /** The entry of its slot when the order came. */
  readonly known: Entry | undefined
  /** Why the order must not touch the hardware, judged by the slots that were prepared when it came; null: it may. */
  readonly refusal: string | null
  /** The order with the trace of the work on it. */
  readonly order: Order
  /** When the order is over, by the monotonic clock. */
  readonly dueAt: number
  readonly span: Span
  readonly abort: AbortController
  readonly ended: Promise<void>
  readonly end: () => void
}

const runOf = (order: Order, found: Pick<Run, 'known' | 'refusal' | 'dueAt'>, span: Span): Run => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  return {
    ...found,
    order: { ...order, ...traceField(span.trace) },
    span,
    abort: new AbortController(),
    ended,
    end,
  }
}

export class Orders {
  readonly #options: OrdersOptions
  readonly #mutex: KeyedMutex
  readonly #dueAt: DueAt
  readonly #runs = new Map<string, Run>()
  readonly #tasks = new Set<Promise<void>>()
  #stopping = false

  constructor(options: OrdersOptions) {
    this.#options = options
    this.#mutex = createKeyedMutex(options.clock)
    this.#dueAt = createDeadlines(options.clock, options.boot)
  }

  get inHand(): number {
    return this.#tasks.size
  }
  /** Resolves when the order may be acknowledged to the bus, rejects when the bus has to deliver it again. */
  accept(order: Order, sending: Sending): Promise<void> {
    const { ledger, log, limits, onDone } = this.#options
    const dueAt = this.#dueAt(order, sending)
    const known = ledger.get(order.slot)
    const running = this.#runs.get(order.slot)
    const judgement = judge(known, order.number, running?.order.number === order.number)
    const { slot, number, type } = order
    // the journal has lost rows and gives numbers out again: the result recorded under this number is that of another
    // order
    if (judgement === 'answer' && isOther(known!, order)) {
      log.error({ slot, number, type, recorded: known!.type }, 'order.numberUsed')
      return Promise.resolve()
    }
    log.debug({ slot, number, type, judgement }, 'order.came')
    if (judgement === 'ignore') log.info({ slot, number, type, last: known!.number }, 'order.older')
    if (judgement === 'answer') onDone(known!)
    if (judgement !== 'carry out') return Promise.resolve()
    if (this.#stopping) return Promise.reject(STOPPING)
    if (this.#tasks.size >= limits.inHandMax) return Promise.reject(new Error(`${limits.inHandMax} orders are in hand`))
    return this.#begin(order, dueAt, running)
  }
  /** Resolves when no order is in hand. */
  async idle(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.all(this.#tasks)
  }
  /** Lets orders in hand end within `waitMs`, then aborts them, and abandons those that do not end. */
  async stop(waitMs: number): Promise<void> {
    this.#stopping = true
    const idle = this.idle()
    if (waitMs > 0) await endedWithin(this.#options.clock, waitMs, idle)
    for (const { abort } of this.#runs.values()) abort.abort(STOPPING)
    if (waitMs > 0) await endedWithin(this.#options.clock, 1000, idle)
  }

  #begin(order: Order, dueAt: number, before: Run | undefined): Promise<void> {
    const { ledger, clock, tracer } = this.#options
    const known = ledger.get(order.slot)
    const refusal = this.#taken(order, known)
    const run = runOf(order, { known, refusal, dueAt }, tracer.part('consumer', `order ${order.type}`, order.trace))
    this.#runs.set(order.slot, run)
    before?.abort.abort(new Error(`order ${order.number} for the same slot came after it`))
    const entry = inHand(run.order, clock.now(), known, refusal !== null)
    const written = ledger.write(entry)
    const task = this.#perform(run, entry, written, before).finally(() => this.#tasks.delete(task))
    this.#tasks.add(task)
    return written
  }
  async #perform(run: Run, entry: Entry, written: Promise<void>, before: Run | undefined): Promise<void> {
    const { ledger, clock, onDone, changed, log } = this.#options
    await written
    const { concluded, changes } = await this.#result(run, before)
    const result = concluded?.result ?? null
    const current = (): boolean => this.#runs.get(entry.slot) === run
    if (!current()) log.info({ slot: entry.slot, number: entry.number, ...result }, 'order.superseded')
    if (concluded !== null && current()) {
      const done = finished(entry, concluded, clock.now(), run.known)
      await ledger.write(done)
      if (current()) onDone(done)
    }
    this.#close(run, entry, result, current())
    // after the result, since a control judges a report by the results that it has
    if (changes) changed()
  }
  #close({ order, span }: Run, { slot, startedAt }: Entry, result: Result | null, current: boolean): void {
    const { ended, clock } = this.#options
    const kept = result === null ? 'stopped' : result.status
    const outcome = current ? kept : 'superseded'
    ended(order.type, outcome, clock.now() - startedAt)
    span.end(result?.status === 'failed' ? result.reason : undefined, { 'accelerando.outcome': outcome })
    if (current) this.#runs.delete(slot)
  }
  /** `concluded` null: the host stops, and the order remains in hand. `changes`: the inventory may have changed. */
  async #result(
    run: Run,
    before: Run | undefined,
  ): Promise<{ readonly concluded: Conclusion | null; readonly changes: boolean }> {
    const { order, abort } = run
    try {
      const outcome = await this.#inTurn(run, await this.#turn(run, before))
      const { bitstreamId, cleaned, loaded, changed: changes } = outcome
      const more = {
        ...(bitstreamId === undefined ? {} : { bitstreamId }),
        ...(cleaned && { cleaned }),
        ...(loaded && { loaded }),
      }
      return { concluded: { result: { status: 'done', ...more }, released: false }, changes }
    } catch (error) {
      if (abort.signal.reason === STOPPING) return { concluded: null, changes: false }
      const reason = textOf(abort.signal.aborted ? abort.signal.reason : error) || 'failed without a reason'
      this.#options.log.warn({ slot: order.slot, number: order.number, type: order.type, reason }, 'order.failed')
      const unclean = error instanceof NotClean
      const result = failed(reason, unclean || error instanceof Final)
      const told = unclean ? { ...result, cleaned: error.cleaned } : result
      const concluded = { result: told, released: unclean || error instanceof Uncleaned }
      return { concluded, changes: concernsImage(order) }
    }
  }

  async #turn(run: Run, before: Run | undefined): Promise<() => void> {
    try {
      return await this.#device(run, before)
    } catch (error) {
      // the order did not touch the device, so it has ended when the order before it has ended
      void Promise.resolve(before?.ended).then(run.end)
      throw error
    }
  }
  /** Waits until no other order works on the device. Every wait is bounded, and ends when the order is aborted. */
  async #device(run: Run, before: Run | undefined): Promise<() => void> {
    const { clock, seen, deviceOf, survivors } = this.#options
    const { order, known, refusal, abort, dueAt } = run
    if (refusal !== null) throw new Final(refusal)
    this.#refuseLate(run)
    const limitMs = this.#limitMs(order)
    const waitMs = order.type === 'ReleaseSlot' ? limitMs : Math.min(limitMs, dueAt - clock.monotonic() + 1)
    const ready = Promise.all([seen(order.driver), before?.ended])
    if (!(await endedWithin(clock, waitMs, ready, abort.signal)))
      throw new Error(`the device was busy for ${waitMs} ms`)
    const device = deviceOf(order.driver, order.deployable) ?? order.deployable
    const turn = this.#mutex.enter(device, waitMs)
    try {
      await endedWithin(clock, waitMs + 1, turn, abort.signal)
      await survivors.wait((card) => (deviceOf(order.driver, card) ?? card) === device, waitMs, abort.signal)
      this.#refuseLate(run)
      // before the first discovery it was unknown which functions are the same hardware
      refuseMisplaced(order, this.#options.otherCard(order))
      const taken = this.#taken(order, known)
      if (taken !== null) throw new Final(taken)
    } catch (error) {
      void turn.then((leave) => leave?.())
      throw error
    }
    const leave = await turn
    if (leave === null) throw new Error(`${device} was busy for ${waitMs} ms`)
    return leave
  }
  #taken(order: Order, known: Entry | undefined): string | null {
    return this.#options.ledger.fence.against(order, known, this.#options.shares)
  }
  /** A slot with an order in hand is left out: that order continues, and keeps its slot. */
  #releasedWith(order: Order): readonly Entry[] {
    const { ledger, shares } = this.#options
    return ledger.fence.releasedWith(order, shares).filter(({ slot }) => !this.#runs.has(slot))
  }
  #refuseLate({ order, dueAt }: Run): void {
    const now = this.#options.clock.monotonic()
    if (isLate(order, dueAt, now)) throw new Final(`deadline passed ${Math.round(now - dueAt)} ms ago`)
  }
  async #inTurn(run: Run, leave: () => void): Promise<OrderOutcome> {
    const { order, abort, dueAt } = run
    const { clock, tools, limits, ledger, shares } = this.#options
    const limitMs = this.#limitMs(order)
    const cancel = clock.after(limitMs, () => abort.abort(new Error(`took longer than ${limitMs} ms`)))
    const letGo = (): void => {
      cancel()
      leave()
      run.end()
    }
    const also = this.#releasedWith(order)
    const withinMs = dueAt - clock.monotonic()
    const { fence } = ledger
    const refusalToProgram = fence.isOpen
      ? undefined
      : (handles: readonly ReportedHandle[]) => fence.againstProgramming(order, handles, shares)
    const term = { signal: abort.signal, withinMs, also: also.flatMap(slotIn), refusalToProgram }
    const execution = executeOrder(tools, order, term)
    execution.then(letGo, letGo)
    // a driver that does not end after its signal was aborted is no longer waited for; its device stays taken
    // (ORDERS-6)
    const outcome = await orAborted(execution, abort.signal, { clock, graceMs: limits.graceMs })
    await Promise.all(also.map((entry) => ledger.write({ ...entry, prepared: false })))
    return outcome
  }
  #limitMs(order: Order): number {
    const { limits, tools } = this.#options
    const loads = order.type === 'PrepareSlot' && order.bitstream !== undefined
    const cleaningMs = order.type === 'ReleaseSlot' ? cleaningLimitMs(tools.cleaner.policies, order.driver) : 0
    return limits[`${order.type}Ms`] + (loads ? limits.ProgramMs : 0) + cleaningMs
  }
}
