/**
 * The store in memory as a process sees it over a network: delayed, failing before or after the commit, or with a
 * planted bug.
 */
import type { Hints } from '../../src/actors/runtime/hints.ts'
import type { Append, FeedRow, Journal, Reads, Verdict } from '../../src/actors/runtime/ports.ts'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import { remembering } from '../../src/persistence/incarnation.ts'
import { memoryStores } from '../support/memoryStore/memory.ts'
import type { Store } from '../../src/persistence/store.ts'
import { rowId } from './incarnationRecords.ts'
import { type DatabaseServer, databaseServer } from './databaseServer.ts'
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
  /** When they were committed. */
  readonly moments: readonly number[]
  readonly server: DatabaseServer
  /** The store as seen by the process of that life. `adopting`: it may write while writing is stopped. */
  readonly seenBy: (life: Life, adopting?: boolean) => Store
}
type Ports = {
  readonly schedule: Schedule
  readonly random: Random
  readonly snare: Snare
  readonly tap: Tap
  readonly exclusive: boolean
  readonly bite: Bite | null
  readonly now: () => number
  readonly say: (line: string) => void
  readonly complain: (line: string, rule?: string) => void
}

/** Stands for all that only the database knows to be impossible: it refuses each append of a device with this model. */
export const UNRECORDABLE = 'unrecordable model'
const REFUSED: Verdict = { refused: { kind: 'invalid', field: 'devices.model', rule: 'is not a value that is taken' } }
const isUnrecordable = ({ rows }: Append): boolean =>
  rows.some(({ key, events }) => key.startsWith('device/') && JSON.stringify(events).includes(UNRECORDABLE))

/** The same in each run of a seed: messages name it. */
const CLOUD_UUID = 'c10d0000-0000-4000-8000-000000000000'

/** What a process sent before its end is carried out by what its clock had shown, not by an endless one. */
const untilItsEnd = (monotonic: () => number): (() => number) => {
  let last = 0
  return () => {
    const now = monotonic()
    if (Number.isFinite(now)) last = now
    return last
  }
}

