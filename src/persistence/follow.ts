/** Opens a store for reading only, and follows its journal as it grows. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Journal, Position } from '../actors/runtime/ports.ts'
import { journalEnd } from './bulk.ts'
import { sqlJournal } from './journal.ts'
import type { Database } from './sql.ts'

export type SnapshotSource =
  | { readonly kind: 'pglite'; readonly dir: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly statementTimeoutMs?: number }

export const openSource = async (source: SnapshotSource): Promise<Database> => {
  if (source.kind === 'postgres') {
    const { kind: _, ...options } = source
    return (await import('./postgres/postgres.ts')).postgresDatabase({ ...options, readers: 1 })
  }
  // opening a store would create its folder
  if (!existsSync(join(source.dir, 'pglite'))) throw new Error(`${source.dir} holds no store`)
  return (await import('./pglite/pglite.ts')).pgliteDatabase(source.dir)
}

/** All journal rows in commit order, including rows that are written later. */
export type Following = Pick<Journal, 'feed'> & {
  /** Position of the last row. */
  readonly end: () => Promise<Position>
  readonly close: () => Promise<void>
}
export const followJournal = async (source: SnapshotSource): Promise<Following> => {
  const database = await openSource(source)
  return { feed: sqlJournal(database).feed, end: () => journalEnd(database), close: database.close }
}
