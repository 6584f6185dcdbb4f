/**
 * Finds or spawns the actor of a key and dispatches to it in one synchronous step; counts messages in flight; stops
 * idle actors.
 *
 * REGION-1 a message is never dispatched to an actor that was told to stop: the entry is replaced in the same step;
 * REGION-2 a caller whose actor dies is answered `unavailable`, or `broken` when its journal can never be read;
 * REGION-3 `borrow` puts its messages into all mailboxes in one synchronous step, so every mailbox sees the units in
 *    the same order;
 * REGION-4 callers who read an entity before its actor begins the read share that read of the tail;
 * REGION-5 an actor that was stopped, or a borrower whose time is over, may still write. Until that has ended and the
 *    entity's actor has read the tail, the entity is in doubt: each read reads the tail, and so does each decision
 *    before it refuses or does nothing.
 */
import type { EntityKey } from '../../vocabulary/identifiers.ts'
import { type Ref, configurePersistence, dispatch, spawn, start, stop } from 'nact'
import { type Clock } from '../../vocabulary/clock.ts'
import { bounded, pause } from '../../vocabulary/waiting.ts'
import type { Fault, Outcome, Refused } from '../../vocabulary/fault.ts'
import { createEngine } from './engine.ts'
import { type AnyDecider, type Loan, type Memory, memoryOf } from './memory.ts'
import type { Kind } from './decider.ts'
import type { Counted, Work } from './commit.ts'
import { type Message, spawnEntity } from './shell.ts'
import { UNAVAILABLE, Unreadable, faultOf } from './unreadable.ts'

export type RegionOptions = {
  readonly askMs: number
  readonly holdMs: number
  /** An actor that was not used for this long is stopped. */
  readonly idleMs: number
  /** If there are more actors than this, the longest idle ones are stopped first. */
  readonly residentMax: number
}
export const REGION_DEFAULTS: RegionOptions = { askMs: 12_000, holdMs: 10_000, idleMs: 60_000, residentMax: 10_000 }

type Entry = {
  ref: Ref<Message>
  inflight: number
  lastUsed: number
  readonly waiting: Set<(fault: Fault) => void>
  acting: boolean
  /** Called when an actor that was stopped while it handled a message has ended. */
  ended: () => void
  /** The read that waits in the mailbox, shared by all callers until it begins. */
  reading: { readonly fresh: boolean; readonly answer: Promise<Outcome<Memory>> } | null
}
type Ports = {
  readonly journal: Counted
  readonly clock: Clock
  readonly deciderOf: (key: EntityKey) => AnyDecider
  readonly crashed: (key: EntityKey, error: unknown) => void
  readonly options: RegionOptions
}
/** `decider` determines the type of the state. */
export type Read = <State, Name extends string>(
  decider: Kind<State, Name>,
  key: EntityKey<NoInfer<Name>>,
) => Promise<Outcome<Memory<State>>>
export type Region = {
  /** The present state of the entity in the journal. Faults: `unavailable`. */
  readonly readCurrent: Read
  /** As `readCurrent`, but appends of other processes may be missing: for a guess that is verified later. */
  readonly readCached: Read
  /** Whether its actor is in memory, so that `readCached` need not ask the journal. */
  readonly has: (key: EntityKey) => boolean
  readonly tell: <Value>(key: EntityKey, work: Work<Value>) => Promise<Outcome<Value | null>>
  /** Borrows all or none. Faults: that of the first entity that could not be borrowed, `unavailable` or `broken`. */
  readonly borrow: (keys: readonly EntityKey[], returned: Promise<Loan | 'doubt'>) => Promise<Outcome<Loan>>
  /** Starts the actor with a memory that is known to be current, so that it reads nothing. */
  readonly warm: (memory: Memory) => void
  /** Stops the actor at once, in the middle of what it does. For tests. */
  readonly kill: (key: EntityKey) => boolean
  readonly passivate: () => number
  readonly residents: () => readonly EntityKey[]
  /** Counters since the start; `passivated`: actors that were stopped because they were idle. */
  readonly counts: () => { readonly resident: number; readonly spawned: number; readonly passivated: number }
  /** Waits until nothing is in flight, bounded by `askMs`, then stops all. */
  readonly stop: () => Promise<void>
}

const found = <State>(decider: Kind<State>, read: Outcome<Memory>): Outcome<Memory<State>> => {
  if (!read.ok) return read
  const memory = memoryOf(decider, read.value)
  if (!memory) throw new Error(`${read.value.key} was read as ${decider.kind}`)
  return { ok: true, value: memory }
}
const whyStopped = (error: unknown): Fault => (error instanceof Unreadable ? faultOf(error, 'journal') : UNAVAILABLE)

