/** The store in memory as a process sees it over a network: delayed, failing before or after the commit, or with a planted bug. */
import type { Append, FeedRow, Journal, Reads, Verdict } from '../../src/actors/runtime/ports.ts'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import { memoryStores } from '../../src/persistence/memory/memory.ts'
import type { Store } from '../../src/persistence/store.ts'
import { CLOUD_KEY } from './forger.ts'
import { type Bite, lyingJournal, lyingSharing, unfenced } from './lies.ts'
import type { Random } from './random.ts'
import type { Life, Schedule } from './schedule.ts'
import type { Snare } from './snare.ts'
import type { Tap } from './tap.ts'
import { watchedSharing } from './witness.ts'

export type StoreFaults = {
  /** The number of next appends that are lost before they reach the store. */
  failBefore: number
  /** The number of next appends that are written although their callers get an error. */
  failAfter: number
  /** The number of next reads of the journal that fail. */
  failReads: number
  slowMs: number
}
export type SimStore = {
  readonly store: Store
  readonly faults: StoreFaults
  /** All rows, in commit order. */
  readonly rows: () => readonly FeedRow[]
  readonly committed: () => number
  /** The life of the store server: it does not answer while this is held. */
  readonly life: Life
  /** The store as seen by the process of that life. */
  readonly seenBy: (life: Life) => Store
}
type Ports = {
  readonly schedule: Schedule
  readonly random: Random
  readonly snare: Snare
  readonly tap: Tap
  readonly exclusive: boolean
  readonly bite: Bite | null
  readonly say: (line: string) => void
  readonly complain: (line: string, rule?: string) => void
}

/** Stands for all that only the database knows to be impossible: it refuses each append of a device with this model. */
export const UNRECORDABLE = 'unrecordable model'
const REFUSED: Verdict = { refused: { kind: 'invalid', field: 'devices.model', rule: 'is no value that is taken' } }
const isUnrecordable = ({ rows }: Append): boolean =>
  rows.some(({ key, events }) => key.startsWith('device/') && JSON.stringify(events).includes(UNRECORDABLE))

/** A caller gives up after this long while the store is away; the request is still carried out when it is back. */
const TIMEOUT_MS = 4000

