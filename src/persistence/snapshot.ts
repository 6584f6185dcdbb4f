/**
 * A consistent snapshot of a store for audits: read in pages within one transaction, beside a running service or on a
 * stopped folder. Nothing is written, nothing is migrated.
 */
import { listOf } from './reads.ts'
import { sql } from 'kysely'
import type { FeedRow, Position } from '../actors/runtime/ports.ts'
import type { Row, ViewName } from '../actors/runtime/views.ts'
import { openSource } from './follow.ts'
import type { SnapshotSource } from './follow.ts'
import { positionOf } from './landmarks.ts'
import { journalRow } from './recall.ts'
import { viewOf } from './rules.ts'
import { type DeclaredRow, declaredLost } from './stopped.ts'
import { TABLES } from './ormEntities.ts'
import type { Rows, Run } from './sql.ts'
import { columnsOf, quoted } from './statements.ts'
import { queriesOn, wholeJournal } from './typedQueries.ts'
import type { Queries } from './typedQueries.ts'

export type Snapshot = {
  /** ms since the epoch, by the database's own clock. */
  readonly now: number
  /** All rows in commit order. */
  readonly journal: () => AsyncIterable<FeedRow>
  readonly view: <N extends ViewName>(name: N) => AsyncIterable<Row<N>>
  readonly checkpoint: (reader: string) => Promise<Position>
  /** All rows that were ever found to be lost. */
  readonly lost: () => AsyncIterable<DeclaredRow>
  /** No new row can get a position before this one. */
  readonly settledBefore: Position
}

/** How many rows are read at once. Snapshots are states of whole entities, which may be large. */
const PAGE = 1_000
const SNAPSHOTS_PAGE = 32
const plain = (text: string) => ({ text, params: [] })

/** The journal including its archived rows, sorted once for all pages. */
const openJournal = async ({ db }: Queries): Promise<void> => {
  const rows = db
    .selectFrom(wholeJournal(db).as('journal'))
    .select(['key', 'version', 'command', 'data', 'at', 'cause', 'xid', 'pos'])
    .orderBy('xid')
    .orderBy('pos')
  await sql`declare journal_rows no scroll cursor for ${rows}`.execute(db)
}

async function* journalOf(run: Run, queries: Queries): AsyncGenerator<FeedRow> {
  await openJournal(queries)
  let page: Rows
  do {
    page = await run(plain(`fetch ${PAGE} from journal_rows`))
    for (const row of page) yield { ...journalRow(row), position: positionOf(row) }
  } while (page.length === PAGE)
  await run(plain('close journal_rows'))
}

/** The column names come from VIEWS. */
async function* viewRows<N extends ViewName>(run: Run, name: N): AsyncGenerator<Row<N>> {
  const { key } = viewOf(name)
  const columns = columnsOf(name)
  const past = `($1::text is null or ${quoted(key)} > $1::${columns[key]!})`
  const names = Object.keys(columns).map(quoted).join(', ')
  const limit = name === 'snapshots' ? SNAPSHOTS_PAGE : PAGE
  const text = `select ${names} from ${quoted(name)} where ${past} order by ${quoted(key)} limit ${limit}`
  let last: unknown = null
  let page: Rows
  do {
    page = await run({ text, params: [last] })
    yield* listOf<N>(page)
    last = page.at(-1)?.[key]
  } while (page.length === limit)
}

const UNDEFINED = new Set(['42P01', '42703'])
const explained = (error: unknown): unknown => {
  const { code, message } = error as { readonly code?: string; readonly message?: string }
  return UNDEFINED.has(code ?? '')
    ? new Error(`the schema of the database does not match this release: ${message}; run accelerando migrate`, {
        cause: error,
      })
    : error
}

const NOW = `select (extract(epoch from clock_timestamp()) * 1000)::bigint as now,
  pg_snapshot_xmin(pg_current_snapshot())::text as xmin`

export const readSnapshot = async <Value>(
  source: SnapshotSource,
  work: (snapshot: Snapshot) => Promise<Value>,
): Promise<Value> => {
  const database = await openSource(source)
  try {
    return await database.transaction(async (run) => {
      await run(plain('set transaction isolation level repeatable read read only'))
      const [row] = await run(plain(NOW))
      const queries = await queriesOn(run)
      return work({
        now: Number(row!['now']),
        settledBefore: `${String(row!['xmin'])}.0`,
        journal: () => journalOf(run, queries),
        view: (name) => viewRows(run, name),
        lost: () => declaredLost(run, queries),
        checkpoint: async (reader) => (await queries.em.findOne(TABLES.checkpoints, { reader }))?.position ?? '',
      })
    })
  } catch (error) {
    throw explained(error)
  } finally {
    await database.close()
  }
}
