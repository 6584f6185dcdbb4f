/** A store as the main program holds it: the ports of the actors, and the work on whole tables. */
import type { EntityKey } from '../identifiers.ts'
import type { Append, Journal, JournalRow, Position, Reads } from '../actors/runtime/ports.ts'
import type { Sharing } from '../actors/runtime/sharing.ts'
import type { ViewChange } from '../actors/runtime/views.ts'

/** All view rows of one entity, from all its journal rows, oldest first. Pure. */
export type Fold = (key: EntityKey, rows: readonly JournalRow[]) => readonly ViewChange[]
export type Loaded = { readonly journalRows: number; readonly viewRows: number }
export type Stream<Item> = Iterable<Item> | AsyncIterable<Item>

export type ArchiveOrder = {
  /** Only what ended before this moment, ms since the epoch. */
  readonly before: number
  /** So many journal rows are looked at; what of them may go, goes in one statement. */
  readonly limit: number
}
/** `more`: there is more to look at, call again. */
export type Archived = { readonly entities: number; readonly rows: number; readonly more: boolean }

export type Store = {
  readonly kind: 'memory' | 'pglite' | 'postgres'
  /** Migrations in the database that this program does not know: a newer one was here. Worth a line in the log. */
  readonly newer: readonly string[]
  readonly journal: Journal
  readonly reads: Reads
  readonly sharing: Sharing
  /** Writes whole histories in large statements. Stops with an error when one does not fit what is there. */
  readonly bulkLoad: (appends: Stream<Append>) => Promise<Loaded>
  /** Place of the last row, for a reader that wants to begin behind it; nobody may write meanwhile. */
  readonly journalEnd: () => Promise<Position>
  /** Empties the views and folds them anew from the journal; nobody may write meanwhile. */
  readonly rebuildViews: (fold: Fold) => Promise<Loaded>
  /** Moves journals of ended ARQs and instances where the feed no longer meets them; histories, folds and audits still do. */
  readonly archiveEnded: (order: ArchiveOrder) => Promise<Archived>
  /** All view rows but snapshots as canonical text, a line a row. */
  readonly dumpViews: () => AsyncIterable<string>
  /** Resolves when the store is gone for good: the process should end, so that the next one opens it again. */
  readonly lost?: Promise<Error>
  readonly close: () => Promise<void>
}
