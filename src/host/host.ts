/**
 * The host program: it takes orders from the bus, carries them out through drivers, and reports its devices and its
 * results.
 *
 * HOST-1 the program knows no control: orders and reports go over the bus, and its own files are under `stateDir`;
 * HOST-2 an order is acknowledged when its number is on disk (or if it changes nothing); a result is sent when it is on
 *    disk;
 * HOST-3 every wait, queue and report has a limit.
 */
import { endedWithin } from '../vocabulary/waiting.ts'
import { type ImageFiles, noImage } from '../vocabulary/images.ts'
import type { Log } from '../vocabulary/log.ts'
import type { Bus, Consumer, Delivered } from '../bus/port.ts'
import type { Clock, Ids } from '../vocabulary/clock.ts'
import type { Driver, HostIo } from '../drivers/driver.ts'
import { type Tracer, untraced } from '../vocabulary/trace.ts'
import { CATALOGUE } from '../wire/catalogue.ts'
import { letterIdOf } from '../wire/letterId.ts'
import { type Timed, deadLetterRecord, readToHost } from '../wire/message.ts'
import type { SlotsQuestion, ToHost } from '../wire/orders.ts'
import type { Measurements } from '../wire/measurements.ts'
import { bootMeant } from '../wire/seal.ts'
import { newPrivateKey } from '../wire/signature.ts'
import type { Boot } from './boot.ts'
import { type Cleaner, cleaningLimitMs, withCleaning } from './cleaning.ts'
import { reportingFrom } from './cloud.ts'
import { DEFAULTS } from './defaults.ts'
import type { Disk } from './disk.ts'
import { Inventory } from './inventory.ts'
import { type Kept, type KeptStart, openKept } from './kept.ts'
import { type Limits, type OrderEnded, Orders } from './orders.ts'
import { Measuring } from './measuring.ts'
import { Outbox } from './outbox.ts'
import { Memory } from './memory.ts'
import { preparedThrough } from './preparedSlots.ts'
import { type Section, Watch } from './sections.ts'
import { whereNow } from './whereabouts.ts'

const WINDOW = 64
const noImages: ImageFiles = { open: async () => noImage('none') }
const noCleaner: Cleaner = { policies: new Map(), clean: async () => null }

export type HostOptions = Partial<Omit<typeof DEFAULTS, 'limits'>> & {
  readonly limits?: Partial<Limits>
  /** Other names of the host: its node name, its FQDN. */
  readonly aliases?: readonly string[]
  readonly images?: ImageFiles
}
export type HostStart = Partial<Pick<KeptStart, 'newKey' | 'verify' | 'playbooks' | 'toolLocks'>> & {
  readonly name: string
  readonly stateDir: string
  readonly bus: Pick<Bus, 'publish' | 'consume'>
  readonly drivers: readonly Driver[]
  /** The files and devices to which drivers have access. */
  readonly io: HostIo
  readonly disk: Disk
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly tracer?: Tracer
  /** Absent: nothing is cleaned on this host. */
  readonly cleaner?: Cleaner
  /** Called with the outcome and the duration of each order that has ended. */
  readonly ended?: OrderEnded
  readonly options?: HostOptions
}
export type Host = {
  readonly name: string
  readonly bootId: string
  /** The public key for the signatures of its reports. */
  readonly publicKey: string
  /** `at once`: like a kill, but within the process: nothing more is written or sent, and nothing is waited for. */
  readonly stop: (how?: 'orderly' | 'at once') => Promise<void>
  /** Orders in hand now, and results that are not on the bus yet. */
  readonly load: () => { readonly ordersInHand: number; readonly resultsWaiting: number }
  /** Resolves to whether a report that was begun after the call is on the bus. */
  readonly reportNow: () => Promise<boolean>
  /** The last measurements of each driver. */
  readonly measured: () => readonly Measurements[]
  /** Why the program does nothing more until it is restarted; null: it works. */
  readonly notReady: () => string | null
  /** Resolves when no order is in hand, no result waits and no report is being made. */
  readonly idle: () => Promise<void>
}
/**
 * The consumer group of a host. It is new for each start, so that the program need not wait until its former membership
 * times out.
 */
export const hostGroup = (name: string, bootId: string): string => `host-${name}-${bootId}`

type Settings = HostStart & { readonly options: typeof DEFAULTS & HostOptions & { readonly limits: Limits } }

class Program {
  readonly boot: Boot
  readonly #settings: Settings
  readonly #kept: Kept
  readonly #memory: Memory
  readonly #inventory: Inventory
  readonly #outbox: Outbox
  readonly #orders: Orders
  #consumer: Consumer | null = null
  #stopped: Promise<void> | null = null
  #doubled: string | null = null

