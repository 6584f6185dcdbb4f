/**
 * Finds the value of an append that no store can hold, so that every store refuses it alike and names the field and the
 * rule. Pure.
 */
import type { Append } from '../actors/runtime/ports.ts'
import type { ViewChange } from '../actors/runtime/views.ts'
import { isStorable } from '../vocabulary/text.ts'
import { baseOf, cellsOf, fits, nullable, viewOf } from './rules.ts'
import type { Base } from './rules.ts'

export type Misfit = { readonly kind: 'invalid'; readonly field: string; readonly rule: string }

const TEXT_RULE = 'must not hold a NUL character or half of a surrogate pair'
/**
 * Columns of the other types are not judged: this program makes the UUIDs, and JSON can break only the rule for text,
 * which is checked for the whole append.
 */
const RULES: Readonly<Partial<Record<Base, string>>> = {
  text: TEXT_RULE,
  int: 'must be a whole number from -2147483648 to 2147483647',
  bigint: 'must be a whole number of at most 15 digits',
  bool: 'must be true or false',
}
const misfit = (field: string, rule: string): Misfit => ({ kind: 'invalid', field, rule })

const ofRow = ({ view, row }: ViewChange): Misfit | null => {
  if (row === null) return null
  const cells = cellsOf(view, row)
  for (const [column, kind] of Object.entries(viewOf(view).columns)) {
    const [value, base] = [cells[column], baseOf(kind)]
    const rule = RULES[base]
    if (value === null && !nullable(kind)) return misfit(`${view}.${column}`, 'must not be empty')
    if (value !== null && rule !== undefined && !fits(base, value)) return misfit(`${view}.${column}`, rule)
  }
  return null
}

/** Returns the first value that no store can hold; null: there is none. */
export const misfitOf = ({ rows, changes }: Append): Misfit | null => {
  for (const change of changes) {
    const found = ofRow(change)
    if (found !== null) return found
  }
  return isStorable({ rows, changes }) ? null : misfit('text', TEXT_RULE)
}

/**
 * The rule for a value that the database refused, by the class of the SQLSTATE. Errors of other classes are not about a
 * value.
 */
const DATA: ReadonlyMap<string, string> = new Map([
  ['21', 'is not a value that the database takes'],
  ['22', 'is not a value that the database takes'],
  ['23', 'breaks a rule of the database'],
  ['44', 'breaks a rule of the database'],
  ['54', 'is larger than the database takes'],
])
/** For values that pass the rules above and that the database still refuses. Null: the code is not about a value. */
export const misfitByCode = (code: string): Misfit | null => {
  const rule = DATA.get(code.slice(0, 2))
  return rule === undefined ? null : misfit('a value', `${rule} (SQLSTATE ${code})`)
}
