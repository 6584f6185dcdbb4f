/** What the stores agree on about views: names of rules, column facts, and one canonical text of all rows. */
import { VIEWS } from '../actors/runtime/views.ts'
import { isStorable } from '../text.ts'
import type { Kind, View, ViewChange, ViewName } from '../actors/runtime/views.ts'

/** A row as a store sees it: columns by name. */
export type Cells = Readonly<Record<string, unknown>>
export type Base = 'uuid' | 'text' | 'int' | 'bigint' | 'json' | 'bool'

export const viewNames = Object.keys(VIEWS) as readonly ViewName[]
export const viewOf = (name: ViewName): View => VIEWS[name]
export const baseOf = (kind: Kind): Base => (kind.endsWith('?') ? kind.slice(0, -1) : kind) as Base
export const nullable = (kind: Kind): boolean => kind.endsWith('?')

/** The names a broken rule is reported by, the same in every store. */
export const uniqueRule = (view: ViewName, columns: readonly string[]): string => `${view}_${columns.join('_')}_unique`
export const notNullRule = (view: string, column: string): string => `${view}_${column}_not_null`
/** Text that no PostgreSQL takes: with a NUL, or with half of a surrogate pair. */
export const TEXT_RULE = 'text_unicode'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Whether a value can be in a column of that type. */
export const fits = (base: Base, value: unknown): boolean => {
  switch (base) {
    case 'uuid':
      return typeof value === 'string' && UUID.test(value)
    case 'text':
      return typeof value === 'string' && isStorable(value)
    case 'int':
      return typeof value === 'number' && (value | 0) === value
    case 'bigint':
      return Number.isSafeInteger(value)
    case 'bool':
      return typeof value === 'boolean'
    case 'json':
      return false
  }
}

/** All columns in their order, absent ones null, and nothing else. */
export const cellsOf = (view: ViewName, row: object): Cells =>
  Object.fromEntries(Object.keys(viewOf(view).columns).map((column) => [column, (row as Cells)[column] ?? null]))

/** What is left of a batch of changes when only the last of each row counts; in the order of their last change. */
export const lastChanges = (changes: readonly ViewChange[]): ViewChange[] => {
  const last = new Map<string, ViewChange>()
  for (const change of changes) {
    const id = `${change.view}/${change.key}`
    last.delete(id)
    last.set(id, change)
  }
  return [...last.values()]
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}

/** One line a row; the order of an object's members does not show. */
export const dumpLine = (view: ViewName, cells: Cells): string => `${view} ${JSON.stringify(sorted(cells))}`

/** Snapshots are a cache of the journal, not a fold that a rebuild must reproduce. */
export const dumpedViews: readonly ViewName[] = viewNames.filter((name) => name !== 'snapshots')