  constructor(settings: Settings, kept: Kept) {
    const { name: host, bus, clock, ids, log, options } = settings
    const { boot, ledger } = kept
    this.boot = boot
    this.#settings = settings
    this.#kept = kept
    this.#memory = new Memory(ledger, boot, settings, this.#stepBack)
    this.#inventory = this.#madeInventory()
    this.#outbox = new Outbox({ host, boot, ledger, bus, clock, ids, log })
    this.#orders = this.#madeOrders(options.limits)
  }
  #madeInventory(): Inventory {
    const { name: host, drivers, io, bus, clock, ids, log, options, cleaner: { policies } = noCleaner } = this.#settings
    const { version, aliases = [], discoverMs, reportEveryMs, heartbeatEveryMs } = options
    const { measureEveryMs: everyMs, measureMs: limitMs } = options
    const measuring = new Measuring(drivers, { host, io, clock, log, everyMs, limitMs })
    const { heldBack } = this.#kept.playbooks
    const watches = drivers.map((driver) => new Watch(driver, { io, clock, limitMs: discoverMs, heldBack }))
    const reporting = { version, aliases, watches, reportEveryMs, heartbeatEveryMs }
    const world = { host, boot: this.boot, bus, clock, ids, log }
    return new Inventory({
      ...world,
      ...reporting,
      measuring,
      load: this.load,
      asking: () => this.#memory.asking,
      ledger: () => this.#kept.ledger.all(),
      placed: (cards) => this.#kept.ledger.place((entry) => whereNow(entry, cards)),
      looked: (sections) => this.#prune(sections),
      divided: (section) => withCleaning(policies, this.#kept.functions.divided(section)),
      playbooks: () => this.#kept.playbooks.lastRuns(),
    })
  }
  #madeOrders(limits: Limits): Orders {
    const { name: host, drivers, io, clock, log, options, tracer = untraced, ended = () => {} } = this.#settings
    const inventory = this.#inventory
    const { images = noImages } = options
    const { cleaner = noCleaner } = this.#settings
    const tools = {
      drivers: new Map(drivers.map((driver) => [driver.name, driver])),
      io,
      images,
      tracer,
      cleaner,
      clock,
      keepFunctions: this.#kept.functions.keep,
      look: (driver: string) => inventory.look(driver),
    }
    return new Orders({
      host,
      boot: this.boot.bootNumber,
      ledger: this.#kept.ledger,
      tools,
      clock,
      log,
      limits,
      tracer,
      ended,
      seen: (driver) => inventory.seen(driver),
      deviceOf: (driver, deployable) => inventory.atlas.deviceOf(driver, deployable),
      otherCard: inventory.atlas.otherCard,
      shares: inventory.atlas.shares,
      survivors: this.#kept.survivors,
      onDone: (entry) => this.#outbox.send(entry),
      changed: () => void inventory.report(),
    })
  }

  async start(): Promise<void> {
    const { bus, name } = this.#settings
    const { topic } = CATALOGUE.hostOrders
    this.#kept.playbooks.start((driver) => preparedThrough(driver, this.#kept.ledger.all()), this.reportNow)
    this.#inventory.start()
    const take = (record: Delivered): Promise<void> => this.#receive(record)
    this.#consumer = await bus.consume({
      topic,
      group: hostGroup(name, this.boot.bootId),
      onlyKey: name,
      offsetStore: this.#kept.offsetStore,
      from: 'earliest',
      window: WINDOW,
      take,
    })
  }
  readonly load = () => ({ ordersInHand: this.#orders.inHand, resultsWaiting: this.#outbox.size })
  readonly reportNow = (): Promise<boolean> => this.#inventory.report()
  readonly measured = (): readonly Measurements[] => this.#inventory.measured()
  readonly idle = async (): Promise<void> => {
    do {
      await this.#orders.idle()
      await this.#outbox.idle()
      await this.#inventory.idle()
    } while (this.#orders.inHand > 0 || this.#outbox.size > 0)
  }
  readonly stop = (how: 'orderly' | 'at once' = 'orderly'): Promise<void> => {
    this.#stopped ??= how === 'orderly' ? this.#stop() : this.#die()
    return this.#stopped
  }

  async #receive(record: Delivered): Promise<void> {
    const { name } = this.#settings
    // the partition also carries orders for other hosts
    if (record.key !== name) return
    const foreign = await this.#kept.membership.judge(record)
    if (foreign !== null) return this.#bury(record, foreign, 'host.foreignOrder')
    const message = readToHost(record)
    if (message.ok) return this.#take(message.value, record)
    const reason =
      message.fault.kind === 'invalid' ? `${message.fault.field}: ${message.fault.rule}` : message.fault.kind
    await this.#bury(record, reason, 'host.unreadableOrder')
  }
  async #take({ body, sentAt }: Timed<ToHost>, record: Delivered): Promise<void> {
    if (body.type === 'LedgerAnswer') return this.#memory.take(body)
    if (body.type === 'Stop') return this.#memory.heed(body)
    if (this.#doubled !== null) return
    if (body.type === 'TellSlots') return this.#answer(body)
    const order = { ...body, deployable: this.#kept.functions.rootOf(body.deployable) }
    const sending = { meant: bootMeant(record), sentAt }
    const against = await this.#memory.against(body, sending)
    if (against === null) return this.#orders.accept(order, sending)
    const { slot, number, type } = body
    this.#settings.log.info({ slot, number, type, reason: against }, 'order.leftAlone')
  }
  #answer(question: SlotsQuestion): void {
    if (question.bootId === this.boot.bootId) this.#inventory.answer(question)
  }
  /**
   * Another program runs under this name: orders in hand end and their results are sent; apart from that, nothing is
   * taken or sent any more.
   */
  readonly #stepBack = (by: string): void => {
    if (this.#doubled !== null) return
    const { name: host, log } = this.#settings
    this.#doubled = `another program runs under the name ${host}: ${by}`
    log.error({ host, ...this.boot, reason: this.#doubled }, 'host.doubled')
    this.#inventory.close()
    void this.#kept.playbooks.stop()
  }
  readonly notReady = (): string | null => this.#doubled
  async #bury(record: Delivered, reason: string, event: string): Promise<void> {
    const [{ name, bus, log, clock }, id] = [this.#settings, letterIdOf(record)]
    log.warn({ host: name, id, reason }, event)
    await bus.publish([deadLetterRecord(record, reason, { id, time: clock.now() })])
  }
  #prune(sections: readonly Section[]): void {
    const failed = new Set(sections.filter(({ status }) => status === 'failed').map(({ driver }) => driver))
    const { atlas } = this.#inventory
    const { name: host, log, options } = this.#settings
    const forgotten = this.#kept.ledger.prune(
      options.ledgerKeepMs,
      ({ driver, deployable, handle }) => failed.has(driver) || atlas.holds(driver, deployable, handle),
    )
    if (forgotten > 0) log.info({ host, forgotten }, 'ledger.forgotten')
  }

  async #stop(): Promise<void> {
    const { clock, options } = this.#settings
    await endedWithin(clock, options.stopWaitMs, this.#consumer?.stop() ?? Promise.resolve())
    this.#inventory.close()
    this.#kept.survivors.close()
    await Promise.all([
      endedWithin(clock, options.stopWaitMs, this.#kept.playbooks.stop()),
      this.#orders.stop(options.stopWaitMs),
    ])
    await endedWithin(clock, 1000, this.#outbox.idle())
    await endedWithin(clock, 1000, this.#outbox.close())
    await endedWithin(clock, 1000, this.#kept.ledger.close(false))
    await endedWithin(clock, 1000, this.#kept.offsetStore.close('orderly'))
  }
  async #die(): Promise<void> {
    this.#inventory.close()
    this.#kept.survivors.close()
    void this.#kept.playbooks.stop()
    void this.#kept.ledger.close(true)
    void this.#kept.offsetStore.close('at once')
    void this.#outbox.close()
    void this.#consumer?.stop()
    await this.#orders.stop(0)
  }
}

/** Rejects when the ledger cannot be read. Discovery and the first report go on after it resolves. */
export const startHost = async (start: HostStart): Promise<Host> => {
  const { name, options = {}, newKey = newPrivateKey } = start
  const limits = { ...DEFAULTS.limits, ...options.limits }
  const { policies } = start.cleaner ?? noCleaner
  const cleaningMs = [...policies.keys()].map((driver) => cleaningLimitMs(policies, driver))
  const kept = await openKept({ ...start, newKey, toolLimitMs: Math.max(limits.ProgramMs, ...cleaningMs) })
  const bus = reportingFrom(start.bus, kept.membership, kept.signer)
  const program = new Program({ ...start, bus, options: { ...DEFAULTS, ...options, limits } }, kept)
  await program.start()
  const { bootId } = kept.boot
  const { publicKey } = kept.signer
  const { stop, reportNow, measured, idle, load, notReady } = program
  return { name, bootId, publicKey, stop, reportNow, measured, idle, load, notReady }
}
