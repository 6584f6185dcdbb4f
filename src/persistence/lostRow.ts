/** A journal row that is gone, as the database tells it. */
import type { Run } from './sql.ts'

/** A row that the database had acknowledged and does not hold any more. */
export type LostRow = {
  readonly key: string
  readonly version: number
  readonly command: string
  readonly events: readonly { readonly type: string }[]
  /** When it was decided, ms since the epoch. */
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
