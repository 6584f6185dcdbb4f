/** Finds what of an append no store can hold, so that every store refuses it alike and names the field and the rule. Pure. */
import type { Append } from '../actors/runtime/ports.ts'
import type { ViewChange } from '../actors/runtime/views.ts'
import { isStorable } from '../text.ts'
import { baseOf, cellsOf, fits, nullable, viewOf } from './rules.ts'
import type { Base } from './rules.ts'

export type Misfit = { readonly kind: 'invalid'; readonly field: string; readonly rule: string }

const TEXT_RULE = 'must not hold a NUL character or half of a surrogate pair'
const RULES: Readonly<Record<Base, string>> = {
  uuid: 'must be a UUID',
  text: TEXT_RULE,
  int: 'must be a whole number from -2147483648 to 2147483647',
  bigint: 'must be a whole number of at most 15 digits',
  bool: 'must be true or false',
  json: 'must be JSON',
}
/** UUIDs are made by this program. What is inside JSON can only break the rule for text, which is judged for the whole append. */
const UNJUDGED: ReadonlySet<Base> = new Set<Base>(['uuid', 'json'])
const misfit = (field: string, rule: string): Misfit => ({ kind: 'invalid', field, rule })

const ofRow = ({ view, row }: ViewChange): Misfit | null => {
  if (row === null) return null
  const cells = cellsOf(view, row)
  for (const [column, kind] of Object.entries(viewOf(view).columns)) {
    const [value, base] = [cells[column], baseOf(kind)]
    if (value === null && !nullable(kind)) return misfit(`${view}.${column}`, 'must not be empty')
    if (value !== null && !UNJUDGED.has(base) && !fits(base, value)) return misfit(`${view}.${column}`, RULES[base])
  }
  return null
}

/** The first misfit; null when every store can hold all of it. */
export const misfitOf = ({ rows, changes }: Append): Misfit | null => {
  for (const change of changes) {
    const found = ofRow(change)
    if (found !== null) return found
  }
  return isStorable({ rows, changes }) ? null : misfit('text', TEXT_RULE)
}

/** What kind of value the database refused, by the class of the SQLSTATE; null: not the value is at fault. */
const DATA: ReadonlyMap<string, string> = new Map([
  ['21', 'is no value that the database takes'],
  ['22', 'is no value that the database takes'],
  ['23', 'breaks a rule of the database'],
  ['44', 'breaks a rule of the database'],
  ['54', 'is larger than the database takes'],
])
/** For what the rules above do not know: what the database itself said, by its code. */
export const misfitByCode = (code: string): Misfit | null => {
  const rule = DATA.get(code.slice(0, 2))
  return rule === undefined ? null : misfit('a value', `${rule} (SQLSTATE ${code})`)
}