export const simStore = ({ schedule, random, snare, tap, exclusive, bite, say, complain }: Ports): SimStore => {
  const open = memoryStores({ exclusive, now: schedule.elapsed })
  const store = open()
  const watched = watchedSharing({ now: schedule.elapsed, exclusive, complain })
  const faults: StoreFaults = { failBefore: 0, failAfter: 0, failReads: 0, slowMs: 0 }
  const server = schedule.life('store')
  const log: FeedRow[] = []
  const delayMs = (): number =>
    (random.chance(0.3) ? random.below(4) : 0) + (faults.slowMs > 0 ? random.below(faults.slowMs) : 0)

  const note = async (): Promise<void> => {
    for (const row of await store.journal.feed(String(log.length), 1000)) {
      log.push(row)
      say(
        `#${log.length} ${row.key} ${row.version} ${row.events.map(({ type }) => type).join(' ')}${row.cause.by ? ` by ${row.cause.by}` : ''}`,
      )
    }
  }
  const append = async (journal: Journal, wanted: Append): Promise<Verdict> => {
    if (faults.failBefore > 0) {
      faults.failBefore--
      say(`store: an append of ${wanted.rows[0]?.key} is lost before the commit`)
      return 'unknown'
    }
    if (isUnrecordable(wanted)) return REFUSED
    const torn = bite === 'append torn' && wanted.rows.length > 1 && random.chance(0.02)
    const given = torn ? { ...wanted, rows: wanted.rows.slice(0, -1) } : wanted
    const verdict = await journal.append(bite === 'fence off' ? await unfenced(journal, given) : given)
    await note()
    if (verdict !== 'appended')
      say(
        `store: ${JSON.stringify(verdict)} for ${wanted.rows.map(({ key, version }) => `${key} ${version}`).join(', ')}`,
      )
    if (verdict !== 'appended' || faults.failAfter === 0) return torn ? 'unknown' : verdict
    faults.failAfter--
    say(`store: the writer of #${log.length} is not told`)
    return 'unknown'
  }
  const read =
    <Value>(look: () => Promise<Value>) =>
    async (): Promise<Value> => {
      if (faults.failReads === 0) return look()
      faults.failReads--
      throw new Error('the store cannot be read')
    }

  const seenBy = (life: Life): Store => {
    const own = open(schedule.clockOf(life).monotonic)
    const ask = <Value>(work: () => Promise<Value>): Promise<Value> => {
      const asked = schedule.across(life, server, delayMs, work)
      return server.parked ? schedule.within(life, TIMEOUT_MS, asked, 'the store does not answer') : asked
    }
    /** As the ports promise. */
    const look = <Value>(work: () => Promise<Value>): Promise<Value> =>
      ask(work).catch((cause: unknown) => {
        throw new Unreadable(String(cause), { cause })
      })
    const sent = new Set<Promise<void>>()
    const send = (wanted: Append): Promise<Verdict> => {
      const { promise, resolve } = Promise.withResolvers<void>()
      sent.add(promise)
      return ask(() =>
        append(real, wanted).finally(() => {
          sent.delete(promise)
          resolve()
        }),
      )
    }
    /** Comes after what this process has sent, as the port promises. */
    const recall: Journal['recall'] = async (keys) => {
      await Promise.all(sent)
      return real.recall(keys)
    }
    const { reads } = store
    const real = lyingJournal(bite, own.journal, store)
    const sharing = watched(life, lyingSharing(bite, own.sharing, reads))
    const journal: Journal = {
      append: (wanted) => tap.pass(life, 'journal', () => send(wanted)).catch(() => 'unknown'),
      recall: (keys) => look(read(() => recall(keys))),
      history: (keys, limit) => look(read(() => real.history(keys, limit))),
      feed: (after, limit) => look(read(() => real.feed(after, limit))),
      checkpoint: (reader) => look(() => real.checkpoint(reader)),
      saveCheckpoint: (reader, position) => ask(() => real.saveCheckpoint(reader, position)),
      onAppended: (listener) => real.onAppended((appends) => schedule.soon(life, () => listener(appends))),
      exclusive: real.exclusive,
      close: real.close,
    }
    const page = ((query: never) => look(() => reads.page(query))) as Reads['page']
    return {
      ...store,
      cluster: () => store.cluster(() => CLOUD_KEY),
      journal,
      reads: {
        page,
        dueBefore: (now, limit) => look(() => reads.dueBefore(now, limit)),
        tally: (view, by) => look(() => reads.tally(view, by)),
      },
      sharing: {
        acquire: (name, holder, forMs) => ask(() => sharing.acquire(name, holder, forMs)),
        release: (name, holder) => ask(() => sharing.release(name, holder)),
        saveUnder: async (lease, reader, position) => {
          await snare.pass(life, 'save')
          return tap.pass(life, 'checkpoint', () => ask(() => sharing.saveUnder(lease, reader, position)))
        },
        claimDue: (kinds, now, limit, forMs) => ask(() => sharing.claimDue(kinds, now, limit, forMs)),
        unclaim: (claimed) => ask(() => sharing.unclaim(claimed)),
        takeOrders: (before, at, limit) => ask(() => sharing.takeOrders(before, at, limit)),
        postponeOrders: (orders) => ask(() => sharing.postponeOrders(orders)),
        noteSeen: (hosts) => ask(() => sharing.noteSeen(hosts)),
        silences: () => ask(() => sharing.silences()),
        forgetSeen: (silentMs) => ask(() => sharing.forgetSeen(silentMs)),
      },
    }
  }
  return { store, faults, rows: () => log, committed: () => log.length, life: server, seenBy }
}
