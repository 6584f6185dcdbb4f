/** What is shown of one attach handle. */
import type { Cleaned, Cleaning } from '../../cleaning.ts'
import type { HandleType } from '../../hardware.ts'
import type { ArqUuid } from '../../identifiers.ts'
import type { DatedNote } from '../../operatorNote.ts'
import type { Row } from '../runtime/views.ts'

export type HandleRow = Row<'handles'>
export type HandleDetail = HandleRow & {
  readonly type: HandleType
  readonly info: Readonly<Record<string, string>>
  /** The ARQ that gave the handle up, until its release is finished; null also when the caller may not know of it. */
  readonly last_arq: ArqUuid | null
  /** Number of the order its host has not answered yet. */
  readonly order: number | null
  /** Set when an operator withholds the handle. */
  readonly quarantine: DatedNote | null
  readonly cleaning: {
    /** Null: it is not cleaned between requests. */
    readonly policy: Cleaning | null
    /** Its host has been ordered to clean it, and has not answered yet. */
    readonly underWay: boolean
    /** The evidence of the last cleaning, done or failed; null: there was none. */
    readonly last: Cleaned | null
  }
}