export const simStore = ({ schedule, random, snare, tap, exclusive, bite, say, complain, now }: Ports): SimStore => {
  const open = memoryStores({ exclusive, cloudUuid: CLOUD_UUID, now: schedule.elapsed })
  const store = open()
  let opened = 0
  const watched = watchedSharing({ now: schedule.elapsed, exclusive, complain })
  const faults: StoreFaults = { failBefore: 0, failAfter: 0, failReads: 0, slowMs: 0 }
  const log: FeedRow[] = []
  const moments: number[] = []
  const delayMs = (): number =>
    (random.chance(0.3) ? random.below(4) : 0) + (faults.slowMs > 0 ? random.below(faults.slowMs) : 0)
  const server = databaseServer({ schedule, memories: open, rows: () => log, delayMs, bite, say })
  server.onLoss((place) => {
    log.splice(place)
    moments.splice(place)
    watched.forget()
  })

  const note = async (): Promise<void> => {
    for (const row of await store.journal.feed(String(log.length), 1000)) {
      log.push(row)
      moments.push(now())
      say(
        `#${log.length} ${row.key} ${row.version} ${row.events.map(({ type }) => type).join(' ')}${row.cause.by ? ` by ${row.cause.by}` : ''}`,
      )
    }
  }
  /** The database refuses before it looks at the append. */
  const refusal = (adopting: boolean): Verdict | null => {
    if (server.readOnly) return 'busy'
    const stopped = adopting ? null : server.records.refusal()
    return stopped === null ? null : { stopped }
  }
  const append = async (journal: Journal, wanted: Append, adopting: boolean): Promise<Verdict> => {
    if (faults.failBefore > 0) {
      faults.failBefore--
      say(`store: an append of ${wanted.rows[0]?.key} is lost before the commit`)
      return 'unknown'
    }
    const refused = refusal(adopting)
    if (refused !== null) return refused
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

  const seenBy = (life: Life, adopting = false): Store => {
    // who adopts does not have the database to itself, and ends nobody's claims
    const own = adopting ? store : open(untilItsEnd(schedule.clockOf(life).monotonic))
    const session = server.sessionOf(life)
    const { ask } = session
    /** As the ports promise. */
    const look = <Value>(work: () => Promise<Value>): Promise<Value> =>
      ask(work).catch((cause: unknown) => {
        throw new Unreadable(String(cause), { cause })
      })
    const change = <Value>(work: () => Promise<Value>): Promise<Value> =>
      ask(() => (server.readOnly ? Promise.reject(new Error('the database server is read-only')) : work()))
    const sent = new Set<Promise<void>>()
    const reached = (): Promise<boolean> =>
      session.reach().then(
        () => true,
        () => false,
      )
    const send = async (wanted: Append): Promise<Verdict> => {
      if (!(await reached())) return 'busy'
      const { promise, resolve } = Promise.withResolvers<void>()
      const { mourners } = server.life()
      sent.add(promise)
      const over = (): void => {
        mourners.delete(over)
        sent.delete(promise)
        resolve()
      }
      // what was sent to a server that has ended is never carried out
      mourners.add(over)
      const verdict = await ask(() => append(real, wanted, adopting).finally(over))
      if (verdict === 'busy') session.drop()
      return verdict
    }
    /** Comes after what this process has sent, as the port promises. */
    const recall: Journal['recall'] = async (keys) => {
      await Promise.all(sent)
      return real.recall(keys)
    }
    const { reads } = store
    const real = lyingJournal(bite, own.journal, store)
    const sharing = watched.of(life, lyingSharing(bite, own.sharing, reads))
    const journal: Journal = {
      append: async (wanted) => {
        const verdict = await tap.pass(life, 'journal', () => send(wanted)).catch(() => 'unknown' as const)
        // if the server loses the rows of an adoption, it has lost the end of the stop too, and the operator adopts
        // again
        if (verdict === 'appended' && !adopting)
          for (const row of wanted.rows) server.acknowledged.add(rowId(row, row.commandId))
        return verdict
      },
      recall: (keys) => look(read(() => recall(keys))),
      history: (keys, limit) => look(read(() => real.history(keys, limit))),
      feed: (after, limit) => look(read(() => real.feed(after, limit))),
      checkpoint: (reader) => look(() => real.checkpoint(reader)),
      saveCheckpoint: (reader, position) => change(() => real.saveCheckpoint(reader, position)),
      onAppended: (listener) => real.onAppended((appends) => schedule.soon(life, () => listener(appends))),
      get exclusive() {
        return real.exclusive && session.sessions() < 2
      },
      get incarnation() {
        return session.sessions()
      },
      close: real.close,
    }
    const page = ((query: never) => look(() => reads.page(query))) as Reads['page']
    // hints may be lost: every second process hears none
    const deaf = opened++ % 2 === 0
    const onHint: Hints['onHint'] = (name, listener) =>
      own.hints.onHint(name, () => (deaf ? undefined : schedule.soon(life, listener)))
    return {
      ...store,
      hints: { ...own.hints, onHint },
      // the first session is opened with the store
      cloud: async () => {
        await session.reach()
        return store.cloud(() => CLOUD_KEY)
      },
      journal: remembering(journal, session.incarnation),
      reads: {
        page,
        dueBefore: (now, limit) => look(() => reads.dueBefore(now, limit)),
        tally: (view, by) => look(() => reads.tally(view, by)),
      },
      sharing: {
        acquire: (name, holder, forMs) => change(() => sharing.acquire(name, holder, forMs)),
        release: (name, holder) => change(() => sharing.release(name, holder)),
        saveUnder: async (lease, reader, position) => {
          await snare.pass(life, 'save')
          return tap.pass(life, 'checkpoint', () => change(() => sharing.saveUnder(lease, reader, position)))
        },
        claimDue: (kinds, now, limit, forMs) => change(() => sharing.claimDue(kinds, now, limit, forMs)),
        unclaim: (claimed) => change(() => sharing.unclaim(claimed)),
        postponeDue: (entity, at, to) => change(() => sharing.postponeDue(entity, at, to)),
        takeOrders: (before, at, limit) => change(() => sharing.takeOrders(before, at, limit)),
        postponeOrders: (orders) => change(() => sharing.postponeOrders(orders)),
        noteSeen: (hosts) => change(() => sharing.noteSeen(hosts)),
        silences: () => ask(() => sharing.silences()),
        noteMeasured: (readings) => change(() => sharing.noteMeasured(readings)),
        measuredOn: (host) => look(() => sharing.measuredOn(host)),
        forgetSeen: (silentMs) => ask(() => sharing.forgetSeen(silentMs)),
      },
    }
  }
  return { store, faults, rows: () => log, committed: () => log.length, moments, server, seenBy }
}
