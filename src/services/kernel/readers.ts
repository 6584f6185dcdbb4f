/**
 * Questions about the views: lists of any length in pages, and first rows. The HTTP room asks here and knows no table.
 */
import { ownValue } from '../../vocabulary/record.ts'
import { type Outcome, refuse } from '../../vocabulary/fault.ts'
import type { Listed, Page } from '../../actors/control.ts'
import type { PageQuery, PageCursor, Reads, Scalar } from '../../actors/runtime/ports.ts'
import type { Guard } from '../../actors/runtime/unreadable.ts'
import { type Row, VIEWS, type ViewName, keyOfRow } from '../../actors/runtime/views.ts'

type Where<N extends ViewName> = PageQuery<N>['where']
export type Readers = {
  /**
   * Without a limit all pages are read. Faults: `not_found` (no such marker), `invalid` (bad sort key). `visible`
   * filters within each page; `keep` selects the rows to return.
   */
  readonly list: <N extends ViewName>(
    view: N,
    where: Where<N>,
    page: Page,
    visible?: Where<N>,
    keep?: (row: Row<N>) => boolean,
  ) => Promise<Outcome<Listed<Row<N>>>>
  /** The first row that matches, or null. */
  readonly first: <N extends ViewName>(view: N, where: Where<N>) => Promise<Outcome<Row<N> | null>>
}

const PAGE_ROWS = 1000
/** How many queries of one view run at once; a further one is refused. */
const RUNNING_MAX = 2048
const FULL = refuse({ kind: 'unavailable', reason: 'too many lists are being read', retryAfterSeconds: 1 })

const sorts = <N extends ViewName>(view: N, column: string): column is PageQuery<N>['sort'] => {
  const columns: Readonly<Record<string, string>> = VIEWS[view].columns
  const kind = ownValue(columns, column)
  return kind !== undefined && !kind.endsWith('?') && kind !== 'json'
}
const sortable = (view: ViewName) => Object.keys(VIEWS[view].columns).filter((column) => sorts(view, column))

const collect = async <N extends ViewName>(
  reads: Reads,
  view: N,
  where: Where<N>,
  page: Page,
  visible: Where<N> = {},
  keep?: (row: Row<N>) => boolean,
): Promise<Outcome<Listed<Row<N>>>> => {
  const sort: string = page.sort ?? VIEWS[view].order
  if (!sorts(view, sort))
    return refuse({ kind: 'invalid', field: 'sort_key', rule: `one of ${sortable(view).join(', ')}` })
  const want = page.limit ?? Number.POSITIVE_INFINITY
  const items: Row<N>[] = []
  const placeOf = (row: Row<N>): PageCursor => ({ value: row[sort] as Scalar, key: keyOfRow(view, row) })
  let from: Pick<PageQuery<N>, 'marker' | 'after'> = page.after
    ? { after: page.after }
    : page.marker === undefined
      ? {}
      : { marker: page.marker }
  for (;;) {
    // when `keep` selects rows, any number of pages may be needed
    const limit = keep ? PAGE_ROWS : Math.min(PAGE_ROWS, want - items.length + 1)
    const query = {
      view,
      where,
      visible,
      sort,
      limit,
      descending: page.descending ?? false,
      ...from,
    }
    const rows = await reads.page<N>(query)
    if (!rows && !from.after) return refuse({ kind: 'not_found', resource: 'marker', id: page.marker ?? '' })
    items.push(...(keep ? (rows ?? []).filter(keep) : (rows ?? [])))
    if (items.length > want)
      return { ok: true, value: { items: items.slice(0, want), next: placeOf(items[want - 1]!) } }
    if (!rows || rows.length < limit) return { ok: true, value: { items, next: null } }
    // continues after the row's position, not its key, because the row may be deleted before the next page is read
    from = { after: placeOf(rows.at(-1)!) }
  }
}

export const openReaders = (reads: Reads, guard: Guard): Readers => {
  const running = new Map<ViewName, number>()
  const bounded = async <Answer>(view: ViewName, read: () => Promise<Outcome<Answer>>): Promise<Outcome<Answer>> => {
    const others = running.get(view) ?? 0
    if (others >= RUNNING_MAX) return FULL
    running.set(view, others + 1)
    return guard(read(), 'views', { view }).finally(() => running.set(view, running.get(view)! - 1))
  }
  return {
    list: (view, where, page, visible, keep) => bounded(view, () => collect(reads, view, where, page, visible, keep)),
    first: (view, where) =>
      bounded(view, async () => {
        const listed = await collect(reads, view, where, { limit: 1 })
        return listed.ok ? { ok: true, value: listed.value.items[0] ?? null } : listed
      }),
  }
}
