/** The input of all functions that load pages, and the paging that lists share. */
import type { Api } from '../api.ts'
import type { Arq } from '../shapes.ts'
import * as shapes from '../shapes.ts'
import { type Loaded, mapped } from '../loaded.ts'
import type { Turn } from '../view/rows.ts'
import type { Bodies, ViewName } from '../view/screen.ts'

export type PageRequest = {
  readonly api: Api
  /** The parameters of the path. */
  readonly id: string
  readonly query: Readonly<Record<string, string>>
  /** The actions that the policy allows the user; empty: unknown, and the API decides. */
  readonly may: Readonly<Record<string, boolean>>
}
export type LoadedPage<V extends ViewName = ViewName> = {
  readonly [N in V]: { readonly view: N; readonly title: string; readonly body: Bodies[N] }
}[V]
export type Load = (asked: PageRequest) => Promise<LoadedPage>

/** Rows of a page: few enough for a browser to draw them at once. */
export const PAGE_ROWS = 50

const queryOf = (fields: Readonly<Record<string, string | number | undefined>>): string => {
  const given = Object.entries(fields).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}

export type Order = { readonly key: string; readonly newestFirst: boolean }
/**
 * One page of a list. `after`: the page begins after this entry; `before`: it ends before it. To go back, the list is
 * read in the other direction. One row more than fits is requested, which shows whether there is another page.
 */
export const pageOf = async <Row>(
  path: string,
  filter: Readonly<Record<string, string>>,
  {
    query,
    order,
    markerOf,
    read,
  }: {
    readonly query: PageRequest['query']
    readonly order: Order
    readonly markerOf: (row: Row) => string
    readonly read: (path: string) => Promise<Loaded<readonly Row[]>>
  },
): Promise<{ readonly list: Loaded<readonly Row[]>; readonly turn: Turn }> => {
  const { after, before } = query
  const back = before !== undefined
  const list = await read(
    `/${path}${queryOf({
      ...filter,
      limit: PAGE_ROWS + 1,
      sort_key: order.key,
      sort_dir: order.newestFirst === back ? 'asc' : 'desc',
      marker: before ?? after,
    })}`,
  )
  const rows = list.ok ? list.value : []
  const more = rows.length > PAGE_ROWS
  const cut = rows.slice(0, PAGE_ROWS)
  const shown = back ? cut.toReversed() : cut
  const [first, last] = [shown[0], shown.at(-1)]
  const href = (side: 'after' | 'before', row: Row | undefined) =>
    row === undefined ? null : queryOf({ ...filter, [side]: markerOf(row) })
  const earlier = back || more ? href('after', last) : null
  const later = (back ? more : after !== undefined) ? href('before', first) : null
  return { list: mapped(list, () => shown), turn: { earlier, later } }
}

/** The addresses of the previous and the next page, from the root of the console. */
export const turnsAt = (place: string, { earlier, later }: Turn): Turn => ({
  earlier: earlier === null ? null : `${place}${earlier}`,
  later: later === null ? null : `${place}${later}`,
})

/** Only these arguments of the page are filters; others are left out. */
export const filterOf = (query: PageRequest['query'], names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])))

export const arqsIn = async (api: Api, path: string): Promise<Loaded<readonly Arq[]>> =>
  mapped(await api.get(path, shapes.Arqs), ({ arqs }) => arqs)