/** A read that failed is repeated after this long. */
const REREAD_MS = 1000
const SHARDS = 32
/** nact accepts few characters in names: a slash is written as a dot, all others as `$xx.`. */
const nameOf = (key: EntityKey) =>
  key.replaceAll(/[^A-Za-z0-9_-]/g, (c) => (c === '/' ? '.' : `$${c.codePointAt(0)!.toString(16)}.`))
const shardOf = (key: EntityKey) => {
  let hash = 0
  for (let at = 0; at < key.length; at++) hash = (hash * 31 + key.charCodeAt(at)) | 0
  return Math.abs(hash) % SHARDS
}

/**
 * Keys that a writer other than their present actor may still write. `reread` resolves when no actor has an older
 * memory of the key.
 */
const createDoubts = (reread: (key: EntityKey) => Promise<void>) => {
  const writers = new Map<EntityKey, number>()
  return {
    has: (key: EntityKey): boolean => writers.has(key),
    /** The caller must call the returned function when that writer has ended. */
    begin: (key: EntityKey): (() => void) => {
      writers.set(key, (writers.get(key) ?? 0) + 1)
      const over = () => {
        const left = writers.get(key)! - 1
        if (left > 0) writers.set(key, left)
        else writers.delete(key)
      }
      // messages that already wait are handled before the read, with the old memory
      return () => void reread(key).finally(over)
    },
  }
}
type Doubts = ReturnType<typeof createDoubts>

/** The actors in memory: spawns, forgets and stops them. */
const createPopulation = ({ journal, clock, deciderOf, crashed, options }: Ports, doubts: Doubts) => {
  const engine = createEngine(journal, deciderOf)
  const system = start(configurePersistence(engine))
  const shards = Array.from({ length: SHARDS }, (_, at) =>
    spawn(system, (state: null) => state, `shard-${at}`),
  ) as unknown as Ref<never>[]
  const entries = new Map<EntityKey, Entry>()
  let born = 0

  const forget = (key: EntityKey, entry: Entry, error: unknown) => {
    if (entries.get(key) === entry) entries.delete(key)
    for (const giveUp of [...entry.waiting]) giveUp(whyStopped(error))
    entry.waiting.clear()
  }
  const enter = (key: EntityKey): Entry => {
    const known = entries.get(key)
    if (known) return known
    const entry: Entry = {
      ref: undefined as never,
      inflight: 0,
      lastUsed: clock.monotonic(),
      waiting: new Set(),
      reading: null,
      acting: false,
      ended: () => {},
    }
    const started = () => void (entry.acting = true)
    const finished = () => {
      entry.acting = false
      entry.inflight--
      entry.lastUsed = clock.monotonic()
      entry.ended()
    }
    const [overdue, inDoubt] = [() => doubts.begin(key), () => doubts.has(key)]
    const ports = { journal, clock, deciderOf, holdMs: options.holdMs, crashed, overdue, inDoubt }
    // each actor has a unique name, because nact would hand a message for a stopped actor to the next one of the same
    // name
    const name = `${nameOf(key)}.${++born}`
    const hooks = { started, finished, stopped: (error: unknown) => forget(key, entry, error) }
    entry.ref = spawnEntity(shards[shardOf(key)]!, key, name, ports, hooks)
    entries.set(key, entry)
    return entry
  }
  const retire = (key: EntityKey, entry: Entry) => {
    entries.delete(key)
    if (entry.acting) entry.ended = doubts.begin(key)
    stop(entry.ref)
  }
  const warm = (memory: Memory) => {
    if (entries.has(memory.key)) return
    engine.warm(memory)
    enter(memory.key)
  }
  return { entries, enter, retire, warm, born: () => born, end: () => stop(system) }
}
type Population = ReturnType<typeof createPopulation>

