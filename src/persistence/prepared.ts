/**
 * Names for prepared statements. They are short, since a server truncates long ones, and few, since a session keeps
 * every one.
 */
import type { Statement } from './sql.ts'

type Prepare = (kind: string, shape: string, text: string, params: readonly unknown[]) => Statement

/** `max`: so many names are given; all further shapes get none and are planned each time. */
export const createPrepared = (max: number): Prepare => {
  const known = new Map<string, string>()
  return (kind, shape, text, params) => {
    const id = `${kind} ${shape}`
    const name = known.get(id) ?? `${kind}_${known.size}`
    if (known.size < max) known.set(id, name)
    return known.has(id) ? { text, params, name } : { text, params }
  }
}

/** Names statements for all sessions of this process. `shape` distinguishes statements of one kind. */
export const prepared = createPrepared(300)
