/**
 * Moves journal rows of ended entities to the archive table, so that the journal stays small.
 *
 * ARCHIVE-1 a row is in the journal or in the archive, never in both or in neither, and keeps its position in the
 *    commit order;
 * ARCHIVE-2 a row moves only after the checkpoint of every reader has passed it;
 *    How old it is says the order of commits, not its date alone (AGED-1);
 * ARCHIVE-3 an entity is always folded from all its rows: if the first rows were moved, they are read from the archive.
 */
import { sql } from 'kysely'
import { ENDING, leavable } from '../actors/retention.ts'
import type { EntityKey } from '../vocabulary/identifiers.ts'
import { agedCount } from './aged.ts'
import type { JournalRow } from '../actors/runtime/ports.ts'
import { ARCHIVE_READER, isBefore, partsOfPosition, positionIn } from './landmarks.ts'
import { TABLES } from './ormEntities.ts'
import type { Archived, ArchiveOrder, Store } from './store.ts'
import { journalRow } from './recall.ts'
import type { Database, Rows } from './sql.ts'
import { JOURNAL_COLUMNS, queriesOn, wholeJournal } from './typedQueries.ts'
import type { Queries } from './typedQueries.ts'

const START = '0.0'
/** So many rows before a portion are read for their dates. */
const BEFORE_ROWS = 200
/** The most rows that one portion looks at. */
const LOOKED_MAX = 256_000

/** `from`: where the last archive run ended. `published`: the lowest checkpoint of all other readers. */
const bounds = async ({ em }: Queries) => {
  const rows = await em.find(TABLES.checkpoints, {})
  const readers = rows.map(({ reader, position }) => ({ reader, position: positionIn(position) }))
  const published = readers.flatMap(({ reader, position }) =>
    reader === ARCHIVE_READER || position === undefined ? [] : [position],
  )
  return {
    from: readers.find(({ reader }) => reader === ARCHIVE_READER)?.position ?? START,
    published: published.length === 0 ? null : published.reduce((least, one) => (isBefore(one, least) ? one : least)),
  }
}

/** Rows after position `from` up to position `published`; `last`: it is the last row of its entity. */
const passedRows = ({ db }: Queries, from: string, published: string, limit: number) =>
  db
    .selectFrom('journal as j')
    .where((eb) => eb(eb.refTuple('j.xid', 'j.pos'), '>', eb.tuple(...partsOfPosition(from))))
    .where((eb) => eb(eb.refTuple('j.xid', 'j.pos'), '<=', eb.tuple(...partsOfPosition(published))))
    .orderBy('j.xid')
    .orderBy('j.pos')
    .limit(limit)
    .select((eb) => [
      'j.key',
      'j.xid',
      'j.pos',
      'j.at',
      eb
        .not(
          eb.exists(
            eb
              .selectFrom('journal as n')
              .whereRef('n.key', '=', 'j.key')
              .where('n.version', '=', eb('j.version', '+', 1))
              .select('n.key'),
          ),
        )
        .as('last'),
    ])
    .execute()

/** The dates of some rows up to this position, which say how old those after it can be at most. */
const datesUpTo = async ({ db }: Queries, from: string): Promise<readonly number[]> => {
  const found = await Promise.all(
    (['journal', 'journal_archive'] as const).map((table) =>
      db
        .selectFrom(table)
        .where((eb) => eb(eb.refTuple('xid', 'pos'), '<=', eb.tuple(...partsOfPosition(from))))
        .orderBy('xid', 'desc')
        .orderBy('pos', 'desc')
        .limit(BEFORE_ROWS)
        .select(['xid', 'pos', 'at'])
        .execute(),
    ),
  )
  const place = ({ xid, pos }: { readonly xid: unknown; readonly pos: unknown }) => `${String(xid)}.${String(pos)}`
  return found
    .flat()
    .toSorted((one, other) => (isBefore(place(one), place(other)) ? -1 : 1))
    .slice(-BEFORE_ROWS)
    .map(({ at }) => at)
}

