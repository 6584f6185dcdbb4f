/**
 * The ports through which the actors use the journal and the views. Each port has at least two real implementations.
 */
import type { EntityKey } from '../../vocabulary/identifiers.ts'
import type { Fault } from '../../vocabulary/fault.ts'
import type { Event } from './decider.ts'
import type { Row, ViewChange, ViewName } from './views.ts'

/** One decision of one entity. */
export type JournalRow = {
  /** `<kind>/<id>`. */
  readonly key: EntityKey
  /** Must be one more than the last version of this key, or the append is refused. */
  readonly version: number
  /** A UUID. If a row of the key has it already, nothing is written. All rows of a unit have the same one. */
  readonly commandId: string
  readonly events: readonly Event[]
  /**
   * The row before this one (version - 1) as the writer remembers it. The journal accepts the new row only after
   * exactly that row, so a writer whose memory differs from the journal is refused as stale. Absent: any row of that
   * version is accepted. Not stored.
   */
  readonly follows?: RowMark
  /** When the decision was made, ms since the epoch. */
  readonly at: number
  /** The cause of the decision: request id, actor, order; for the timeline and the trace. */
  readonly cause: Cause
}
/**
 * Identifies a row that a process remembers. The command id alone is not enough: when the journal has lost a row, a
 * report or result that the host sends again is recorded a second time, with the same command id and other content.
 * `at` null: unknown.
 */
export type RowMark = { readonly commandId: string; readonly at: number | null }
/** `trace`: the `traceparent` of the request; absent: its trace is not recorded. */
export type Cause = { readonly requestId?: string; readonly by?: string; readonly trace?: string }

/**
 * The place of a row in commit order: opaque text, comparable only by the journal that made it. '' is the place before
 * the first row.
 */
export type Position = string
export type FeedRow = JournalRow & { readonly position: Position }

/** All rows and all view changes of one append are written, or none. */
export type Append = {
  readonly rows: readonly JournalRow[]
  readonly changes: readonly ViewChange[]
  /**
   * An append that has not been sent to the store by then gets the verdict `busy`. By the monotonic clock of the
   * process.
   */
  readonly notAfter?: number
}
export type Verdict =
  | 'appended'
  /** A row with this key and version exists already: another process has written. Read the tail and decide again. */
  | 'stale'
  /** A row with this key and command exists already: this append, or a repetition of it, was written before. */
  | 'seen'
  /**
   * The store did not answer: the append may or may not be written. The tail shows which, once the store answers again.
   */
  | 'unknown'
  /**
   * Nothing was written, and nothing will be: too many appends wait, the journal is closed, or the store rolled the
   * append back for a reason that passes (a full disk, a lock). The same append may succeed later.
   */
  | 'busy'
  /** A uniqueness rule of the views would be broken, so nothing was written. Names the rule. */
  | { readonly conflict: string }
  /**
   * Nothing was written, and nothing will be until the store accepts writes again; the reason says what must happen
   * first.
   */
  | { readonly stopped: string }
  /**
   * Nothing was written, and the same append will never be accepted: it contains something that no store takes
   * (`invalid`), or the program or the database is at fault (`broken`). Other appends of its batch are not affected.
   */
  | { readonly refused: Extract<Fault, { readonly kind: 'invalid' | 'broken' }> }

/** A reader's knowledge of an entity: `after` is the last version, `last` the row of that version. */
export type Wish = { readonly key: EntityKey; readonly after: number; readonly last?: RowMark }
export type Recalled = {
  /**
   * The journal has no row `last` of version `after`: it has lost rows, or has other ones in their place. What the
   * reader knows is void; `snapshot` and `rows` are the whole entity.
   */
  readonly void?: true
  readonly snapshot: { readonly version: number; readonly memory: unknown } | null
  /** Rows after `after`, or after the snapshot if that is newer; ordered by version. */
  readonly rows: readonly JournalRow[]
}

