/** Names for prepared statements. Short, as a server cuts long ones; and few, as a session keeps every one. */
import type { Statement } from './sql.ts'

const MAX_PREPARED = 300
const known = new Map<string, string>()

/** `shape` tells statements of a kind apart. The rare ones beyond the limit are planned each time. */
export const prepared = (kind: string, shape: string, text: string, params: readonly unknown[]): Statement => {
  const id = `${kind} ${shape}`
  const name = known.get(id) ?? `${kind}_${known.size}`
  if (known.size < MAX_PREPARED) known.set(id, name)
  return known.has(id) ? { text, params, name } : { text, params }
}
