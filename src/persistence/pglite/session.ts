/**
 * Statements on the embedded database. Planning takes longer than running here, so statements that recur are prepared.
 */
import { parse, protocol, types } from '@electric-sql/pglite'
import type { PGlite } from '@electric-sql/pglite'
import type { Ask } from './protocol.ts'
import type { Rows } from '../sql.ts'

const { serialize } = protocol
export type Result = { readonly rows: Rows; readonly affected: number }

/** Prepared statements declare the types of all parameters, so that values can be sent as text. */
const textOf = (param: unknown): string | null => {
  if (param === null || param === undefined) return null
  return typeof param === 'string' ? param : JSON.stringify(param)
}

export const sessionOn = (db: PGlite): ((ask: Ask) => Promise<Result>) => {
  const prepared = new Set<string>()

  const prepare = async (name: string, text: string): Promise<void> => {
    if (prepared.has(name)) return
    await db.execProtocol(Buffer.concat([serialize.parse({ name, text }), serialize.sync()]))
    prepared.add(name)
  }
  const run = async (name: string, params: readonly unknown[]): Promise<Result> => {
    const bind = serialize.bind({ statement: name, values: params.map(textOf) })
    const message = Buffer.concat([bind, serialize.describe({ type: 'P' }), serialize.execute({}), serialize.sync()])
    const { messages } = await db.execProtocol(message)
    const [result] = parse.parseResults(messages, types.parsers)
    return { rows: result?.rows ?? [], affected: result?.affectedRows ?? 0 }
  }
  return async ({ name, text, params }) => {
    if (name === undefined) {
      const { rows, affectedRows } = await db.query<Record<string, unknown>>(text, [...params])
      return { rows, affected: affectedRows ?? 0 }
    }
    await prepare(name, text)
    return run(name, params)
  }
}
