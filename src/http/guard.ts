/** Refuses text and numbers that stores or clients cannot hold, before their meaning is checked. */
import { tooDeep } from '../vocabulary/jsonSize.ts'
import { unstorable } from '../vocabulary/text.ts'
import { invalid } from './faults.ts'
import type { Fault } from '../vocabulary/fault.ts'

/** No document of this API is nested deeper than five levels. */
export const DEPTH_MAX = 16
const NAME_SHOWN = 60

export type Refusal = { readonly ok: false; readonly fault: Fault }

/** A flaw is rare, so its `path` is built only when one is found, from the innermost name outwards. */
type Flaw = { readonly rule: string; readonly path: string[] }

const flaw = (rule: string): Flaw => ({ rule, path: [] })

const inEntries = (value: object, depth: number): Flaw | null => {
  if (depth >= DEPTH_MAX) return flaw(tooDeep(DEPTH_MAX))
  const list = Array.isArray(value)
  for (const name of Object.keys(value)) {
    const bad = list ? null : unstorable(name)
    const found =
      bad === null ? flawIn((value as Record<string, unknown>)[name], depth + 1) : flaw(`${bad} in its name`)
    if (found === null) continue
    found.path.unshift(list ? `[${name}]` : `.${name.slice(0, NAME_SHOWN).toWellFormed().replaceAll('\0', '�')}`)
    return found
  }
  return null
}

const flawIn = (value: unknown, depth: number): Flaw | null => {
  if (typeof value === 'string') {
    const bad = unstorable(value)
    return bad === null ? null : flaw(bad)
  }
  // JSON.parse reads 1e999 as infinity.
  if (typeof value === 'number') return Number.isFinite(value) ? null : flaw('the number is too large')
  return typeof value === 'object' && value !== null ? inEntries(value, depth) : null
}

/** The first flaw in a parsed JSON document, with the name of the field. Null when there is none. */
export const problemIn = (value: unknown): Refusal | null => {
  const found = flawIn(value, 0)
  if (found === null) return null
  return invalid(found.path.join('').replace(/^\./, '') || 'body', found.rule)
}
