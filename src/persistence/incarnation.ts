/**
 * Notices that a database comes back with less than it acknowledged: a replica without the last commits was promoted, or an older copy
 * was put in its place. Used by every writing session before its first write.
 *
 * INCARNATION-1 a session to a server that cannot be written (a standby, read-only) is not used;
 * INCARNATION-2 each new session looks for the rows that this process was told are stored. If one is gone, writing is stopped for all
 *    processes, by a trigger in the database, until an operator adopts what is there;
 * INCARNATION-3 after a change of server or of its timeline nobody writes for `GRACE_MS`, likewise when a process sees the write-ahead log of the server behind what it has seen of it, so that every control has looked before anything
 *    is decided on rows that may be gone;
 * INCARNATION-4 the lost rows are kept in the database, so that an operator sees what is gone and whom it concerns.
 */
import type { Append, JournalRow } from '../actors/runtime/ports.ts'
import type { Run } from './sql.ts'

/**
 * Longer than a control needs to notice that its server is gone (7 s at most), to reach another one (5 s), and to look. A control that needs
 * longer finds what it wrote later; hosts then still refuse a second slot for a function.
 */
export const GRACE_MS = 15_000
/** The last rows that a process remembers; a replica that lacks more has lost some of these as well. */
const ROWS_MAX = 2_000

export class NotWritable extends Error {
  override readonly name = 'NotWritable'
}

const plain = (text: string, ...params: readonly unknown[]) => ({ text, params })

