/** SQL of appends: one statement writes the journal rows and view rows of many appends, all or none. Pure. */
import type { Append, JournalRow } from '../actors/runtime/ports.ts'
import type { ViewChange, ViewName } from '../actors/runtime/views.ts'
import { baseOf, cellsOf, lastChanges, viewNames, viewOf } from './rules.ts'
import type { Base, Cells } from './rules.ts'
import { prepared } from './prepared.ts'
import type { Statement } from './sql.ts'

const JOURNAL = { pos: 'int', key: 'text', version: 'int', command: 'uuid', data: 'json', at: 'bigint', cause: 'json' }
/** Sent but not stored: the row that the new one follows, by its command and the time at which it was decided. */
const FOLLOWS = { follows: 'uuid', follows_at: 'bigint' }
const followed = ({ follows }: JournalRow) => ({ follows: follows?.commandId ?? null, follows_at: follows?.at ?? null })

export const quoted = (name: string): string => `"${name}"`
const quotedAll = (names: readonly string[], prefix = ''): string =>
  names.map((name) => prefix + quoted(name)).join(', ')

/** Parameter `n`, a JSON array of objects, as rows. Measured: a third faster than one array per column. */
const recordset = (n: number, columns: Readonly<Record<string, string>>): string => {
  const typed = Object.entries(columns).map(([name, type]) => `${quoted(name)} ${type}`)
  return `json_to_recordset($${n}::json) r(${typed.join(', ')})`
}

export const columnsOf = (view: ViewName): Readonly<Record<string, Base>> =>
  Object.fromEntries(Object.entries(viewOf(view).columns).map(([name, kind]) => [name, baseOf(kind)]))

const upsert = (view: ViewName, n: number, after: string): string => {
  const { key } = viewOf(view)
  const columns = columnsOf(view)
  const names = Object.keys(columns)
  const sets = names.filter((name) => name !== key).map((name) => `${quoted(name)} = excluded.${quoted(name)}`)
  return `insert into ${quoted(view)} (${quotedAll(names)}) select ${quotedAll(names, 'r.')} from ${after}${recordset(n, columns)}
    on conflict (${quoted(key)}) do update set ${sets.join(', ')}`
}

const remove = (view: ViewName, n: number): string => {
  const { key } = viewOf(view)
  const type = columnsOf(view)[key]!
  return `delete from ${quoted(view)} t using done, json_array_elements_text($${n}::json) r(id) where t.${quoted(key)} = r.id::${type}`
}

/**
 * Rows sorted by key: all statements lock rows in this order, otherwise the batches of two processes could deadlock.
 */
const inKeyOrder = <T>(items: readonly T[], id: (item: T) => string): readonly T[] =>
  items.toSorted((a, b) => (id(a) < id(b) ? -1 : 1))

const journalCells = (row: JournalRow, pos: number): Cells => ({
  pos,
  key: row.key,
  version: row.version,
  command: row.commandId,
  data: row.events,
  at: row.at,
  cause: row.cause,
  ...followed(row),
})

/** Journal rows as a parameter, sorted in lock order; `pos` counts the rows of one transaction in the order given. */
const journalParam = (rows: readonly JournalRow[], before: number): string =>
  JSON.stringify(
    rows
      .map((row, at) => journalCells(row, before + at + 1))
      .toSorted((a, b) =>
        a['key'] === b['key'] ? Number(a['version']) - Number(b['version']) : a['key']! < b['key']! ? -1 : 1,
      ),
  )

/**
 * Whether the journal holds a row that meets the condition. Not written with `exists`, for which the planner may hash
 * the whole journal first. The subquery returns one row at most, since the row is looked up by a unique key.
 */
const holds = (condition: string): string =>
  `((select j.version from journal j where j.key = r.key and ${condition}) is not null)`

/** The first rows of the entity are in the archive; then a new version 1 is stale. */
const BEGAN = `((select a.version from journal_archive a where a.key = r.key and a.version = 1) is not null)`

/** The row before `r` exists, and is the one that the writer of `r` remembers. */
const FOLLOWED = holds(
  'j.version = r.version - 1 and (r.follows is null or j.command = r.follows) and (r.follows_at is null or j.at = r.follows_at)',
)

const journalInsert = (fenced: boolean): string => {
  const names = Object.keys(JOURNAL)
  const follows = `where case r.version when 1 then not ${BEGAN} else ${FOLLOWED} end`
  return `insert into journal (${quotedAll(names)}) select ${quotedAll(names, 'r.')} from ${recordset(1, { ...JOURNAL, ...FOLLOWS })} ${fenced ? follows : ''}`
}

type Grouped = { readonly view: ViewName; readonly puts: readonly ViewChange[]; readonly drops: readonly ViewChange[] }
const grouped = (changes: readonly ViewChange[]): readonly Grouped[] =>
  viewNames
    .map((view) => {
      const own = changes.filter((change) => change.view === view)
      return { view, puts: own.filter(({ row }) => row !== null), drops: own.filter(({ row }) => row === null) }
    })
    .filter(({ puts, drops }) => puts.length + drops.length > 0)

