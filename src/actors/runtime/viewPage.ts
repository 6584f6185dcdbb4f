/**
 * Computes a page of rows in memory: filter, keyset position, order. It defines what every store returns for a query.
 * Pure.
 */
import type { PageQuery, Scalar } from './ports.ts'
import { VIEWS, type ViewName } from './views.ts'

/** A row as a store sees it: columns by name. */
export type Cells = Readonly<Record<string, unknown>>
/** Exactly the columns of the view, in their order; absent ones are null. */
export const cellsOf = (view: ViewName, row: object): Cells =>
  Object.fromEntries(Object.keys(VIEWS[view].columns).map((column) => [column, (row as Cells)[column] ?? null]))

export const byValue = (a: unknown, b: unknown): number => {
  if (a === b) return 0
  return (a as string | number) < (b as string | number) ? -1 : 1
}

const matches = (cell: unknown, wanted: Scalar | readonly Scalar[]): boolean =>
  Array.isArray(wanted) ? wanted.includes(cell) : cell === wanted
/** Whether a row fulfils all conditions. */
const filterOf = (...conditions: readonly object[]): ((cells: Cells) => boolean) => {
  const wanted = conditions
    .flatMap((where) => Object.entries(where as Readonly<Record<string, Scalar | readonly Scalar[] | undefined>>))
    .flatMap(([column, want]) => (want === undefined ? [] : [{ column, want }]))
  return (cells) => wanted.every(({ column, want }) => matches(cells[column], want))
}

/** The first `limit` wanted rows in this order. Rows that are in order already are compared only once. */
const firstOf = (
  rows: Iterable<Cells>,
  isWanted: (cells: Cells) => boolean,
  order: (a: Cells, b: Cells) => number,
  limit: number,
): readonly Cells[] => {
  const found: Cells[] = []
  for (const row of rows) {
    if (!isWanted(row) || (found.length >= limit && order(row, found.at(-1)!) >= 0)) continue
    let [low, high] = [0, found.length]
    if (high > 0 && order(row, found[high - 1]!) >= 0) low = high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (order(row, found[middle]!) < 0) high = middle
      else low = middle + 1
    }
    found.splice(low, 0, row)
    if (found.length > limit) found.pop()
  }
  return found
}

/** Null: the marker names no visible row. `rows`: by key. */
export const viewPage = <N extends ViewName>(
  rows: ReadonlyMap<string, Cells>,
  query: PageQuery<N>,
): readonly Cells[] | null => {
  const { after, where, visible = {}, view, sort } = query
  const { key }: { readonly key: string } = VIEWS[view]
  const order = (a: Cells, b: Cells) =>
    (byValue(a[sort], b[sort]) || byValue(a[key], b[key])) * (query.descending === true ? -1 : 1)
  const passed: Cells | null = after ? { [sort]: after.value, [key]: after.key } : null
  const marker = query.marker === undefined ? passed : rows.get(query.marker)
  if (marker === undefined) return null
  if (query.marker !== undefined && !filterOf(visible)(marker!)) return null
  const fulfils = filterOf(where, visible)
  const isWanted = (cells: Cells) => (marker === null || order(cells, marker) > 0) && fulfils(cells)
  return firstOf(rows.values(), isWanted, order, query.limit)
}
