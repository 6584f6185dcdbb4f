/**
 * How several processes on one store divide the work. The lease or claim of another process is over when this process
 * has seen it unchanged for its duration, measured by its own monotonic clock: no other clock is trusted.
 *
 * SHARING-1 a lease has one holder at a time; its epoch rises whenever it is taken anew, also by the same holder after
 *    it had expired;
 * SHARING-2 a holder of an older epoch can no longer move the checkpoint;
 * SHARING-3 an item that one process has claimed is given to no other until the claim is over; so the work of a dead
 *    process is found again.
 */
import type { EntityKey, HostName, SlotUuid } from '../../vocabulary/identifiers.ts'
import type { Measurements } from '../../wire/measurements.ts'
import type { Position } from './ports.ts'
import type { Row } from './views.ts'

/** The most names that one call of `forgetSeen` deletes. */
export const FORGOTTEN_MAX = 1000

/**
 * All moments up to and including this one, ms since the epoch; or all moments after one that is too far ahead for any
 * correct clock.
 */
export type DueAt = number | { readonly after: number }

export type Lease = { readonly epoch: number }
export type Silence = {
  /**
   * How long no process has heard from the host, in ms by the clock of the store. Negative: that clock was set back
   * since.
   */
  readonly ms: number
  /** Changes whenever a process hears from the host, whatever the clock of the store does. */
  readonly mark: string
}
/** Measurements of one driver of a host. */
export type HostReading = { readonly host: HostName; readonly reading: Measurements }
export type Sharing = {
  /** Takes the lease if it is free or over, and renews it if the caller holds it. Null: another process holds it. */
  readonly acquire: (name: string, holder: string, forMs: number) => Promise<Lease | null>
  readonly release: (name: string, holder: string) => Promise<void>
  /** False: the lease has a later epoch, so nothing was saved. */
  readonly saveUnder: (
    lease: { readonly name: string; readonly epoch: number },
    reader: string,
    position: Position,
  ) => Promise<boolean>
  /**
   * Claims, for `forMs`, rows of `due` of these kinds and moments that nobody has claimed, and returns them, oldest
   * first.
   */
  readonly claimDue: (
    kinds: readonly string[],
    moments: DueAt,
    limit: number,
    forMs: number,
  ) => Promise<readonly Row<'due'>[]>
  /** Ends claims early, so that an entity that is due again soon need not wait for the claim to expire. */
  readonly unclaim: (entities: readonly EntityKey[]) => Promise<void>
  /**
   * Changes the moment of a row of `due`, if nobody has changed the row since it was claimed. The journal does not
   * contain the new moment: a rebuild of the views restores the recorded one. False: the row has another moment by now,
   * or is gone.
   */
  readonly postponeDue: (entity: EntityKey, at: number, to: number) => Promise<boolean>
  /**
   * Marks orders that were last sent at these moments as sent `at`, and returns them as they were before, oldest first.
   */
  readonly takeOrders: (moments: DueAt, at: number, limit: number) => Promise<readonly Row<'pending_orders'>[]>
  /** Marks these orders as sent at another time, unless the slot has a newer order or none. */
  readonly postponeOrders: (
    orders: readonly { readonly slot: SlotUuid; readonly number: number; readonly sentAt: number }[],
  ) => Promise<void>
  /** Records that these hosts were heard from now. */
  readonly noteSeen: (hosts: readonly HostName[]) => Promise<void>
  /** The silence of each host that was ever heard from. */
  readonly silences: () => Promise<ReadonlyMap<HostName, Silence>>
  /** Replaces the last reading of each host and driver. Readings of hosts that are not recorded are ignored. */
  readonly noteMeasured: (readings: readonly HostReading[]) => Promise<void>
  /** The last reading of each driver of the host. Rejects with `Unreadable` when the store cannot be read. */
  readonly measuredOn: (host: HostName) => Promise<readonly Measurements[]>
  /**
   * Deletes last-seen marks and measurements of names that were not heard from for `silentMs` and that are no host, or
   * a host that an operator removed. At most `FORGOTTEN_MAX` names. Resolves to their number.
   */
  readonly forgetSeen: (silentMs: number) => Promise<number>
}
