/** The views in memory: rows by key, unique rules, filter and keyset page. Deterministic: rows come in key order. */
import type { PageQuery } from '../../../src/actors/runtime/ports.ts'
import { Unreadable } from '../../../src/actors/runtime/unreadable.ts'
import type { Row, ViewChange, ViewName } from '../../../src/actors/runtime/views.ts'
import { byValue, viewPage } from '../../../src/actors/runtime/viewPage.ts'
import { cellsOf, lastChanges, uniqueRule, viewNames, viewOf } from '../../../src/persistence/rules.ts'
import type { Cells } from '../../../src/persistence/rules.ts'

type Table = Map<string, Cells>
/** Maps a rule with its values to the key of the row that holds them. */
type Taken = Map<string, string>

export type Tables = {
  /** Applies all changes; or applies none and returns the name of the rule they break. */
  readonly write: (changes: readonly ViewChange[]) => string | null
  readonly row: (view: ViewName, key: string) => Cells | undefined
  readonly rows: (view: ViewName) => readonly Cells[]
  readonly page: <N extends ViewName>(query: PageQuery<N>) => readonly Row<N>[] | null
  readonly clear: () => void
}

const UNIQUE = new Map(
  viewNames.map((view) => [view, viewOf(view).unique.map((columns) => ({ rule: uniqueRule(view, columns), columns }))]),
)
/**
 * Returns the rule and an id of its values, for each unique rule that applies to the row; a null value exempts the row,
 * as in SQL.
 */
const claims = (view: ViewName, row: Cells): readonly { readonly rule: string; readonly id: string }[] =>
  UNIQUE.get(view)!.flatMap(({ rule, columns }) => {
    const values = columns.map((column) => row[column])
    return values.includes(null) ? [] : [{ rule, id: `${rule} ${JSON.stringify(values)}` }]
  })

/** Returns the rule that these changes would break, judged on the state after all of them. */
const brokenRule = (changes: readonly Change[], tables: Map<ViewName, Table>, taken: Taken): string | null => {
  const freed = new Set<string>()
  for (const { view, key } of changes) {
    const before = tables.get(view)!.get(key)
    if (before !== undefined) for (const { id } of claims(view, before)) freed.add(id)
  }
  const claimed = new Set<string>()
  for (const { view, cells } of changes) {
    if (cells === null) continue
    const lost = claims(view, cells).find(({ id }) => claimed.has(id) || (taken.has(id) && !freed.has(id)))
    if (lost !== undefined) return lost.rule
    for (const { id } of claims(view, cells)) claimed.add(id)
  }
  return null
}

type Change = { readonly view: ViewName; readonly key: string; readonly cells: Cells | null }
/** Copied through JSON, as in every other store, so that a stored row shares no object with the caller. */
const kept = ({ view, key, row }: ViewChange): Change => ({
  view,
  key,
  cells: row === null ? null : cellsOf(view, JSON.parse(JSON.stringify(row)) as object),
})

/** As in a database, a query that names a column the view lacks fails permanently. */
const expectColumns = (view: ViewName, names: readonly string[]): void => {
  const lacking = names.find((name) => !(name in viewOf(view).columns))
  if (lacking !== undefined)
    throw new Unreadable(`the view ${view} cannot be read: it has no column ${lacking}`, { permanent: true })
}

export const memoryTables = (): Tables => {
  const tables = new Map<ViewName, Table>(viewNames.map((name) => [name, new Map()]))
  const taken: Taken = new Map()

  const forget = (view: ViewName, key: string): void => {
    const before = tables.get(view)!.get(key)
    if (before === undefined) return
    for (const { id } of claims(view, before)) taken.delete(id)
    tables.get(view)!.delete(key)
  }
  const write = (changes: readonly ViewChange[]): string | null => {
    const last = lastChanges(changes).map(kept)
    const rule = brokenRule(last, tables, taken)
    if (rule !== null) return rule
    for (const { view, key } of last) forget(view, key)
    for (const { view, key, cells } of last) {
      if (cells === null) continue
      tables.get(view)!.set(key, cells)
      for (const { id } of claims(view, cells)) taken.set(id, key)
    }
    return null
  }
  const row = (view: ViewName, key: string) => tables.get(view)!.get(key)
  const rows = (view: ViewName) =>
    [...tables.get(view)!.entries()].toSorted(([a], [b]) => byValue(a, b)).map(([, cells]) => cells)

  const page = <N extends ViewName>(query: PageQuery<N>): readonly Row<N>[] | null => {
    expectColumns(query.view, [query.sort, ...Object.keys({ ...query.where, ...query.visible })])
    return viewPage(tables.get(query.view)!, query) as unknown as readonly Row<N>[] | null
  }
  const clear = (): void => {
    for (const table of tables.values()) table.clear()
    taken.clear()
  }
  return { write, row, rows, page, clear }
}
