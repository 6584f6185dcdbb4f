/**
 * Commit order is the order of transaction ids (xid), which are valid on one database server only. A journal that
 * was dumped on one server and restored on another may contain xids that the other has not reached yet: the feed would
 * return new rows only after the server has reached those xids, and out of order.
 */
import { POSITION_AT_END } from './landmarks.ts'
import type { Database, Run } from './sql.ts'

const AHEAD = `select last::text as last, pg_snapshot_xmax(pg_current_snapshot())::text as next
  from (select xid as last from (
      (select xid from journal order by xid desc, pos desc limit 1)
      union all (select split_part(substring(position from '${POSITION_AT_END}'), '.', 1)::xid8
        from checkpoints where position ~ '${POSITION_AT_END}')
    ) known order by xid desc limit 1) latest
  where last >= pg_snapshot_xmax(pg_current_snapshot())`

export class Restored extends Error {}

const plain = (text: string) => ({ text, params: [] })

export const expectOwnServer = async (run: Run): Promise<void> => {
  const [ahead] = await run(plain(AHEAD))
  if (ahead !== undefined)
    throw new Restored(
      `this database was restored from another server: its journal contains transaction ${String(ahead['last'])}, but this ` +
        `server has not reached ${String(ahead['next'])} yet. New rows would not be published. ` +
        'Stop every program that uses it and run `accelerando migrate --adopt` once',
    )
}

/** Renumbers all rows as if one very old transaction (xid 1) had written them, in their present order. */
const ADOPT = [
  'lock table journal, journal_archive, checkpoints in access exclusive mode',
  'set local enable_hashjoin = on',
  'set local enable_seqscan = on',
  `create temporary table places on commit drop as
    select old, key, version, xid, pos, row_number() over (order by xid, pos, key, version) as place from (
      select false as old, key, version, xid, pos from journal
      union all select true, key, version, xid, pos from journal_archive) known`,
  'create index on places (xid, pos)',
  'analyze places',
  `update checkpoints c set position = regexp_replace(c.position, '${POSITION_AT_END}', coalesce('1.' || (
      select p.place from places p where (p.xid, p.pos) <= (
        split_part(substring(c.position from '${POSITION_AT_END}'), '.', 1)::xid8,
        split_part(substring(c.position from '${POSITION_AT_END}'), '.', 2)::int)
      order by p.xid desc, p.pos desc, p.place desc limit 1), ''))
    where c.position ~ '${POSITION_AT_END}'`,
  `update journal j set xid = '1', pos = p.place from places p where not p.old and p.key = j.key and p.version = j.version`,
  // all programs are stopped, so no program needs time to look for lost rows
  'update incarnation set system = null, timeline = null, writable_at = null',
  `update journal_archive j set xid = '1', pos = p.place from places p where p.old and p.key = j.key and p.version = j.version`,
]

export type Adopted = { readonly rows: number }

export const adopt = async (run: Run): Promise<Adopted> => {
  for (const text of ADOPT) await run(plain(text))
  const [counted] = await run(plain('select count(*) as rows from places'))
  return { rows: counted!['rows'] as number }
}

const isAheadIn = async (database: Pick<Database, 'read' | 'close'>): Promise<boolean> => {
  try {
    return (await database.read(plain(AHEAD))).length > 0
  } finally {
    await database.close()
  }
}

/**
 * Must be run by the owner of the tables. Null: the journal was written on this server. Rejects while a program uses
 * the database.
 */
export const adoptServer = async (url: string): Promise<Adopted | null> => {
  const { postgresDatabase } = await import('./postgres/postgres.ts')
  if (!(await isAheadIn(await postgresDatabase({ url, readers: 1 })))) return null
  const database = await postgresDatabase({ url, readers: 1, presence: 'alone' })
  try {
    return await database.transaction(adopt)
  } finally {
    await database.close()
  }
}
