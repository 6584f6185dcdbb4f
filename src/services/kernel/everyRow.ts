/** All rows of a view that match, read page by page along its key. */
import type { PageQuery, Reads } from '../../actors/runtime/ports.ts'
import { type Row, VIEWS, type ViewName, keyOfRow } from '../../actors/runtime/views.ts'

const ROWS = 1000
type Where<N extends ViewName> = PageQuery<N>['where']

/** Rejects with `Unreadable`. */
export const everyRow = async <N extends ViewName>(
  { page }: Pick<Reads, 'page'>,
  view: N,
  where: Where<N>,
): Promise<readonly Row<N>[]> => {
  const found: Row<N>[] = []
  const sort = VIEWS[view].key as PageQuery<N>['sort']
  for (;;) {
    const last = found.at(-1)
    const key = last === undefined ? null : keyOfRow(view, last)
    const rows = (await page<N>({ view, where, sort, limit: ROWS, ...(key && { after: { value: key, key } }) })) ?? []
    found.push(...rows)
    if (rows.length < ROWS) return found
  }
}

/** All rows with one of these values, however many there are. */
export const everyRowWith = async <N extends ViewName>(
  reads: Pick<Reads, 'page'>,
  view: N,
  values: readonly string[],
  where: (some: readonly string[]) => Where<N>,
): Promise<readonly Row<N>[]> => {
  const found: Row<N>[] = []
  for (let at = 0; at < values.length; at += ROWS)
    found.push(...(await everyRow(reads, view, where(values.slice(at, at + ROWS)))))
  return found
}
