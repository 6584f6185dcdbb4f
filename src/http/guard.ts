/** Text that no store and no client can carry is refused before anyone looks at its meaning. */
import { invalid } from './faults.ts'
import type { Fault } from '../fault.ts'

/** No document of this API is deeper than five levels. */
const DEPTH_MAX = 16
const NAME_SHOWN = 60

export type Refusal = { readonly ok: false; readonly fault: Fault }

export const badText = (text: string): string | null =>
  text.includes('\0') ? 'it holds a NUL character' : text.isWellFormed() ? null : 'it holds half of a surrogate pair'

const shown = (name: string): string => name.slice(0, NAME_SHOWN).toWellFormed().replaceAll('\0', '�')
const under = (path: string, name: string): string => (path === '' ? shown(name) : `${path}.${shown(name)}`)

const entriesProblem = (value: object, path: string, depth: number): Refusal | null => {
  for (const name of Object.keys(value)) {
    const place = Array.isArray(value) ? `${path}[${name}]` : under(path, name)
    const bad = badText(name)
    if (bad !== null) return invalid(place, `${bad} in its name`)
    const problem = problemIn((value as Record<string, unknown>)[name], place, depth + 1)
    if (problem !== null) return problem
  }
  return null
}

/** The first thing wrong in a parsed JSON document, with the field named; null when all is well. */
export const problemIn = (value: unknown, path = '', depth = 0): Refusal | null => {
  const field = path === '' ? 'body' : path
  if (typeof value === 'string') {
    const bad = badText(value)
    return bad === null ? null : invalid(field, bad)
  }
  // JSON.parse reads 1e999 as infinity.
  if (typeof value === 'number') return Number.isFinite(value) ? null : invalid(field, 'the number is too large')
  if (typeof value !== 'object' || value === null) return null
  if (depth >= DEPTH_MAX) return invalid(field.slice(0, 200), `it is nested deeper than ${DEPTH_MAX} levels`)
  return entriesProblem(value, path, depth)
}
