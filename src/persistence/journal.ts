/** The journal on SQL: the writer and the tail reader, the feed in commit order, and the checkpoints of its readers. */
import type { Journal } from '../actors/runtime/ports.ts'
import { feedRow, partsOfPosition } from './landmarks.ts'
import { JOURNAL, recallOf, WHOLE } from './recall.ts'
import { reading } from './sql.ts'
import type { Database } from './sql.ts'
import { writerOf } from './writer.ts'

const COLUMNS = 'key, version, command, data, at, cause, xid::text as xid, pos'

/** Qualified with the table: a bare `xid` would be the selected text, where '1000' sorts before '999'. */
const IN_COMMIT_ORDER = 'order by journal.xid, journal.pos'
/**
 * The feed stops before the oldest open transaction, whose rows would otherwise appear before rows that were already
 * read.
 */
const FEED = `select ${COLUMNS} from journal where (xid, pos) > ($1::xid8, $2::int)
  and xid < pg_snapshot_xmin(pg_current_snapshot()) ${IN_COMMIT_ORDER} limit $3::int`
const HISTORY = `select ${COLUMNS} from ${WHOLE} journal
  where key in (select json_array_elements_text($1::json)) ${IN_COMMIT_ORDER} limit $2::int`
const SAVE = `insert into checkpoints (reader, position) values ($1, $2)
  on conflict (reader) do update set position = excluded.position`

export const sqlJournal = (database: Database, maxWaiting?: number): Journal => {
  const writer = writerOf(database, maxWaiting)
  const read = reading(database, JOURNAL)
  return {
    append: writer.append,
    recall: recallOf(database),
    history: async (keys, limit) =>
      (await read({ text: HISTORY, params: [JSON.stringify(keys), limit], name: 'history' })).map(feedRow),
    feed: async (after, limit) =>
      (await read({ text: FEED, params: [...partsOfPosition(after), limit], name: 'feed' })).map(feedRow),
    checkpoint: async (reader) => {
      const rows = await read({ text: 'select position from checkpoints where reader = $1', params: [reader] })
      return (rows[0]?.['position'] as string | undefined) ?? ''
    },
    saveCheckpoint: async (reader, position) =>
      void (await database.write({ text: SAVE, params: [reader, position], name: 'save' })),
    onAppended: writer.onAppended,
    get exclusive() {
      return database.exclusive
    },
    get incarnation() {
      return database.incarnation?.() ?? 0
    },
    close: writer.drain,
  }
}
