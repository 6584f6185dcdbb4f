/** The tables and queries of `incarnation.ts` in SQL. */
import type { JournalRow } from '../actors/runtime/ports.ts'
import type { IncarnationRecords } from './incarnation.ts'
import { type LostRow, lostRow } from './lostRow.ts'
import { NotWritable } from './notWritable.ts'
import type { Run } from './sql.ts'

export const plain = (text: string, ...params: readonly unknown[]) => ({ text, params })

const STANDING = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as locked`
/** Rejects with `NotWritable` when the server is a standby or read-only. */
export const expectWritable = async (run: Run): Promise<void> => {
  const [standing] = await run(plain(STANDING))
  if (standing!['standby'] === true) throw new NotWritable('the database server is a standby: it cannot be written')
  if (standing!['locked'] === true) throw new NotWritable('the database server is read-only')
}

/**
 * `system` contains the oid of the journal table, since a dump that was restored into the same server has tables with
 * other oids.
 */
const SERVER = `update incarnation set system = s.system, timeline = s.timeline,
    writable_at = case when incarnation.system is null then null else clock_timestamp() + $1::bigint * interval '1 ms' end
  from (select (select system_identifier::text from pg_control_system()) || '/' || 'journal'::regclass::oid as system,
    ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int as timeline) s
  where id = 1 and (incarnation.system, incarnation.timeline) is distinct from (s.system, s.timeline)`

const without = (table: string) =>
  `not exists (select from ${table} t where t.key = r.key and t.version = r.version and t.command = r.command)`
const GONE = `select r.* from json_to_recordset($1::json) r(key text, version int, command uuid, data json, at bigint)
    where ${without('journal')} and ${without('journal_archive')} and not exists (
      select from lost_rows t where t.key = r.key and t.version = r.version and t.command = r.command and t.adopted_at is not null)`
const LOST = `with lost as (${GONE}),
  kept as (
    insert into lost_rows (key, version, command, data, at, found_at)
    select key, version, command, data, at, clock_timestamp() from lost on conflict do nothing)
  select count(*)::int as lost from lost`
const STOP = `update incarnation set stopped_at = coalesce(stopped_at, clock_timestamp()),
    reason = case when reason is null or $2 then $1 else reason end where id = 1`
const LOOK = `select reason, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text as at from (
    select case when stopped_at is null then null else reason end as reason from incarnation where id = 1) one`
/**
 * Delays writing when the write-ahead log is behind the position seen before: the server is an older copy, or a crash
 * has lost unsynced commits.
 */
const WAIT = `update incarnation set writable_at = clock_timestamp() + $1::bigint * interval '1 ms' where id = 1`

/** Whether the tables exist; before the first migration they do not. */
export const THERE = `select to_regclass('incarnation') is not null and to_regclass('cluster') is not null as there`

const IS_STOPPED = 'select stopped_at is not null as stopped from incarnation where id = 1'
/**
 * Whether writing is stopped until an operator adopts. A reading session can ask this even when nothing can be written.
 */
export const isStopped = async (run: Run): Promise<boolean> => (await run(plain(IS_STOPPED)))[0]?.['stopped'] === true

/** How many rows one statement looks for. */
const PORTION = 200
const cellsOf = (rows: readonly JournalRow[]) =>
  rows.map(({ key, version, commandId, events, at }) => ({ key, version, command: commandId, data: events, at }))

function* portionsOf(rows: readonly JournalRow[]): Generator<string> {
  // one statement runs even without rows, so that a missing right is noticed at the start
  for (let from = 0; from === 0 || from < rows.length; from += PORTION)
    yield JSON.stringify(cellsOf(rows.slice(from, from + PORTION)))
}
/** Returns those of the rows that the database does not hold and that nobody has adopted as lost. Changes nothing. */
export const goneFrom = async (run: Run, rows: readonly JournalRow[]): Promise<readonly LostRow[]> => {
  const gone: LostRow[] = []
  for (const portion of portionsOf(rows)) gone.push(...(await run(plain(GONE, portion))).map(lostRow))
  return gone
}

export const recordsOn = (run: Run): IncarnationRecords => ({
  isThere: async () => (await run(plain(THERE)))[0]!['there'] === true,
  cloud: async () =>
    ((await run(plain('select id::text as id from cluster')))[0]?.['id'] as string | undefined) ?? null,
  noteServer: async (graceMs) => void (await run(plain(SERVER, graceMs))),
  keepLost: async (rows) => {
    let lost = 0
    for (const portion of portionsOf(rows)) lost += (await run(plain(LOST, portion)))[0]!['lost'] as number
    return lost
  },
  stop: async (reason, counts) => void (await run(plain(STOP, reason, counts))),
  look: async () => {
    await expectWritable(run)
    const [row] = await run(plain(LOOK))
    return { reason: row!['reason'] as string | null, at: BigInt(row!['at'] as string) }
  },
  wait: async (graceMs) => void (await run(plain(WAIT, graceMs))),
})
