/** A journal row that the database has lost, and its reading from SQL. */
import type { Run } from './sql.ts'

/** A row that the database had acknowledged and no longer holds. */
export type LostRow = {
  readonly key: string
  readonly version: number
  readonly command: string
  readonly events: readonly { readonly type: string }[]
  /** When the row was decided, in ms since the epoch. */
  readonly at: number
}

export type Cells = Awaited<ReturnType<Run>>[number]
export const lostRow = (row: Cells): LostRow => ({
  key: row['key'] as string,
  version: row['version'] as number,
  command: row['command'] as string,
  events: row['data'] as LostRow['events'],
  at: row['at'] as number,
})