const putsParam = (view: ViewName, puts: readonly ViewChange[]): string =>
  JSON.stringify(inKeyOrder(puts, ({ key }) => key).map(({ row }) => cellsOf(view, row!)))
const dropsParam = (drops: readonly ViewChange[]): string => JSON.stringify(drops.map(({ key }) => key).toSorted())

type Shape = { readonly fenced: boolean; readonly drops: readonly ViewName[]; readonly puts: readonly ViewName[] }

/**
 * The last part of the statement: fails with "zero raised to a negative power" when more than $3 ms have passed since
 * the server received it, by the server's clock alone. The statement is its own transaction, whose time begins before
 * it waits for a lock. `written` is computed first.
 */
const inTime = (written: string): string =>
  `power(0, case when ${written} < 0 then 0
    when clock_timestamp() - transaction_timestamp() > $3::float8 * interval '1 ms' then -1 else 0 end)`

/**
 * Parameters: journal rows, their number, the time limit, then one per view with deleted keys, then one per view with
 * rows to upsert.
 */
const appendText = ({ fenced, drops, puts }: Shape): string => {
  const dropped = drops.map((view, at) => `d_${view} as (${remove(view, 4 + at)} returning 1)`)
  const gone = drops.map((view) => `(select count(*) from d_${view})`).join(' + ') || '0'
  const put = puts.map((view, at) => `p_${view} as (${upsert(view, 4 + drops.length + at, 'gone, ')} returning 1)`)
  const parts = [
    `j as (${journalInsert(fenced)} returning 1)`,
    `done as (select count(*) as n from j)`,
    ...dropped,
    `gone as (select ${gone} as n from done)`,
    ...put,
  ]
  const written = ['0', ...puts.map((view) => `(select count(*) from p_${view})`)].join(' + ')
  return `with ${parts.join(',\n  ')}\nselect 1 / (n = $2::int)::int, ${inTime(written)} from done`
}

const TEXTS_MAX = 300
const texts = new Map<string, string>()
/** Texts are cached by shape, since the same few shapes recur. */
const textOf = (name: string, shape: Shape): string => {
  const text = texts.get(name) ?? appendText(shape)
  if (texts.size < TEXTS_MAX) texts.set(name, text)
  return text
}

/**
 * Writes the journal first, since its unique keys are the fence and so must be the first locks taken; then deletes view
 * rows, which frees unique values; then upserts the other view rows. `fenced`: each row must follow the one that its
 * writer remembers, otherwise the statement fails with a division by zero. `withinMs`: a statement that takes longer
 * writes nothing; null: there is no time limit. `before`: how many journal rows the same transaction has written
 * already.
 */
export const appendStatement = (
  appends: readonly Append[],
  fenced = true,
  withinMs: number | null = null,
  before = 0,
  prepare = prepared,
): Statement => {
  const rows = appends.flatMap((append) => append.rows)
  const groups = grouped(lastChanges(appends.flatMap((append) => append.changes)))
  const dropped = groups.filter(({ drops }) => drops.length > 0)
  const put = groups.filter(({ puts }) => puts.length > 0)
  const shape = { fenced, drops: dropped.map(({ view }) => view), puts: put.map(({ view }) => view) }
  const name = [fenced ? '' : 'load', ...shape.drops.map((view) => `-${view}`), ...shape.puts.map((view) => `+${view}`)]
  const params = [
    journalParam(rows, before),
    rows.length,
    withinMs,
    ...dropped.map(({ drops }) => dropsParam(drops)),
    ...put.map(({ view, puts }) => putsParam(view, puts)),
  ]
  const id = name.join('')
  return prepare('append', id, textOf(id, shape), params)
}

/** Inserts the rows of one view into a table that was just emptied. */
export const insertStatement = (view: ViewName, rows: readonly Cells[]): Statement => {
  const columns = columnsOf(view)
  const names = Object.keys(columns)
  const text = `insert into ${quoted(view)} (${quotedAll(names)}) select ${quotedAll(names, 'r.')} from ${recordset(1, columns)}`
  return { text, params: [JSON.stringify(rows)] }
}

/**
 * Finds the appends (by index) that are already in the journal (`seen`), and those that do not follow its last version
 * (`stale`).
 */
export const siftStatement = (appends: readonly Append[]): Statement => {
  const rows = appends.flatMap((append, a) =>
    append.rows.map((row) => ({
      a,
      key: row.key,
      version: row.version,
      command: row.commandId,
      ...followed(row),
    })),
  )
  const text = `select a, bool_or(seen) as seen from (
      select r.a, ${holds('j.command = r.command')} as seen,
        ${holds('j.version = r.version')} or
          case r.version when 1 then ${BEGAN} else not ${FOLLOWED} end as stale
      from ${recordset(1, { a: 'int', key: 'text', version: 'int', command: 'uuid', ...FOLLOWS })}) found
    where seen or stale group by a`
  return { text, params: [JSON.stringify(rows)], name: 'sift' }
}
