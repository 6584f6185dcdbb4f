/** JSON in one form: keys sorted at every depth, no blanks, absent values left out. Equal content gives equal text, so it can be digested. */
import { createHash } from 'node:crypto'

const ordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(ordered)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, ordered(inner)]))
}

/** JavaScript puts integer-like keys first, in the same way for equal content. */
export const canonicalJson = (value: unknown): string => JSON.stringify(ordered(value))

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