const STANDING = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as locked`
/** Rejects with `NotWritable`. */
export const expectWritable = async (run: Run): Promise<void> => {
  const [standing] = await run(plain(STANDING))
  if (standing!['standby'] === true) throw new NotWritable('the database server is a standby: it cannot be written')
  if (standing!['locked'] === true) throw new NotWritable('the database server is read-only')
}

/** A dump that was restored into the same server has tables of other numbers. */
const SERVER = `update incarnation set system = s.system, timeline = s.timeline,
    writable_at = case when incarnation.system is null then null else clock_timestamp() + $1::bigint * interval '1 ms' end
  from (select (select system_identifier::text from pg_control_system()) || '/' || 'journal'::regclass::oid as system,
    ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int as timeline) s
  where id = 1 and (incarnation.system, incarnation.timeline) is distinct from (s.system, s.timeline)`

const without = (table: string) =>
  `not exists (select from ${table} t where t.key = r.key and t.version = r.version and t.command = r.command)`
const LOST = `with lost as (
    select r.* from json_to_recordset($1::json) r(key text, version int, command uuid, data json, at bigint)
    where ${without('journal')} and ${without('journal_archive')} and not exists (
      select from lost_rows t where t.key = r.key and t.version = r.version and t.command = r.command and t.adopted_at is not null)),
  kept as (
    insert into lost_rows (key, version, command, data, at, found_at)
    select key, version, command, data, at, clock_timestamp() from lost on conflict do nothing)
  select count(*)::int as lost from lost`
const STOP = `update incarnation set stopped_at = coalesce(stopped_at, clock_timestamp()),
    reason = coalesce(reason, $1) where id = 1`
const REASON =
  'the database has lost rows that it had acknowledged; an operator decides with: accelerando migrate --adopt'
/** Rows looked for in one statement. */
const PORTION = 200

const LOOK = `select reason, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text as at from (
    select case when stopped_at is null then null else reason end as reason from incarnation where id = 1) one`
/** The log of the server is behind what was seen of it: it is an older copy, or a crash has taken back what was not synced. */
const WAIT = `update incarnation set writable_at = clock_timestamp() + $1::bigint * interval '1 ms' where id = 1`

/** Whether the tables are there; before the first migration they are not. */
const THERE = `select to_regclass('incarnation') is not null and to_regclass('cluster') is not null as there`

export type Incarnation = {
  /** Remembers rows that the store has acknowledged. */
  readonly acknowledged: (appends: readonly Append[]) => void
  /** Rejects when the session must not be used. If rows are gone, it stops all writing, and resolves. */
  readonly prove: (run: Run) => Promise<void>
  /** Rejects with the reason while writing is stopped, and when the session cannot write. For readiness. */
  readonly look: (run: Run) => Promise<void>
}

const cellsOf = (rows: readonly JournalRow[]) =>
  rows.map(({ key, version, commandId, events, at }) => ({ key, version, command: commandId, data: events, at }))

export const openIncarnation = (graceMs = GRACE_MS): Incarnation => {
  let known: JournalRow[] = []
  let cluster: string | null = null
  /** How far the write-ahead log of the server was when it was last looked at. */
  let seenAt = 0n
  const expectCluster = async (run: Run): Promise<void> => {
    const [row] = await run(plain('select id::text as id from cluster'))
    const id = (row?.['id'] as string | undefined) ?? null
    if (cluster !== null && id !== cluster)
      throw new NotWritable(`the database that answers belongs to another cloud (${id ?? 'none'}, not ${cluster})`)
    cluster = id
  }
  const findLost = async (run: Run): Promise<void> => {
    let lost = 0
    // also with nothing to look for, so that a missing right is found at the start
    for (let from = 0; from === 0 || from < known.length; from += PORTION) {
      const portion = JSON.stringify(cellsOf(known.slice(from, from + PORTION)))
      lost += (await run(plain(LOST, portion)))[0]!['lost'] as number
    }
    if (lost === 0) return
    const cut = lost === known.length && lost >= ROWS_MAX
    await run(
      plain(
        STOP,
        cut ? `${REASON}. More rows are gone than this control remembers, so the list is not complete` : REASON,
      ),
    )
  }
  const look = async (run: Run): Promise<void> => {
    await expectWritable(run)
    const [row] = await run(plain(LOOK))
    const at = BigInt(row!['at'] as string)
    if (at < seenAt) await run(plain(WAIT, graceMs))
    seenAt = at
    if (row!['reason'] !== null) throw new NotWritable(`writing is stopped: ${row!['reason'] as string}`)
  }
  return {
    acknowledged: (appends) => {
      for (const { rows } of appends) known.push(...rows)
      if (known.length > ROWS_MAX * 2) known = known.slice(-ROWS_MAX)
    },
    prove: async (run) => {
      const [tables] = await run(plain(THERE))
      if (tables!['there'] !== true) return
      await expectCluster(run)
      await run(plain(SERVER, graceMs))
      await look(run).catch((cause: unknown) => {
        // that writing is stopped already does not keep the session from being used for reading
        if (!(cause instanceof NotWritable)) throw cause
      })
      known = known.slice(-ROWS_MAX)
      await findLost(run)
    },
    look,
  }
}

/** A row that the database had acknowledged and does not hold any more. */
export type LostRow = {
  readonly key: string
  readonly version: number
  readonly command: string
  readonly events: readonly { readonly type: string }[]
  /** When it was decided, ms since the epoch. */
  readonly at: number
}
export type Stopped = { readonly reason: string; readonly since: Date; readonly lost: readonly LostRow[] }

const IS_STOPPED = 'select stopped_at is not null as stopped from incarnation where id = 1'
/** Whether writing is stopped until an operator adopts. A reading session can ask, whatever the writing one can do. */
export const isStopped = async (run: Run): Promise<boolean> => (await run(plain(IS_STOPPED)))[0]?.['stopped'] === true

const STATE = `select reason, stopped_at from incarnation where id = 1 and stopped_at is not null`
const KEPT = `select key, version, command, data, at from lost_rows where adopted_at is null order by at, key, version`
/** Why writing is stopped, and what is gone; null: it is not stopped. */
export const stoppedOf = async (run: Run): Promise<Stopped | null> => {
  const [tables] = await run(plain(THERE))
  if (tables!['there'] !== true) return null
  const [state] = await run(plain(STATE))
  if (state === undefined) return null
  const rows = await run(plain(KEPT))
  const lost = rows.map((row) => ({
    key: row['key'] as string,
    version: row['version'] as number,
    command: row['command'] as string,
    events: row['data'] as LostRow['events'],
    at: row['at'] as number,
  }))
  return { reason: state['reason'] as string, since: state['stopped_at'] as Date, lost }
}

/**
 * Ends the stop: what the database holds is what counts from now on. Only rows that were shown are marked as adopted; if a control has
 * found others meanwhile, the stop stays. Resolves to whether it has ended. In one transaction.
 */
export const goOn = async (run: Run, { lost }: Stopped): Promise<boolean> => {
  await run(plain('select 1 from incarnation where id = 1 for update'))
  const shown = JSON.stringify(lost.map(({ key, version, command }) => ({ key, version, command })))
  await run(plain(ADOPTED, shown))
  const left = await run(plain(KEPT))
  if (left.length > 0) return false
  await run(plain('update incarnation set stopped_at = null, reason = null where id = 1'))
  return true
}
const ADOPTED = `update lost_rows l set adopted_at = clock_timestamp() from json_to_recordset($1::json) r(key text, version int, command uuid)
  where l.key = r.key and l.version = r.version and l.command = r.command and l.adopted_at is null`
