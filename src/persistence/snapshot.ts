/**
 * One moment of a store, for whoever judges it: read in pages within one transaction, beside a running service or on a stopped folder.
 * Nothing is written, nothing is migrated.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { FeedRow, Journal, Position } from '../actors/runtime/ports.ts'
import type { Row, ViewName } from '../actors/runtime/views.ts'
import { WHOLE } from './archive.ts'
import { journalEnd } from './bulk.ts'
import { positionOf, sqlJournal } from './journal.ts'
import { journalRow } from './recall.ts'
import { viewOf } from './rules.ts'
import type { Database, Rows, Run } from './sql.ts'
import { columnsOf, quoted } from './statements.ts'

export type SnapshotSource =
  | { readonly kind: 'pglite'; readonly dir: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly statementTimeoutMs?: number }
export type Snapshot = {
  /** ms since the epoch, by the database's own clock. */
  readonly now: number
  /** All rows in commit order. */
  readonly journal: () => AsyncIterable<FeedRow>
  readonly view: <N extends ViewName>(name: N) => AsyncIterable<Row<N>>
  readonly checkpoint: (reader: string) => Promise<Position>
  /** Before this position nothing can be added any more. */
  readonly settledBefore: Position
}

const PAGE = 5_000
/** Archived rows are part of the journal. One sort, whatever its length. */
const JOURNAL = `declare journal_rows no scroll cursor for
  select key, version, command, data, at, cause, xid::text as xid, pos from ${WHOLE} journal order by journal.xid, journal.pos`

const plain = (text: string) => ({ text, params: [] })

async function* journalOf(run: Run): AsyncGenerator<FeedRow> {
  await run(plain(JOURNAL))
  let page: Rows
  do {
    page = await run(plain(`fetch ${PAGE} from journal_rows`))
    for (const row of page) yield { ...journalRow(row), position: positionOf(row) }
  } while (page.length === PAGE)
  await run(plain('close journal_rows'))
}

async function* viewRows<N extends ViewName>(run: Run, name: N): AsyncGenerator<Row<N>> {
  const { key } = viewOf(name)
  const columns = columnsOf(name)
  const past = `($1::text is null or ${quoted(key)} > $1::${columns[key]!})`
  const names = Object.keys(columns).map(quoted).join(', ')
  const text = `select ${names} from ${quoted(name)} where ${past} order by ${quoted(key)} limit ${PAGE}`
  let last: unknown = null
  let page: Rows
  do {
    page = await run({ text, params: [last] })
    yield* page as unknown as readonly Row<N>[]
    last = page.at(-1)?.[key]
  } while (page.length === PAGE)
}

const open = async (source: SnapshotSource): Promise<Database> => {
  if (source.kind === 'postgres') {
    const { kind: _, ...options } = source
    return (await import('./postgres/postgres.ts')).postgresDatabase({ ...options, readers: 1 })
  }
  // opening would make it
  if (!existsSync(join(source.dir, 'pglite'))) throw new Error(`${source.dir} holds no store`)
  return (await import('./pglite/pglite.ts')).pgliteDatabase(source.dir)
}

const UNDEFINED = new Set(['42P01', '42703'])
const explained = (error: unknown): unknown => {
  const { code, message } = error as { readonly code?: string; readonly message?: string }
  return UNDEFINED.has(code ?? '')
    ? new Error(`the database is not of this release: ${message}; accelerando migrate brings it there`, {
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
  const database = await open(source)
  try {
    return await database.transaction(async (run) => {
      await run(plain('set transaction isolation level repeatable read read only'))
      const [row] = await run(plain(NOW))
      return work({
        now: Number(row!['now']),
        settledBefore: `${String(row!['xmin'])}.0`,
        journal: () => journalOf(run),
        view: (name) => viewRows(run, name),
        checkpoint: async (reader) => {
          const text = 'select position from checkpoints where reader = $1'
          const [found] = await run({ text, params: [reader] })
          return (found?.['position'] as string | undefined) ?? ''
        },
      })
    })
  } catch (error) {
    throw explained(error)
  } finally {
    await database.close()
  }
}

/** The journal as it grows, row after row in commit order. */
export type Following = Pick<Journal, 'feed'> & {
  /** Place of the last row. */
  readonly end: () => Promise<Position>
  readonly close: () => Promise<void>
}
export const followJournal = async (source: SnapshotSource): Promise<Following> => {
  const database = await open(source)
  return { feed: sqlJournal(database).feed, end: () => journalEnd(database), close: database.close }
}
