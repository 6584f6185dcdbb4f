/** Reads why writing is stopped and which rows are gone, and ends the stop. */
import { sql } from 'kysely'
import { THERE, plain } from './incarnationSql.ts'
import { type Cells, type LostRow, lostRow } from './lostRow.ts'
import type { Run } from './sql.ts'
import { queriesOn } from './typedQueries.ts'
import type { Queries } from './typedQueries.ts'

/**
 * `foundAt`: when a control found that the row is gone; `adoptedAt`: when an operator adopted the rest; in ms, by the
 * database's clock.
 */
export type DeclaredRow = LostRow & { readonly foundAt: number; readonly adoptedAt: number | null }
export type Stopped = { readonly reason: string; readonly since: Date; readonly lost: readonly LostRow[] }

const COLUMNS = ['key', 'version', 'command', 'data', 'at'] as const
const PAGE = 500

const openDeclared = async ({ db }: Queries): Promise<void> => {
  const ms = (column: 'found_at' | 'adopted_at') =>
    sql<number | null>`(extract(epoch from ${sql.ref(column)}) * 1000)::bigint`.as(column)
  const rows = db
    .selectFrom('lost_rows')
    .select([...COLUMNS, ms('found_at'), ms('adopted_at')])
    .orderBy('found_at')
    .orderBy('key')
    .orderBy('version')
    .orderBy('command')
  await sql`declare lost_rows_read no scroll cursor for ${rows}`.execute(db)
}
/** All rows that were ever found to be lost, in the order in which they were found. Must run in a transaction. */
export async function* declaredLost(run: Run, queries: Queries): AsyncGenerator<DeclaredRow> {
  // a database that is not migrated yet has no record of lost rows
  const [table] = await run(plain(`select to_regclass('lost_rows') is not null as there`))
  if (table!['there'] !== true) return
  await openDeclared(queries)
  let page: readonly Cells[]
  do {
    page = await run(plain(`fetch ${PAGE} from lost_rows_read`))
    for (const row of page)
      yield { ...lostRow(row), foundAt: row['found_at'] as number, adoptedAt: row['adopted_at'] as number | null }
  } while (page.length === PAGE)
  await run(plain('close lost_rows_read'))
}

/** The rows that are gone and that nobody has adopted as lost. */
const keptIn = async ({ db }: Queries): Promise<readonly LostRow[]> => {
  const rows = await db
    .selectFrom('lost_rows')
    .where('adopted_at', 'is', null)
    .select(COLUMNS)
    .orderBy('at')
    .orderBy('key')
    .orderBy('version')
    .execute()
  return rows.map(lostRow)
}
/** Returns why writing is stopped and which rows are gone; null: writing is not stopped. */
export const stoppedOf = async (run: Run): Promise<Stopped | null> => {
  const [tables] = await run(plain(THERE))
  if (tables!['there'] !== true) return null
  const queries = await queriesOn(run)
  const state = await queries.db
    .selectFrom('incarnation')
    .where('id', '=', 1)
    .select(['reason', 'stopped_at'])
    .executeTakeFirst()
  if (!state?.stopped_at) return null
  return { reason: state.reason ?? '', since: state.stopped_at, lost: await keptIn(queries) }
}

/**
 * Ends the stop: from now on, the rows that the database holds are the truth. Only the rows in `lost`, which an
 * operator was shown, are marked as adopted; if a control has found others meanwhile, the stop stays. Resolves to
 * whether it has ended. Must run in a transaction.
 */
export const goOn = async (run: Run, { lost }: Stopped): Promise<boolean> => {
  const queries = await queriesOn(run)
  const { db } = queries
  await db.selectFrom('incarnation').where('id', '=', 1).select('id').forUpdate().execute()
  const names = JSON.stringify(lost.map(({ key, version, command }) => ({ key, version, command })))
  const shown = sql<Pick<LostRow, 'key' | 'version' | 'command'>>`json_to_recordset(${names}::json)`
  await db
    .updateTable('lost_rows as l')
    .from(shown.as<'r'>(sql`r(key text, version int, command uuid)`))
    .set({ adopted_at: sql<Date>`clock_timestamp()` })
    .whereRef('l.key', '=', 'r.key')
    .whereRef('l.version', '=', 'r.version')
    .whereRef('l.command', '=', 'r.command')
    .where('l.adopted_at', 'is', null)
    .execute()
  if ((await keptIn(queries)).length > 0) return false
  await db.updateTable('incarnation').set({ stopped_at: null, reason: null }).where('id', '=', 1).execute()
  return true
}