/** Rows that are old enough, the first ones after `from`; `all`: nothing else was looked at. */
const agedRows = async (queries: Queries, from: string, published: string, { before, limit }: ArchiveOrder) => {
  const known = await datesUpTo(queries, from)
  // many rows in a row may be dated wrong, so more are looked at until one counts
  for (let rows = limit; ; rows *= 4) {
    const passed = await passedRows(queries, from, published, rows)
    const count = agedCount([...known, ...passed.map(({ at }) => at)], before) - known.length
    const looked = passed.slice(0, Math.max(0, count))
    const all = looked.length === passed.length
    if (looked.length > 0 || passed.length < rows || rows >= LOOKED_MAX)
      return { looked, more: all && passed.length === rows }
  }
}

const historiesOf = ({ db }: Queries, keys: readonly string[]): Promise<Rows> =>
  db
    .selectFrom(wholeJournal(db).as('j'))
    .where('j.key', 'in', sql<string>`(select json_array_elements_text(${JSON.stringify(keys)}::json))`)
    .orderBy('j.key')
    .orderBy('j.version')
    .select(['j.key', 'j.version', 'j.command', 'j.data', 'j.at', 'j.cause'])
    .execute()

type Leaving = { readonly key: EntityKey; readonly upto: number; readonly whole: boolean }
const leavingOf = async (queries: Queries, keys: readonly EntityKey[]): Promise<readonly Leaving[]> => {
  const rows = (await historiesOf(queries, keys)).map(journalRow)
  const histories = Map.groupBy(rows, ({ key }: JournalRow) => key)
  return [...histories].flatMap(([key, own]) => {
    const count = leavable(key, own)
    return count === 0 ? [] : [{ key, upto: own[count - 1]!.version, whole: count === own.length }]
  })
}

/** One statement: the rows move and the checkpoint is saved, or nothing changes. */
const move = async ({ db }: Queries, leaving: readonly Leaving[], noted: string): Promise<number> => {
  const given = sql<Leaving>`json_to_recordset(${JSON.stringify(leaving)}::json)`
  const { rows } = await db
    .with('r', (qb) => qb.selectFrom(given.as<'l'>(sql`l(key text, upto int, whole boolean)`)).selectAll('l'))
    .with('gone', (qb) =>
      qb
        .deleteFrom('journal as j')
        .using('r')
        .whereRef('j.key', '=', 'r.key')
        .whereRef('j.version', '<=', 'r.upto')
        .returningAll('j'),
    )
    .with('filed', (qb) =>
      qb
        .insertInto('journal_archive')
        .columns([...JOURNAL_COLUMNS])
        .expression((eb) => eb.selectFrom('gone').select([...JOURNAL_COLUMNS]))
        .returning('key'),
    )
    .with('lost', (qb) =>
      qb.deleteFrom('snapshots as s').using('r').whereRef('s.entity', '=', 'r.key').where('r.whole', '=', true),
    )
    .with('noted', (qb) =>
      qb
        .insertInto('checkpoints')
        .values({ reader: ARCHIVE_READER, position: noted })
        .onConflict((of) => of.column('reader').doUpdateSet({ position: noted })),
    )
    .selectFrom('filed')
    .select(({ fn }) => fn.countAll<number>().as('rows'))
    .executeTakeFirstOrThrow()
  return rows
}

const archive = async (queries: Queries, order: ArchiveOrder): Promise<Archived> => {
  const { from, published } = await bounds(queries)
  if (published === null || !isBefore(from, published)) return { entities: 0, rows: 0, more: false }
  const { looked, more } = await agedRows(queries, from, published, order)
  const end = looked.at(-1)
  if (end === undefined) return { entities: 0, rows: 0, more: false }
  // an entity is considered only at its last row; if it has a later row, a later run considers it
  const keys = looked.filter(({ last }) => last === true).map(({ key }) => key)
  const ending = keys.filter((key) => ENDING.includes(key.slice(0, key.indexOf('/'))))
  const leaving = await leavingOf(queries, ending)
  const rows = await move(queries, leaving, `${end.xid}.${end.pos}`)
  return { entities: leaving.length, rows, more }
}

/** Loads MikroORM once for all portions. */
export const archiverOn = async ({ share }: Pick<Database, 'share'>): Promise<Store['archiveEnded']> => {
  const queries = await queriesOn(share)
  return (order) => archive(queries, order)
}
