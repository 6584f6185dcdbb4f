/**
 * Notices that a database comes back with less than it acknowledged: a replica without the last commits was promoted, or an older copy
 * was put in its place. Used by every writing session before its first write.
 *
 * INCARNATION-1 a session to a server that cannot be written (a standby, read-only) is not used;
 * INCARNATION-2 each new session looks for the rows that this process was told are stored, and for those that it has read. If one is gone,
 *    writing is stopped for all processes, by a trigger in the database, until an operator adopts what is there;
 * INCARNATION-3 nobody writes for `GRACE_MS` after a change of server or of its timeline, or after a process has found the write-ahead log of
 *    the server behind what it had seen of it. So every control has looked before anything is decided on rows that may be gone;
 * INCARNATION-4 the lost rows are kept in the database, so that an operator sees what is gone and whom it concerns.
 */
import type { Journal, JournalRow } from '../actors/runtime/ports.ts'
import { NotWritable } from './notWritable.ts'

/**
 * Longer than a control needs to notice that its server is gone (7 s at most), to reach another one (5 s), and to look. A control that needs
 * longer finds what it wrote later; hosts then still refuse a second slot for a function.
 */
export const GRACE_MS = 15_000
/** The last rows that a process remembers, of those it wrote and of those it read; a replica that lacks more has lost some of these as well. */
export const REMEMBERED_MAX = 2_000
/** An entity that is read anew may have a long history, which is not what a replica lacks. */
const READ_OF_ENTITY_MAX = 8

export const REASON =
  'the database has lost rows that it had acknowledged; an operator decides with: accelerando migrate --adopt'

/** What is asked of the database that a session has reached. */
export type IncarnationRecords = {
  /** Whether the tables are there; before the first migration they are not. */
  readonly isThere: () => Promise<boolean>
  /** Id of the cloud. */
  readonly cluster: () => Promise<string | null>
  /** Records which server this is; if it is another one than before, nobody writes for `graceMs`. */
  readonly noteServer: (graceMs: number) => Promise<void>
  /** Keeps those of these rows that the journal does not hold as lost, and returns how many they are. */
  readonly keepLost: (rows: readonly JournalRow[]) => Promise<number>
  /** Stops all writing. The first reason stays, unless this one `counts` more. */
  readonly stop: (reason: string, counts: boolean) => Promise<void>
  /** Rejects with `NotWritable`; else why writing is stopped, and how far the write-ahead log of the server is. */
  readonly look: () => Promise<{ readonly reason: string | null; readonly at: bigint }>
  /** Nobody writes for so long. */
  readonly wait: (graceMs: number) => Promise<void>
}
export type Incarnation = {
  /** Remembers rows that the store has acknowledged. */
  readonly wrote: (rows: readonly JournalRow[]) => void
  /** Remembers rows that this process acts upon, whoever wrote them. */
  readonly read: (rows: readonly JournalRow[]) => void
  /** Rejects when the session must not be used. If rows are gone, it stops all writing, and resolves. */
  readonly checkSession: (records: IncarnationRecords) => Promise<void>
  /** Rejects with the reason while writing is stopped, and when the session cannot write. For readiness. */
  readonly look: (records: IncarnationRecords) => Promise<void>
}

/** The last rows that were added. */
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
  let cluster: string | null = null
  /** How far the write-ahead log of the server was when it was last looked at. */
  let seenAt = 0n
  const expectCluster = async (records: IncarnationRecords): Promise<void> => {
    const id = await records.cluster()
    if (cluster !== null && id !== cluster)
      throw new NotWritable(`the database that answers belongs to another cloud (${id ?? 'none'}, not ${cluster})`)
    cluster = id
  }
  const findLost = async ({ keepLost, stop }: IncarnationRecords): Promise<void> => {
    const known = written.last()
    const lost = await keepLost(known)
    const lostReads = await keepLost(read.last())
    if (lost + lostReads === 0) return
    const cut = lost === known.length && lost >= REMEMBERED_MAX
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
      await expectCluster(records)
      await records.noteServer(graceMs)
      await look(records).catch((cause: unknown) => {
        // that writing is stopped already does not keep the session from being used for reading
        if (!(cause instanceof NotWritable)) throw cause
      })
      await findLost(records)
    },
    look,
  }
}

/**
 * The journal of a process that remembers what passes through it. What was written although its writer got no answer is read again by the
 * writer, and what others wrote by the relay before it leaves the system: so rows are known also when their writer has died.
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
