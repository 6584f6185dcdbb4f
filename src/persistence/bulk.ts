/**
 * Work on whole tables: bulk loading of histories, rebuilding all views from the journal, and dumping the views as
 * text.
 */
import type { Append, JournalRow, Position } from '../actors/runtime/ports.ts'
import type { ViewName } from '../actors/runtime/views.ts'
import { positionOf } from './landmarks.ts'
import { journalRow, WHOLE } from './recall.ts'
import { cellsOf, dumpedViews, dumpLine, lastChanges, viewNames, viewOf } from './rules.ts'
import type { Cells } from './rules.ts'
import type { Database, Rows, Run } from './sql.ts'
import { appendStatement, columnsOf, insertStatement, quoted } from './statements.ts'
import type { Fold, Loaded, Stream } from './store.ts'

const CHUNK = 4_000
const PAGE = 10_000

const plain = (text: string) => ({ text, params: [] })

/** Gathers statistics and writes a checkpoint now; a server would do both by itself some minutes later. */
const analyzeStore = async (database: Database): Promise<void> => {
  await database.transaction((run) => run(plain('analyze')))
  if (database.kind === 'pglite') await database.write(plain('checkpoint'))
}

async function* chunksOf(appends: Stream<Append>): AsyncGenerator<readonly Append[]> {
  let chunk: Append[] = []
  let size = 0
  for await (const append of appends) {
    chunk.push(append)
    size += append.rows.length + append.changes.length
    if (size < CHUNK) continue
    yield chunk
    chunk = []
    size = 0
  }
  if (chunk.length > 0) yield chunk
}

/** The next chunk is built while one is being written. `isWhole`: all chunks are one transaction. */
const loadBy = async (write: Run, appends: Stream<Append>, isWhole: boolean): Promise<Loaded> => {
  let [journalRows, viewRows] = [0, 0]
  let writing: Promise<unknown> = Promise.resolve()
  for await (const chunk of chunksOf(appends)) {
    const statement = appendStatement(chunk, false, null, isWhole ? journalRows : 0)
    journalRows += chunk.reduce((sum, { rows }) => sum + rows.length, 0)
    viewRows += chunk.reduce((sum, { changes }) => sum + changes.length, 0)
    await writing
    writing = write(statement)
    writing.catch(() => undefined)
  }
  await writing
  return { journalRows, viewRows }
}

/** Each chunk of journal and view rows is one transaction. */
export const bulkLoad = async (database: Database, appends: Stream<Append>): Promise<Loaded> => {
  const loaded = await loadBy(database.write, appends, false)
  await analyzeStore(database)
  return loaded
}
/** All chunks are one transaction. */
export const loadWhole = async (database: Database, appends: Stream<Append>): Promise<Loaded> => {
  const loaded = await database.transaction((run) => loadBy(run, appends, true))
  await analyzeStore(database)
  return loaded
}

export const journalEnd = async (database: Database): Promise<Position> => {
  const text = `select xid::text as xid, pos from ${WHOLE} journal order by journal.xid desc, journal.pos desc limit 1`
  const [last] = await database.read(plain(text))
  return last === undefined ? '' : positionOf(last)
}

const JOURNAL_PAGE = `select key, version, command, data, at, cause from ${WHOLE} journal
  where (key, version) > ($1, $2::int) order by key, version limit ${PAGE}`

/** All rows of the journal, key by key; the rows of one key are always in the same chunk. */
async function* histories(run: Run): AsyncGenerator<readonly [string, readonly JournalRow[]]> {
  let key = ''
  let rows: JournalRow[] = []
  let page: Rows
  do {
    page = await run({ text: JOURNAL_PAGE, params: [key, rows.at(-1)?.version ?? 0] })
    for (const row of page.map(journalRow)) {
      if (row.key !== key && rows.length > 0) yield [key, rows]
      if (row.key !== key) rows = []
      key = row.key
      rows.push(row)
    }
  } while (page.length === PAGE)
  if (rows.length > 0) yield [key, rows]
}

/** Collects rows by view, and writes the rows of a view when enough have been collected. */
const collector = (run: Run) => {
  const rows = new Map<ViewName, Cells[]>(viewNames.map((view) => [view, []]))
  const write = async (view: ViewName): Promise<void> => {
    const own = rows.get(view)!
    rows.set(view, [])
    if (own.length > 0) await run(insertStatement(view, own))
  }
  const add = async (view: ViewName, cells: Cells): Promise<void> => {
    if (rows.get(view)!.push(cells) >= CHUNK) await write(view)
  }
  const finish = async (): Promise<void> => {
    for (const view of viewNames) await write(view)
  }
  return { add, finish }
}

export const rebuildViews = async (database: Database, fold: Fold): Promise<Loaded> => {
  let [journalRows, viewRows] = [0, 0]
  await database.transaction(async (run) => {
    await run(plain(`truncate ${viewNames.map(quoted).join(', ')}`))
    const { add, finish } = collector(run)
    for await (const [key, rows] of histories(run)) {
      journalRows += rows.length
      for (const { view, row } of lastChanges(fold(key, rows))) {
        if (row === null) continue
        viewRows++
        await add(view, cellsOf(view, row))
      }
    }
    await finish()
  })
  await analyzeStore(database)
  return { journalRows, viewRows }
}

/** Reads the view in pages ordered by key, so that memory does not grow with the number of rows. */
export async function* dumpViews(database: Database): AsyncGenerator<string> {
  for (const view of dumpedViews) {
    const { key } = viewOf(view)
    const columns = columnsOf(view)
    const names = Object.keys(columns).map(quoted).join(', ')
    const past = `($1::text is null or ${quoted(key)} > $1::${columns[key]!})`
    const text = `select ${names} from ${quoted(view)} where ${past} order by ${quoted(key)} limit ${PAGE}`
    let last: string | null = null
    let page: Rows
    do {
      page = await database.read({ text, params: [last] })
      for (const cells of page) yield dumpLine(view, cells)
      last = (page.at(-1)?.[key] as string | undefined) ?? null
    } while (page.length === PAGE)
  }
}
