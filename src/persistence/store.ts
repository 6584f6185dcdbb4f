/** A store as the main program uses it: the ports of the actors, and the work on whole tables. */
import type { StoredCloud } from './cloud.ts'
import type { EntityKey } from '../vocabulary/identifiers.ts'
import type { Append, Journal, JournalRow, Landmarks, Position, Reads } from '../actors/runtime/ports.ts'
import type { Hints } from '../actors/runtime/hints.ts'
import type { Sharing } from '../actors/runtime/sharing.ts'
import type { ViewChange } from '../actors/runtime/views.ts'

/** All view rows of one entity, from all its journal rows, oldest first. Pure. */
export type Fold = (key: EntityKey, rows: readonly JournalRow[]) => readonly ViewChange[]
export type Loaded = { readonly journalRows: number; readonly viewRows: number }
export type Stream<Item> = Iterable<Item> | AsyncIterable<Item>

export type ArchiveOrder = {
  /** Only entities that ended before this time, ms since the epoch. */
  readonly before: number
  /** The number of journal rows to examine; those of them that may be archived are moved in one statement. */
  readonly limit: number
}
/** `more`: there are more rows to examine, so call again. */
export type Archived = { readonly entities: number; readonly rows: number; readonly more: boolean }

export type Store = {
  readonly kind: 'memory' | 'pglite' | 'postgres'
  /**
   * Migrations in the database that this program does not know, since a newer program ran them. Logged at the start.
   */
  readonly newer: readonly string[]
  /** The last migration that this program knows; null: the store has no schema. */
  readonly schema: string | null
  readonly journal: Journal
  readonly landmarks: Landmarks
  readonly reads: Reads
  readonly sharing: Sharing
  readonly hints: Hints
  /**
   * Rejects with the reason when nothing can be written: no server, a standby, or writing is stopped. For readiness.
   */
  readonly expectWriting: () => Promise<void>
  /** Whether writing is stopped because rows were lost, until an operator adopts. For the metrics. */
  readonly isStopped: () => Promise<boolean>
  /**
   * The id of the cloud, made with its journal, and its private key. The first program that asks makes the key, with
   * `newKey`.
   */
  readonly cloud: (newKey: () => string) => Promise<StoredCloud>
  /** Writes whole histories in large statements. Rejects when one conflicts with the existing rows. */
  readonly bulkLoad: (appends: Stream<Append>) => Promise<Loaded>
  /** Like `bulkLoad`, but in one transaction: if it fails or the process ends, nothing is stored. */
  readonly loadWhole: (appends: Stream<Append>) => Promise<Loaded>
  /** Position of the last row, for a reader that starts after it. No process may write at the same time. */
  readonly journalEnd: () => Promise<Position>
  /** Empties the views and rebuilds them from the journal. No process may write at the same time. */
  readonly rebuildViews: (fold: Fold) => Promise<Loaded>
  /**
   * Moves journal rows of ended ARQs and instances to the archive. The feed skips archived rows; histories, folds and
   * audits read them.
   */
  readonly archiveEnded: (order: ArchiveOrder) => Promise<Archived>
  /** All view rows except snapshots as canonical text, one line per row. */
  readonly dumpViews: () => AsyncIterable<string>
  /** Resolves when the store is lost permanently: the process should end, so that a new one opens the store again. */
  readonly lost?: Promise<Error>
  readonly close: () => Promise<void>
}
