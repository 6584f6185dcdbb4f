/**
 * The properties of views that all stores share: names of rules, kinds of columns, and the canonical text of all rows.
 */
import { VIEWS } from '../actors/runtime/views.ts'
import type { Cells } from '../actors/runtime/viewPage.ts'
import { unstorable } from '../vocabulary/text.ts'
import { isUuid } from '../vocabulary/uuid.ts'
import type { Kind, View, ViewChange, ViewName } from '../actors/runtime/views.ts'

export type Base = 'uuid' | 'text' | 'int' | 'bigint' | 'json' | 'bool'

export { type Cells, cellsOf } from '../actors/runtime/viewPage.ts'

export const viewNames = Object.keys(VIEWS) as readonly ViewName[]
export const viewOf = (name: ViewName): View => VIEWS[name]
export const baseOf = (kind: Kind): Base => (kind.endsWith('?') ? kind.slice(0, -1) : kind) as Base
export const nullable = (kind: Kind): boolean => kind.endsWith('?')

/** The name under which a broken rule is reported, the same in every store. */
export const uniqueRule = (view: ViewName, columns: readonly string[]): string => `${view}_${columns.join('_')}_unique`

/** Whether a column of that type can hold the value. */
export const fits = (base: Base, value: unknown): boolean => {
  switch (base) {
    case 'uuid':
      return typeof value === 'string' && isUuid(value.toLowerCase())
    case 'text':
      return typeof value === 'string' && unstorable(value) === null
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

/** Keeps only the last change of each row, in the order of these last changes. */
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

/** One line per row; the text does not depend on the order of an object's members. */
export const dumpLine = (view: ViewName, cells: Cells): string => `${view} ${JSON.stringify(sorted(cells))}`

/** Snapshots are left out: they are a cache, and a rebuild need not reproduce them. */
export const dumpedViews: readonly ViewName[] = viewNames.filter((name) => name !== 'snapshots')
