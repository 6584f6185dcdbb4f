/**
 * Notices that a database has lost rows that it acknowledged: a replica without the last commits was promoted, or an
 * older copy replaced the database. Every writing session is checked before its first write.
 *
 * INCARNATION-1 a session to a server that cannot be written (a standby, read-only) is not used;
 * INCARNATION-2 each new session looks for the rows that this process was told are stored, and for those that it has
 *    read. If a row is gone, writing is stopped for all processes, by a trigger in the database, until an operator
 *    adopts what the database still holds;
 * INCARNATION-3 nobody writes for `GRACE_MS` after a change of server or of its timeline, or after a process has found
 *    the write-ahead log of the server behind the position that it saw before. In this time every control looks, before
 *    anything is decided without the lost rows;
 * INCARNATION-4 the lost rows are kept in the database, so that an operator sees which rows are gone and whom they
 *    concern.
 */
import type { Journal, JournalRow } from '../actors/runtime/ports.ts'
import { NotWritable } from './notWritable.ts'

/**
 * Longer than a control needs to notice that its server is gone (7 s at most), to reach another one (5 s), and to look.
 * A slower control finds its lost rows only after others have written again; hosts then still refuse a second slot for
 * a function.
 */
export const GRACE_MS = 15_000
/**
 * How many of its last written rows, and of its last read rows, a process remembers. A replica that lacks more rows
 * also lacks some of these.
 */
export const REMEMBERED_MAX = 2_000
/** Of an entity that is read anew, only this many of the last rows are remembered: a replica lacks only recent rows. */
const READ_OF_ENTITY_MAX = 8

export const REASON =
  'the database has lost rows that it had acknowledged; an operator decides with: accelerando migrate --adopt'

/** Questions and orders to the database that a session has reached. */
export type IncarnationRecords = {
  /** Whether the tables exist; before the first migration they do not. */
  readonly isThere: () => Promise<boolean>
  /** The id of the cloud. */
  readonly cloud: () => Promise<string | null>
  /** Records the identity of the server; if it differs from the recorded one, nobody may write for `graceMs`. */
  readonly noteServer: (graceMs: number) => Promise<void>
  /** Stores, as lost, those of the rows that the journal does not hold; returns their number. */
  readonly keepLost: (rows: readonly JournalRow[]) => Promise<number>
  /** Stops all writing. The reason of an earlier stop is replaced only if `counts` is true. */
  readonly stop: (reason: string, counts: boolean) => Promise<void>
  /**
   * Rejects with `NotWritable`; otherwise returns why writing is stopped (null: it is not) and the position of the
   * server's write-ahead log.
   */
  readonly look: () => Promise<{ readonly reason: string | null; readonly at: bigint }>
  /** Forbids all writing for `graceMs`. */
  readonly wait: (graceMs: number) => Promise<void>
}
export type Incarnation = {
  /** Remembers rows that the store has acknowledged. */
  readonly wrote: (rows: readonly JournalRow[]) => void
  /** Remembers rows that this process acts upon, regardless of their writer. */
  readonly read: (rows: readonly JournalRow[]) => void
  /** Rejects when the session must not be used. If rows are gone, this stops all writing and still resolves. */
  readonly checkSession: (records: IncarnationRecords) => Promise<void>
  /** Rejects with the reason while writing is stopped, and when the session cannot write. For readiness. */
  readonly look: (records: IncarnationRecords) => Promise<void>
}

/** Remembers the rows that were added last. */
const remembered = () => {
  let rows: JournalRow[] = []
  return {
    add: (more: readonly JournalRow[]): void => {
      rows.push(...more)
      if (rows.length > REMEMBERED_MAX * 2) rows = rows.slice(-REMEMBERED_MAX)
    },
    last: (): readonly JournalRow[] => rows.slice(-REMEMBERED_MAX),
  }
}

export const openIncarnation = (graceMs = GRACE_MS): Incarnation => {
  const [written, read] = [remembered(), remembered()]
  let cloud: string | null = null
  /** The position of the server's write-ahead log at the last look. */
  let seenAt = 0n
  const expectCloud = async (records: IncarnationRecords): Promise<void> => {
    const id = await records.cloud()
    if (cloud !== null && id !== cloud)
      throw new NotWritable(`the database that answers belongs to another cloud (${id ?? 'none'}, not ${cloud})`)
    cloud = id
  }
  const findLost = async ({ keepLost, stop }: IncarnationRecords): Promise<void> => {
    const lost = await keepLost(written.last())
    const lostReads = await keepLost(read.last())
    if (lost + lostReads === 0) return
    const cut = lost >= REMEMBERED_MAX
    await stop(
      cut ? `${REASON}. More rows are gone than this control remembers, so the list is not complete` : REASON,
      cut,
    )
  }
  const look = async (records: IncarnationRecords): Promise<void> => {
    const { reason, at } = await records.look()
    if (at < seenAt) await records.wait(graceMs)
    seenAt = at
    if (reason !== null) throw new NotWritable(`writing is stopped: ${reason}`)
  }
  return {
    wrote: written.add,
    read: read.add,
    checkSession: async (records) => {
      if (!(await records.isThere())) return
      await expectCloud(records)
      await records.noteServer(graceMs)
      await look(records).catch((cause: unknown) => {
        // a session may still be used for reading while writing is stopped
        if (!(cause instanceof NotWritable)) throw cause
      })
      await findLost(records)
    },
    look,
  }
}

/**
 * A journal that remembers the rows that pass through it. A row whose writer got no answer is remembered when that
 * writer reads it again, and rows of other processes when the relay reads them to publish them: so a row is remembered
 * even if its writer has died.
 */
export const remembering = (journal: Journal, incarnation: Incarnation): Journal => ({
  ...journal,
  append: async (wanted) => {
    const verdict = await journal.append(wanted)
    if (verdict === 'appended') incarnation.wrote(wanted.rows)
    return verdict
  },
  recall: async (keys) => {
    const found = await journal.recall(keys)
    for (const { rows } of found.values()) incarnation.read(rows.slice(-READ_OF_ENTITY_MAX))
    return found
  },
  feed: async (after, limit) => {
    const rows = await journal.feed(after, limit)
    incarnation.read(rows)
    return rows
  },
  get exclusive() {
    return journal.exclusive
  },
  get incarnation() {
    return journal.incarnation ?? 0
  },
})
