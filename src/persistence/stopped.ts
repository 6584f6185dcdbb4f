/** Reads why writing is stopped and which rows are gone, and ends the stop. */
import { THERE, plain } from './incarnationSql.ts'
import { type Cells, type LostRow, lostRow } from './lostRow.ts'
import type { Run } from './sql.ts'

/**
 * `foundAt`: when a control found that the row is gone; `adoptedAt`: when an operator adopted the rest; in ms, by the
 * database's clock.
 */
export type DeclaredRow = LostRow & { readonly foundAt: number; readonly adoptedAt: number | null }
export type Stopped = { readonly reason: string; readonly since: Date; readonly lost: readonly LostRow[] }

const MS = (column: string) => `(extract(epoch from ${column}) * 1000)::bigint as ${column}`
const ALL = `select key, version, command, data, at, ${MS('found_at')}, ${MS('adopted_at')} from lost_rows
  order by found_at, key, version, command`
const PAGE = 500
/** All rows that were ever found to be lost, in the order in which they were found. Must run in a transaction. */
export async function* declaredLost(run: Run): AsyncGenerator<DeclaredRow> {
  // a database that is not migrated yet has no record of lost rows
  const [table] = await run(plain(`select to_regclass('lost_rows') is not null as there`))
  if (table!['there'] !== true) return
  await run(plain(`declare lost_rows_read no scroll cursor for ${ALL}`))
  let page: readonly Cells[]
  do {
    page = await run(plain(`fetch ${PAGE} from lost_rows_read`))
    for (const row of page)
      yield { ...lostRow(row), foundAt: row['found_at'] as number, adoptedAt: row['adopted_at'] as number | null }
  } while (page.length === PAGE)
  await run(plain('close lost_rows_read'))
}

const IS_STOPPED = 'select stopped_at is not null as stopped from incarnation where id = 1'
/**
 * Whether writing is stopped until an operator adopts. A reading session can ask this even when nothing can be written.
 */
export const isStopped = async (run: Run): Promise<boolean> => (await run(plain(IS_STOPPED)))[0]?.['stopped'] === true

const STATE = `select reason, stopped_at from incarnation where id = 1 and stopped_at is not null`
const KEPT = `select key, version, command, data, at from lost_rows where adopted_at is null order by at, key, version`
/** Returns why writing is stopped and which rows are gone; null: writing is not stopped. */
export const stoppedOf = async (run: Run): Promise<Stopped | null> => {
  const [tables] = await run(plain(THERE))
  if (tables!['there'] !== true) return null
  const [state] = await run(plain(STATE))
  if (state === undefined) return null
  const rows = await run(plain(KEPT))
  const lost = rows.map(lostRow)
  return { reason: state['reason'] as string, since: state['stopped_at'] as Date, lost }
}

/**
 * Ends the stop: from now on, the rows that the database holds are the truth. Only the rows in `lost`, which an
 * operator was shown, are marked as adopted; if a control has found others meanwhile, the stop stays. Resolves to
 * whether it has ended. Must run in a transaction.
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
