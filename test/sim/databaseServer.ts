/** The server that holds the database, which another one can replace, and the sessions that processes have with it. */
import type { FeedRow } from '../../src/actors/runtime/ports.ts'
import { type Incarnation, openIncarnation } from '../../src/persistence/incarnation.ts'
import type { Memories } from '../support/memoryStore/memory.ts'
import { type SimCustody, rowId, simCustody } from './incarnationRecords.ts'
import type { Bite } from './lies.ts'
import type { Life, Schedule } from './schedule.ts'

/** Rows that were committed, and that the server that took over does not have. */
export type Loss = {
  readonly rows: readonly FeedRow[]
  /** Those of which a writer had been told by then that they are stored: the same may be written again later. */
  readonly acknowledged: readonly string[]
  /** How many rows were left. */
  readonly place: number
  /** Since when the server did not follow, and when it took over; ms since the start of the simulation. */
  readonly fromMs: number
  readonly toMs: number
}
/** What a process has of the database. */
export type Session = {
  readonly incarnation: Incarnation
  /** Rejects when there is no session and none can be had. */
  readonly reach: () => Promise<void>
  readonly sessions: () => number
  /** The server has refused to write: the next write needs a new session. */
  readonly drop: () => void
  /** The work as that server does it; rejects when the server ends before its answer has arrived. */
  readonly ask: <Value>(work: () => Promise<Value>) => Promise<Value>
}
/** Rows that their writer was told are stored, that are gone, and that nothing names as lost. */
export const unnamed = ({ records, losses }: Pick<DatabaseServer, 'records' | 'losses'>): readonly string[] => {
  const found = records.found()
  return losses.flatMap((loss) => loss.acknowledged).filter((id) => !found.has(id))
}

const HANDLE = /"(?:handle|slot)":"([^"]+)"/g
/** Handles that lost rows name: their hosts have something else than the journal holds. */
export const doubtful = ({ losses }: DatabaseServer): readonly string[] =>
  losses.flatMap(({ rows }) =>
    [...JSON.stringify(rows.map(({ events }) => events)).matchAll(HANDLE)].flatMap(([, uuid]) => uuid ?? []),
  )

export const hasLostProgramming = ({ losses }: DatabaseServer): boolean =>
  losses.some(({ rows }) =>
    rows.some(({ events }) => events.some(({ type }) => type === 'Programmed' || type === 'ProgramFailed')),
  )

export type DatabaseServer = {
  /** The server does not answer while this is held. */
  readonly life: () => Life
  readonly records: SimCustody
  readonly sessionOf: (life: Life) => Session
  /**
   * A standby that has everything now and follows no more; the returned function puts it in the place of the server.
   */
  readonly standby: () => () => Loss
  /** A standby that has everything takes the place of the server. */
  readonly failOver: () => void
  readonly losses: readonly Loss[]
  /** Rows that a process was told are stored. */
  readonly acknowledged: Set<string>
  /** Called with the number of rows that were left. */
  readonly onLoss: (listener: (place: number) => void) => void
  readOnly: boolean
}
type Ports = {
  readonly schedule: Schedule
  readonly memories: Memories
  readonly rows: () => readonly FeedRow[]
  readonly delayMs: () => number
  readonly bite: Bite | null
  readonly say: (line: string) => void
}

/** A caller gives up after this long while the store is away; the request is still carried out when it is back. */
const TIMEOUT_MS = 4000
const AGAIN_MS = 500

export const databaseServer = ({ schedule, memories, rows, delayMs, bite, say }: Ports): DatabaseServer => {
  let [life, number] = [schedule.life('store'), 1]
  const lost: Loss[] = []
  const listeners = new Set<(place: number) => void>()
  /** What each process does when its session has ended. */
  const reconnecting = new Set<{ readonly of: Life; readonly reconnect: () => void }>()
  const records = simCustody({ now: schedule.elapsed, rows, isReadOnly: () => server.readOnly })

  const replace = (): void => {
    const before = life
    ;[life, number] = [schedule.life('store'), number + 1]
    schedule.end(before)
    server.readOnly = false
    for (const one of reconnecting) {
      if (one.of.alive) schedule.soon(one.of, one.reconnect)
      else reconnecting.delete(one)
    }
  }
  const sessionOf = (of: Life): Session => {
    const incarnation = openIncarnation()
    let [mine, sessions]: [Life | null, number] = [null, 0]
    let reaching: Promise<void> | null = null
    const ask = async <Value>(work: () => Promise<Value>): Promise<Value> => {
      const asked = life
      const answer = schedule.across(of, asked, delayMs, work)
      const value = await (asked.parked ? schedule.within(of, TIMEOUT_MS, answer, 'the store does not answer') : answer)
      // an answer on its way when its server ended does not arrive
      if (!asked.alive) throw new Error('the store is gone')
      return value
    }
    const connect = async (): Promise<void> => {
      const [asked, its] = [life, number]
      const proved = async () => {
        if (bite !== 'incarnation off') await incarnation.checkSession(records.reached(its))
      }
      await ask(async () => {
        if (server.readOnly) throw new Error('the database server is read-only')
        await proved()
      })
      mine = asked
      sessions++
    }
    const reach = (): Promise<void> => {
      if (mine === life) return Promise.resolve()
      return (reaching ??= connect().finally(() => (reaching = null)))
    }
    const reconnect = (): void => void reach().catch(() => schedule.after(of, AGAIN_MS, reconnect))
    reconnecting.add({ of, reconnect })
    return { incarnation, reach, sessions: () => sessions, drop: () => void (mine = null), ask }
  }
  const server: DatabaseServer = {
    life: () => life,
    records,
    sessionOf,
    standby: () => {
      const [promote, restore, place] = [memories.standby(), records.standby(), rows().length]
      const fromMs = schedule.elapsed()
      return () => {
        const gone = promote()
        restore()
        const ids = gone.map((row) => rowId(row, row.commandId))
        const known = ids.filter((id) => server.acknowledged.delete(id))
        const loss = { rows: gone, acknowledged: known, place, fromMs, toMs: schedule.elapsed() }
        say(`store: a standby takes over and lacks ${gone.length} rows; ${place} are left`)
        lost.push(loss)
        for (const listener of listeners) listener(place)
        replace()
        return loss
      }
    },
    failOver: () => {
      say('store: a standby takes over and has every row')
      replace()
    },
    losses: lost,
    acknowledged: new Set(),
    onLoss: (listener) => void listeners.add(listener),
    readOnly: false,
  }
  return server
}