export type Journal = {
  /** Written together with other appends of the same moment (group commit). Never rejects. */
  readonly append: (append: Append) => Promise<Verdict>
  /**
   * The rows after the given versions, for any number of keys in one read. Once it has returned, no earlier append of
   * this process can still be written. Rejects with `Unreadable` when the store cannot be read, as all reads of this
   * port do.
   */
  readonly recall: (keys: readonly Wish[]) => Promise<ReadonlyMap<EntityKey, Recalled>>
  /** All rows of the given keys, oldest first, at most `limit`; for the timeline and the audit. */
  readonly history: (keys: readonly EntityKey[], limit: number) => Promise<readonly FeedRow[]>
  /** Rows in commit order after a position; never skips a row that commits later. */
  readonly feed: (after: Position, limit: number) => Promise<readonly FeedRow[]>
  readonly checkpoint: (reader: string) => Promise<Position>
  readonly saveCheckpoint: (reader: string, position: Position) => Promise<void>
  /**
   * Called after appends of this process, with the appends where the store still has them; returns the function that
   * unsubscribes.
   */
  readonly onAppended: (listener: (appends?: readonly Append[]) => void) => () => void
  /**
   * True as long as no other process can write: cached state is then never stale. It may become false, and never true
   * again.
   */
  readonly exclusive: boolean
  /**
   * Changes when the journal may be on another server than before. Positions that readers remember are void then, and
   * they start from their checkpoints again. Absent: that cannot happen.
   */
  readonly incarnation?: number
  readonly close: () => Promise<void>
}

/**
 * Places where a reader of the feed that keeps its own position may begin. All but `isBefore` reject with `Unreadable`
 * when the store cannot be read.
 */
export type Landmarks = {
  /** The last row that the feed shows, also when it is in the archive; null: there is none. */
  readonly newest: () => Promise<FeedRow | null>
  /** The row at a position, also when it is in the archive; null: there is none. */
  readonly at: (position: Position) => Promise<FeedRow | null>
  /** Before this position, the feed may lack rows that are in the archive. '': nothing was archived. */
  readonly horizon: () => Promise<Position>
  readonly isBefore: (one: Position, other: Position) => boolean
}

export type Scalar = string | number | boolean | null
/** The place of a row in the order of a query: its value in the column of the order, and its key. */
export type PageCursor = { readonly value: Scalar; readonly key: string }
export type PageQuery<N extends ViewName> = {
  readonly view: N
  /** All conditions must hold; an array means any of its values; `null` means is null. */
  readonly where: { readonly [C in keyof Row<N>]?: Scalar | readonly Scalar[] }
  /**
   * Restricts what the caller may see: the rows, as `where` does, and the row of the marker, which is otherwise treated
   * as unknown.
   */
  readonly visible?: PageQuery<N>['where']
  /** Column to sort by; ties are broken by the view's key. It must not be nullable. */
  readonly sort: keyof Row<N> & string
  readonly descending?: boolean
  /** Rows strictly after the row with this key. Unknown key, or a row that is not visible: the page is `null`. */
  readonly marker?: string
  /** Rows strictly after a row that was read and may have been deleted since, given by its `sort` value and its key. */
  readonly after?: PageCursor
  /** At most 1000. */
  readonly limit: number
}
/** All reject with `Unreadable` when the store cannot be read. */
export type Reads = {
  /** One indexed query. Null: the marker names no visible row of the view. */
  readonly page: <N extends ViewName>(query: PageQuery<N>) => Promise<readonly Row<N>[] | null>
  /** Rows of `due` with `at <= now` that a worker handles, oldest first. */
  readonly dueBefore: (now: number, limit: number) => Promise<readonly Row<'due'>[]>
  /**
   * The number of rows for each value of a column; rows in which it is null are left out. It reads the whole view, for
   * a metrics page.
   */
  readonly tally: <N extends ViewName>(view: N, by: keyof Row<N> & string) => Promise<ReadonlyMap<string, number>>
}
