/** Lists over the views: each is one query along an index, from the row after the marker. */
import type { PageQuery, Reads, Scalar } from '../actors/runtime/ports.ts'
import { NEVER_DUE } from '../actors/runtime/dueKinds.ts'
import type { Row, ViewName } from '../actors/runtime/views.ts'
import { prepared } from './prepared.ts'
import { fits, viewOf } from './rules.ts'
import type { Base } from './rules.ts'
import { reading } from './sql.ts'
import type { Database, Rows, Run, Statement } from './sql.ts'
import { columnsOf, quoted } from './statements.ts'

const MAX_LIMIT = 1_000

type Where = Readonly<Record<string, Scalar | readonly Scalar[] | undefined>>
type Bind = (value: unknown) => string

/**
 * A value that the column type cannot hold matches no row. It is left out, since the database would refuse the whole
 * query.
 */
const condition = (name: string, type: Base | undefined, wanted: Scalar | readonly Scalar[], bind: Bind): string => {
  // the view lacks this column; the database will report it
  if (wanted === null || type === undefined) return `${name} is null`
  if (!Array.isArray(wanted)) return fits(type, wanted) ? `${name} = ${bind(wanted)}::${type}` : 'false'
  const some = `${name} = any(${bind(wanted.filter((each) => fits(type, each)))}::${type}[])`
  return wanted.includes(null) ? `(${some} or ${name} is null)` : some
}

const conditionsOf = (view: ViewName, where: Where, bind: Bind, prefix = ''): readonly string[] =>
  Object.entries(where).flatMap(([column, wanted]) =>
    wanted === undefined ? [] : [condition(prefix + quoted(column), columnsOf(view)[column], wanted, bind)],
  )

export const pageStatement = <N extends ViewName>(query: PageQuery<N>, prepare = prepared): Statement => {
  const { view, sort, marker, after: passed, visible = {} } = query
  const types = columnsOf(view)
  const key = quoted(viewOf(view).key)
  const params: unknown[] = []
  const bind: Bind = (value) => `$${params.push(value)}`
  const conditions = [query.where, visible].flatMap((where) => conditionsOf(view, where as Where, bind))
  const [direction, after] = query.descending === true ? ['desc', '<'] : ['asc', '>']
  // A unique column needs no second column to break ties, and its own index gives the order.
  const unique = [[viewOf(view).key], ...viewOf(view).unique]
  const tied = !unique.some((columns) => columns.length === 1 && columns[0] === sort)
  if (marker !== undefined) {
    const id = `${bind(marker)}::${types[viewOf(view).key]!}`
    const seen = [`m.${key} = ${id}`, ...conditionsOf(view, visible, bind, 'm.')].join(' and ')
    // null when the marker is not visible; no row comes after null
    const from = `(select m.${quoted(sort)} from ${quoted(view)} m where ${seen})`
    const place = tied ? `(${quoted(sort)}, ${key}) ${after} (${from}, ${id})` : `${quoted(sort)} ${after} ${from}`
    conditions.push(place)
  }
  if (passed !== undefined) {
    const value = `${bind(passed.value)}::${types[sort]!}`
    // PostgreSQL refuses a parameter that the statement does not use, so the key is bound only when it is needed
    const place = tied
      ? `(${quoted(sort)}, ${key}) ${after} (${value}, ${bind(passed.key)}::${types[viewOf(view).key]!})`
      : `${quoted(sort)} ${after} ${value}`
    conditions.push(place)
  }
  const where = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`
  const columns = Object.keys(types).map(quoted).join(', ')
  const order = [sort, ...(tied ? [viewOf(view).key] : [])].map((name) => `${quoted(name)} ${direction}`).join(', ')
  const limit = bind(Math.min(query.limit, MAX_LIMIT))
  const text = `select ${columns} from ${quoted(view)}${where} order by ${order} limit ${limit}::int`
  // The best index depends on the number of values in an array, so such statements are planned each time.
  return params.some(Array.isArray) ? { text, params } : prepare('page', text, text, params)
}

const exists = async <N extends ViewName>(
  read: Run,
  { view, visible = {} }: PageQuery<N>,
  id: string,
): Promise<boolean> => {
  const params: unknown[] = []
  const bind: Bind = (value) => `$${params.push(value)}`
  const wanted = [visible as Where, { [viewOf(view).key]: id }]
  const conditions = wanted.flatMap((where) => conditionsOf(view, where, bind))
  const text = `select 1 from ${quoted(view)} where ${conditions.join(' and ')}`
  return (await read({ text, params })).length > 0
}
const readingView = (database: Database, view: ViewName): Run => reading(database, `the view ${view}`)

const page = async <N extends ViewName>(database: Database, query: PageQuery<N>): Promise<readonly Row<N>[] | null> => {
  const { view, marker } = query
  const read = readingView(database, view)
  if (marker !== undefined && !fits(columnsOf(view)[viewOf(view).key]!, marker)) return null
  const rows = await read(pageStatement(query))
  // An empty page means either the end of the list or an unknown marker.
  if (rows.length === 0 && marker !== undefined && !(await exists(read, query, marker))) return null
  return listOf<N>(rows)
}

/** Rows as the statements of that view select them. */
export const listOf = <N extends ViewName>(rows: Rows): readonly Row<N>[] => rows as unknown as readonly Row<N>[]

const DUE = `select entity, kind, at from due where at <= $1::bigint and kind not in (${NEVER_DUE.map((kind) => `'${kind}'`).join(', ')}) order by at, entity limit $2::int`

const tally = async (database: Database, view: ViewName, by: string): Promise<ReadonlyMap<string, number>> => {
  const column = quoted(by)
  const text = `select ${column}::text as value, count(*)::int as rows from ${quoted(view)} where ${column} is not null group by 1 order by 1`
  const found = await readingView(database, view)({ text, params: [] })
  return new Map(found.map(({ value, rows }) => [String(value), rows as number]))
}

export const sqlReads = (database: Database): Reads => ({
  page: (query) => page(database, query),
  dueBefore: async (now, limit) =>
    listOf<'due'>(await readingView(database, 'due')({ text: DUE, params: [now, limit], name: 'due' })),
  tally: (view, by) => tally(database, view, by),
})
