/**
 * Where journals of ended entities go, out of the way of the living.
 *
 * ARCHIVE-1 a row is in the journal or in the archive, never in both or in none, and keeps its place in the order;
 * ARCHIVE-2 nothing moves that some reader's checkpoint has not passed;
 * ARCHIVE-3 what an entity is folded from is whole: a tail whose beginning was moved is completed from the archive.
 */
import type { EntityKey } from '../identifiers.ts'
import type { JournalRow } from '../actors/runtime/ports.ts'
import type { Archived, ArchiveOrder } from './store.ts'
import { journalRow } from './recall.ts'
import type { Database, Rows, Statement } from './sql.ts'

const COLUMNS = 'key, version, pos, xid, command, data, at, cause'
/** Rows of both, to select from. */
export const WHOLE = `(select ${COLUMNS} from journal union all select ${COLUMNS} from journal_archive)`
const READER = 'archive'
const START = '0.0'

/** The end of whatever a reader keeps as its checkpoint. */
const placeIn = (text: string): string | undefined => /\d+\.\d+$/.exec(text)?.[0]
const partsOf = (place: string): readonly [bigint, number] => {
  const [xid, pos] = place.split('.')
  return [BigInt(xid!), Number(pos)]
}
const isBefore = (a: string, b: string): boolean => {
  const [[xidA, posA], [xidB, posB]] = [partsOf(a), partsOf(b)]
  return xidA < xidB || (xidA === xidB && posA < posB)
}

/** Where the last look ended, and the earliest place any reader has come to. */
const bounds = async ({ share }: Pick<Database, 'share'>) => {
  const rows = await share({ text: 'select reader, position from checkpoints', params: [] })
  const places = rows.map((row) => ({ reader: row['reader'], place: placeIn(row['position'] as string) }))
  const told = places.flatMap(({ reader, place }) => (reader === READER || place === undefined ? [] : [place]))
  return {
    from: places.find(({ reader }) => reader === READER)?.place ?? START,
    told: told.length === 0 ? null : told.reduce((least, place) => (isBefore(place, least) ? place : least)),
  }
}

const PASSED = `select j.key, j.xid::text as xid, j.pos, j.at,
    not exists (select from journal n where n.key = j.key and n.version = j.version + 1) as last
  from journal j where (j.xid, j.pos) > ($1::xid8, $2::int) and (j.xid, j.pos) <= ($3::xid8, $4::int)
  order by j.xid, j.pos limit $5::int`
const HISTORIES = `select key, version, command, data, at, cause from ${WHOLE} j
  where key in (select json_array_elements_text($1::json)) order by key, version`
const MOVE = `with r as (select * from json_to_recordset($1::json) r(key text, upto int, whole boolean)),
  gone as (delete from journal j using r where j.key = r.key and j.version <= r.upto returning j.*),
  filed as (insert into journal_archive (${COLUMNS}) select ${COLUMNS} from gone returning 1),
  lost as (delete from snapshots s using r where s.entity = r.key and r.whole),
  noted as (insert into checkpoints (reader, position) values ('${READER}', $2)
    on conflict (reader) do update set position = excluded.position)
  select count(*)::int as rows from filed`

const statement = (name: string, text: string, ...params: readonly unknown[]): Statement => ({ name, text, params })
const place = (row: Rows[number]): string => `${String(row['xid'])}.${String(row['pos'])}`

type Leaving = { readonly key: EntityKey; readonly upto: number; readonly whole: boolean }
const leavingOf = async (
  { share }: Pick<Database, 'share'>,
  keys: readonly EntityKey[],
): Promise<readonly Leaving[]> => {
  const { leavable } = await import('../actors/retention.ts')
  const rows = (await share(statement('histories', HISTORIES, JSON.stringify(keys)))).map(journalRow)
  const histories = Map.groupBy(rows, ({ key }: JournalRow) => key)
  return [...histories].flatMap(([key, own]) => {
    const count = leavable(key, own)
    return count === 0 ? [] : [{ key, upto: own[count - 1]!.version, whole: count === own.length }]
  })
}

export const archiveEnded = async (database: Database, { before, limit }: ArchiveOrder): Promise<Archived> => {
  const { from, told } = await bounds(database)
  if (told === null || !isBefore(from, told)) return { entities: 0, rows: 0, more: false }
  const [{ ENDING }, passed] = await Promise.all([
    import('../actors/retention.ts'),
    database.share(statement('passed', PASSED, ...from.split('.'), ...told.split('.'), limit)),
  ])
  const young = passed.findIndex((row) => (row['at'] as number) >= before)
  const looked = young < 0 ? passed : passed.slice(0, young)
  if (looked.length === 0) return { entities: 0, rows: 0, more: false }
  // an entity is judged at its last row: if there is a later one, it comes by later
  const keys = looked.filter((row) => row['last'] === true).map((row) => row['key'] as string)
  const ending = keys.filter((key) => ENDING.includes(key.slice(0, key.indexOf('/'))))
  const leaving = await leavingOf(database, ending)
  const [moved] = await database.share(statement('move', MOVE, JSON.stringify(leaving), place(looked.at(-1)!)))
  return { entities: leaving.length, rows: moved!['rows'] as number, more: young < 0 && passed.length === limit }
}
