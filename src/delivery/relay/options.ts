/** The parts and options of a relay, and the state it reports. */
import type { Latest } from '../../actors/latest.ts'
import { type Hints, noHints } from '../../actors/runtime/hints.ts'
import type { FeedRow, Journal, JournalRow, Position } from '../../actors/runtime/ports.ts'
import type { Sharing } from '../../actors/runtime/sharing.ts'
import type { Clock } from '../../vocabulary/clock.ts'
import type { BusRecord } from '../../wire/envelope.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { Bus } from '../../bus/port.ts'
import type { LeaseTimes } from './lease.ts'

export type RelayOptions = {
  readonly journal: Pick<Journal, 'feed' | 'checkpoint' | 'onAppended' | 'exclusive' | 'incarnation'>
  readonly sharing: Pick<Sharing, 'acquire' | 'release' | 'saveUnder'>
  /** Absent: rows of other processes are found only by polling. */
  readonly hints?: Hints
  /** Identifies this process, and this run of it. */
  readonly holder: string
  readonly bus: Pick<Bus, 'publish'>
  /** Pure: the messages that follow from a row. */
  readonly reactions: (row: FeedRow) => readonly BusRecord[]
  /** Where the latest states are read from. Absent: no state topics are written. */
  readonly states?: Latest
  /** Whether a reader waits for the messages of this row. Absent: a reader waits for every row. */
  readonly urgent?: (row: JournalRow) => boolean
  readonly clock: Clock
  readonly log: Log
  readonly reader?: string
  /** How often the journal is read when no other process writes; otherwise `poll` applies. */
  readonly pollMs?: number
  readonly poll?: {
    readonly busyMs: number
    readonly hintedMs: number
    readonly idleMs: number
    readonly busyForMs: number
  }
  readonly gatherMs?: number
  readonly rowsMax?: number
  /**
   * States are published and the checkpoint is saved at most this often; after a kill, the rows since the last save are
   * published again.
   */
  readonly saveEveryMs?: number
  readonly retry?: { readonly firstMs: number; readonly maxMs: number }
  readonly lease?: LeaseTimes
  /**
   * A relay whose rounds have failed for this long releases the lease, and asks for it again only after `asideForMs`.
   */
  readonly asideAfterMs?: number
  readonly asideForMs?: number
  /**
   * A message that the bus refused for this long may be set aside (ASIDE-2): longer than any outage that ends by
   * itself.
   */
  readonly stuckAfterMs?: number
  /** After this long, no message of a former holder can still arrive: longer than any publish may take. */
  readonly graceMs?: number
}
export type RelayState = {
  /** Whether this relay holds the lease and may publish. */
  readonly active: boolean
  /** The epoch of the lease that was held last. */
  readonly epoch: number
  /** Empty while the relay is not active. */
  readonly position: Position
  readonly rows: number
  readonly messages: number
  /** Failed rounds since the last successful one. */
  readonly failures: number
  /** Age of the oldest row that was read and is not published yet; 0 when there is none. */
  readonly lagMs: number
  /** States published on the compacted topics. */
  readonly states: number
  /** Messages that the bus refused for good and that became dead letters. */
  readonly setAside: number
}
/** The name under which checkpoint and lease are stored. */
export const RELAY = 'relay'
export const DEFAULTS = {
  reader: RELAY,
  pollMs: 500,
  // a read that finds nothing costs a quarter of a millisecond of CPU: 1.2% of a core at 20 ms, 0.2% at 150 ms
  poll: { busyMs: 20, hintedMs: 60, idleMs: 150, busyForMs: 2000 },
  hints: noHints,
  gatherMs: 25,
  urgent: (_row: JournalRow): boolean => true,
  rowsMax: 500,
  saveEveryMs: 100,
  retry: { firstMs: 20, maxMs: 5000 },
  lease: { leaseMs: 5000, trustMs: 3500, renewMs: 1000 },
  asideAfterMs: 6000,
  // processes without the lease ask for it every second
  asideForMs: 2500,
  stuckAfterMs: 600_000,
  graceMs: 60_000,
}
export type Settings = Omit<RelayOptions, keyof typeof DEFAULTS> & typeof DEFAULTS
