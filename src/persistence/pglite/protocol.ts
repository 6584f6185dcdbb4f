/** The messages between the main thread and the thread of the embedded database. */
import type { Rows, Statement } from '../sql.ts'

export type Start = { readonly folder: string; readonly settings: Readonly<Record<string, string>> }
export type Ask = Statement & { readonly id: number }
/** The reply with id 0 answers the opening of the database. */
export type Reply = {
  readonly id: number
  readonly rows?: Rows
  readonly affected?: number
  readonly error?: {
    readonly message: string
    readonly code: unknown
    readonly constraint: unknown
    readonly table: unknown
    readonly column: unknown
  }
}
