/**
 * The only description of the views, the tables behind every list. ORM entities, migrations, SQL and row types are
 * derived from it. A view row is computed from one entity's events and written in the same transaction as the journal
 * row. Moments are whole milliseconds since the epoch.
 */

import type { ContentsOf } from './contents.ts'
import { type Kind, type Kinds, TABLES, type View } from './tables.ts'

export type { Kind, View } from './tables.ts'

type Value<K extends Kind> = K extends `${infer Base extends keyof Kinds}?`
  ? Kinds[Base] | null
  : K extends keyof Kinds
    ? Kinds[K]
    : never

/** The columns by which the rows of a view can be ordered: those that are never null and not JSON. */
type Sortable<V extends View> = {
  [C in keyof V['columns']]: V['columns'][C] extends 'json' | `${string}?` ? never : C
}[keyof V['columns']]
type Ordered<Tables extends Record<string, View>> = {
  readonly [N in keyof Tables]: { readonly key: Sortable<Tables[N]>; readonly order: Sortable<Tables[N]> }
}
export const VIEWS = TABLES satisfies Ordered<typeof TABLES>

export type ViewName = keyof typeof VIEWS

type Cell<N extends ViewName, C, K extends Kind> = C extends keyof ContentsOf<N>
  ? ContentsOf<N>[C] | (K extends `${string}?` ? null : never)
  : Value<K>
export type Row<N extends ViewName> = {
  readonly [C in keyof (typeof VIEWS)[N]['columns']]: (typeof VIEWS)[N]['columns'][C] extends infer K extends Kind
    ? Cell<N, C, K>
    : never
}

/** `row` replaces the row with that key; null removes it. */
export type ViewChange = {
  readonly [N in ViewName]: { readonly view: N; readonly key: string; readonly row: Row<N> | null }
}[ViewName]

/** The value of the view's key column. */
export const keyOfRow = (view: ViewName, row: object): string => String(Reflect.get(row, VIEWS[view].key))
export const put = <N extends ViewName>(view: N, row: Row<N>): ViewChange =>
  ({ view, key: keyOfRow(view, row), row }) as ViewChange
export const drop = (view: ViewName, key: string): ViewChange => ({ view, key, row: null })