/** Asks an actor. Faults: `unavailable` or `broken`, if it died, did not answer in time, or the region has stopped. */
type Ask = <Reply>(key: EntityKey, make: (reply: (value: Reply) => void) => Message) => Promise<Outcome<Reply>>
const NO_ANSWER: Refused = { ok: false, fault: UNAVAILABLE }
const createAsk =
  ({ enter }: Population, { clock, options }: Ports, isStopped: () => boolean): Ask =>
  async <Reply>(key: EntityKey, make: (reply: (value: Reply) => void) => Message) => {
    if (isStopped()) return NO_ANSWER
    const { promise, resolve } = Promise.withResolvers<Outcome<Reply>>()
    const giveUp = (fault: Fault) => resolve({ ok: false, fault })
    const entry = enter(key)
    entry.inflight++
    entry.lastUsed = clock.monotonic()
    entry.waiting.add(giveUp)
    dispatch(
      entry.ref,
      make((value) => resolve({ ok: true, value })),
    )
    const answer = await bounded(clock, promise, options.askMs, NO_ANSWER)
    entry.waiting.delete(giveUp)
    return answer
  }

type ReadMemory = (key: EntityKey, fresh: boolean) => Promise<Outcome<Memory>>
const createRead =
  ({ entries }: Population, ask: Ask): ReadMemory =>
  (key, fresh) => {
    const shared = entries.get(key)?.reading
    if (shared && (shared.fresh || !fresh)) return shared.answer
    const begun = () => {
      if (entry?.reading === mine) entry.reading = null
    }
    const mine = { fresh, answer: ask<Memory>(key, (reply) => ({ kind: 'read', fresh, begun, reply })) }
    const entry = entries.get(key)
    if (entry) entry.reading = mine
    // callers who come after the read was given up start a read of their own
    void mine.answer.then(begun)
    return mine.answer
  }

/** The actors that were idle for too long; if there are more than the limit allows, those idle longest. */
const leavers = ({ entries }: Population, { clock, options }: Ports): readonly (readonly [EntityKey, Entry])[] => {
  const idle = [...entries].filter(([, entry]) => entry.inflight === 0)
  const old = clock.monotonic() - options.idleMs
  const surplus = Math.max(0, entries.size - options.residentMax)
  const leaving = idle.filter(([, entry]) => entry.lastUsed <= old)
  return surplus > leaving.length ? idle.toSorted(([, a], [, b]) => a.lastUsed - b.lastUsed).slice(0, surplus) : leaving
}

export const openRegion = (ports: Ports): Region => {
  const { journal, clock, options } = ports
  let stopped = false
  let passivated = 0
  const reread = async (key: EntityKey) => {
    while (entries.has(key) && !stopped && !(await read(key, true)).ok) await pause(clock, REREAD_MS)
  }
  const doubts = createDoubts(reread)
  const population = createPopulation(ports, doubts)
  const { entries, retire } = population
  const ask = createAsk(population, ports, () => stopped)
  const read = createRead(population, ask)

  return {
    readCurrent: async (decider, key) => found(decider, await read(key, !journal.exclusive || doubts.has(key))),
    readCached: async (decider, key) => found(decider, await read(key, false)),
    has: (key) => entries.has(key),
    tell: async (key, work) => {
      const notAfter = Math.min(work.notAfter ?? Infinity, clock.monotonic() + options.askMs)
      const asked = await ask<Outcome<unknown>>(key, (reply) => ({ kind: 'tell', work: { ...work, notAfter }, reply }))
      return (asked.ok ? asked.value : asked) as never
    },
    borrow: async (keys, returned) => {
      const wanted = [...new Set(keys)].sort()
      const asked = wanted.map((key) => ask<Memory>(key, (reply) => ({ kind: 'lend', reply, returned })))
      const lenders = wanted.map((key) => [key, entries.get(key)] as const)
      void returned.then(() => lenders.forEach(([key, lender]) => entries.get(key) !== lender && void reread(key)))
      const answers = await Promise.all(asked)
      const refused = answers.find((answer) => !answer.ok)
      if (refused) return refused
      const memories = answers.flatMap((answer) => (answer.ok ? [answer.value] : []))
      return { ok: true, value: new Map(memories.map((memory) => [memory.key, memory])) }
    },
    warm: (memory) => {
      if (!stopped) population.warm(memory)
    },
    kill: (key) => {
      const entry = entries.get(key)
      if (entry) retire(key, entry)
      return entry !== undefined
    },
    passivate: () => {
      const leaving = leavers(population, ports)
      for (const [key, entry] of leaving) retire(key, entry)
      passivated += leaving.length
      return leaving.length
    },
    residents: () => [...entries.keys()],
    counts: () => ({ resident: entries.size, spawned: population.born(), passivated }),
    stop: async () => {
      const until = clock.monotonic() + options.askMs
      while ([...entries.values()].some((entry) => entry.inflight > 0) && clock.monotonic() < until)
        await pause(clock, 5)
      stopped = true
      population.end()
    },
  }
}
