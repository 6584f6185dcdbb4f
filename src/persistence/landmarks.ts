/**
 * Finds places in the journal's feed: the last row, the row at a position, and the position up to which rows may be in
 * the archive.
 */
import type { FeedRow, Landmarks, Position } from '../actors/runtime/ports.ts'
import { journalRow, JOURNAL } from './recall.ts'
import { reading } from './sql.ts'
import type { Database, Rows } from './sql.ts'

/** The name under which the archiver stores the position up to which it has examined the journal. */
export const ARCHIVE_READER = 'archive'
/**
 * The journal position at the end of a checkpoint's text, as a regular expression of JavaScript and of PostgreSQL; a
 * reader may store other text before it.
 */
export const POSITION_AT_END = String.raw`\d+\.\d+$`
const AT_END = new RegExp(POSITION_AT_END)
export const positionIn = (text: string): string | undefined => AT_END.exec(text)?.[0]

export const partsOfPosition = (position: Position): readonly [xid: string, pos: number] => {
  const [xid, pos] = position.split('.')
  return [xid === undefined || xid === '' ? '0' : xid, Number(pos ?? 0)]
}
export const isBefore = (one: Position, other: Position): boolean => {
  const [[xidA, posA], [xidB, posB]] = [partsOfPosition(one), partsOfPosition(other)]
  return BigInt(xidA) < BigInt(xidB) || (xidA === xidB && posA < posB)
}

export const positionOf = (row: Rows[number]): Position => `${String(row['xid'])}.${String(row['pos'])}`
export const feedRow = (row: Rows[number]): FeedRow => ({ ...journalRow(row), position: positionOf(row) })

const COLUMNS = 'key, version, command, data, at, cause, xid, pos'
const LAST = 'order by xid desc, pos desc limit 1'
const shown = (rows: string): string =>
  `select key, version, command, data, at, cause, found.xid::text as xid, pos from (${rows}) found
  order by found.xid desc, found.pos desc limit 1`
/** Like the feed, this leaves out rows that an open transaction may still precede. */
const NEWEST = shown(`(select ${COLUMNS} from journal where xid < pg_snapshot_xmin(pg_current_snapshot()) ${LAST})
  union all (select ${COLUMNS} from journal_archive ${LAST})`)
const AT = shown(`(select ${COLUMNS} from journal where (xid, pos) = ($1::xid8, $2::int))
  union all (select ${COLUMNS} from journal_archive where (xid, pos) = ($1::xid8, $2::int))`)

/** The server would refuse other text as a position, and no row has such a position. */
const POSITION = /^\d{1,19}\.\d{1,9}$/

export const sqlLandmarks = (database: Database): Landmarks => {
  const read = reading(database, JOURNAL)
  const one = async (text: string, params: readonly unknown[], name: string): Promise<FeedRow | null> => {
    const [row] = await read({ text, params, name })
    return row === undefined ? null : feedRow(row)
  }
  return {
    newest: () => one(NEWEST, [], 'newest'),
    at: async (position) => (POSITION.test(position) ? one(AT, partsOfPosition(position), 'at') : null),
    horizon: async () => {
      const text = 'select position from checkpoints where reader = $1'
      const [row] = await read({ text, params: [ARCHIVE_READER], name: 'horizon' })
      return (row && positionIn(row['position'] as string)) ?? ''
    },
    isBefore,
  }
}
