/** What a relay is made of, and what it says of itself. */
import type { Latest } from '../../actors/latest.ts'
import type { FeedRow, Journal, JournalRow, Position } from '../../actors/runtime/ports.ts'
import type { Sharing } from '../../actors/runtime/sharing.ts'
import type { Clock } from '../../clock.ts'
import type { BusRecord } from '../../wire/envelope.ts'
import type { Log } from '../../log.ts'
import type { Bus } from '../../bus/port.ts'
import type { LeaseTimes } from './lease.ts'

export type RelayOptions = {
  readonly journal: Pick<Journal, 'feed' | 'checkpoint' | 'onAppended' | 'exclusive'>
  readonly sharing: Pick<Sharing, 'acquire' | 'release' | 'saveUnder'>
  /** Names this process among all, and this life of it. */
  readonly holder: string
  readonly bus: Pick<Bus, 'publish'>
  /** Pure: what a row says to others. */
  readonly reactions: (row: FeedRow) => readonly BusRecord[]
  /** Where the latest states come from. None: no state topics. */
  readonly states?: Latest
  /** Whether somebody waits for what the row says to others. All rows, when not given. */
  readonly urgent?: (row: JournalRow) => boolean
  readonly clock: Clock
  readonly log: Log
  readonly reader?: string
  /** How often it looks when nobody else writes; when others do, `poll` says. */
  readonly pollMs?: number
  readonly poll?: { readonly busyMs: number; readonly idleMs: number; readonly busyForMs: number }
  readonly gatherMs?: number
  readonly rowsMax?: number
  /** States are told and the checkpoint is saved at most so often; after a kill, the rows since the last save are told again. */
  readonly saveEveryMs?: number
  readonly retry?: { readonly firstMs: number; readonly maxMs: number }
  readonly lease?: LeaseTimes
  /** Whose rounds have failed for so long gives the lease away, and does not ask for it for `asideForMs`. */
  readonly asideAfterMs?: number
  readonly asideForMs?: number
  /** After this long nothing that a former holder sent can arrive any more: longer than any publish may take. */
  readonly graceMs?: number
}
export type RelayState = {
  /** Whether this one holds the lease and may publish. */
  readonly active: boolean
  /** Of the lease that was held last. */
  readonly epoch: number
  /** Empty when it is not active. */
  readonly position: Position
  readonly rows: number
  readonly messages: number
  /** Rounds failed since the last good one. */
  readonly failures: number
  /** Age of the oldest row that was read and is not told yet; 0 when there is none. */
  readonly lagMs: number
  /** States told on the compacted topics. */
  readonly states: number
}
/** Under this name its checkpoint and its lease are kept. */
export const RELAY = 'relay'
export const DEFAULTS = {
  reader: RELAY,
  pollMs: 500,
  // a look that finds nothing costs a quarter of a millisecond of own CPU: 1.2% of a core at 20 ms, 0.2% at 150 ms
  poll: { busyMs: 20, idleMs: 150, busyForMs: 2000 },
  gatherMs: 25,
  urgent: (_row: JournalRow): boolean => true,
  rowsMax: 500,
  saveEveryMs: 100,
  retry: { firstMs: 20, maxMs: 5000 },
  lease: { leaseMs: 5000, trustMs: 3500, renewMs: 1000 },
  asideAfterMs: 6000,
  // others ask every second
  asideForMs: 2500,
  graceMs: 60_000,
}
export type Settings = Omit<RelayOptions, keyof typeof DEFAULTS> & typeof DEFAULTS
