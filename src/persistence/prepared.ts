/**
 * Names for prepared statements. They are short, since a server truncates long ones, and few, since a session keeps
 * every one.
 */
import type { Statement } from './sql.ts'

const MAX_PREPARED = 300
const known = new Map<string, string>()

/** `shape` distinguishes statements of one kind. Shapes beyond the limit get no name and are planned each time. */
export const prepared = (kind: string, shape: string, text: string, params: readonly unknown[]): Statement => {
  const id = `${kind} ${shape}`
  const name = known.get(id) ?? `${kind}_${known.size}`
  if (known.size < MAX_PREPARED) known.set(id, name)
  return known.has(id) ? { text, params, name } : { text, params }
}
