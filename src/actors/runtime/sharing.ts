/**
 * How several processes over one store divide the work. What another process holds is over when this one has seen it unchanged for its
 * duration, by its own monotonic clock: no other clock is trusted.
 *
 * SHARING-1 a lease has one holder at a time; its epoch rises whenever it is taken anew, also by the same holder after it had expired;
 * SHARING-2 a holder of an older epoch can no longer move the checkpoint;
 * SHARING-3 an item that one process has claimed is given to no other until the claim is over, so the work of a dead process is found again.
 */
import type { EntityKey, HostName, SlotUuid } from '../../identifiers.ts'
import type { Measurements } from '../../wire/measurements.ts'
import type { Position } from './ports.ts'
import type { Row } from './views.ts'

/** The most names that one call of `forgetSeen` deletes. */
export const FORGOTTEN_MAX = 1000

/** Up to and with a moment, ms since the epoch; or later than one, further away than anybody whose clock is right would have recorded. */
export type DueAt = number | { readonly after: number }

export type Lease = { readonly epoch: number }
export type Silence = {
  /** How long no process has heard from the host, by the clock of the store. Negative: that clock was set back since. */
  readonly ms: number
  /** Changes whenever a process hears from the host, whatever the clock of the store does. */
  readonly mark: string
}
/** What a driver of a host measured. */
export type HostReading = { readonly host: HostName; readonly reading: Measurements }
export type Sharing = {
  /** Takes the lease when it is free or over, renews it when the caller holds it; null: another process holds it. */
  readonly acquire: (name: string, holder: string, forMs: number) => Promise<Lease | null>
  readonly release: (name: string, holder: string) => Promise<void>
  /** False: the lease has a later epoch, and nothing was saved. */
  readonly saveUnder: (
    lease: { readonly name: string; readonly epoch: number },
    reader: string,
    position: Position,
  ) => Promise<boolean>
  /** Rows of `due` of these kinds and moments that nobody has claimed, oldest first; claimed for `forMs`. */
  readonly claimDue: (
    kinds: readonly string[],
    moments: DueAt,
    limit: number,
    forMs: number,
  ) => Promise<readonly Row<'due'>[]>
  /** Ends claims early, so that an entity that is due again soon need not wait for the claim to expire. */
  readonly unclaim: (entities: readonly EntityKey[]) => Promise<void>
  /**
   * Moves the moment of a row of `due` that nobody has changed since it was claimed. Nothing of it is recorded: whoever makes the views anew finds
   * the recorded moment again. False: the row has another moment by now, or is gone.
   */
  readonly postponeDue: (entity: EntityKey, at: number, to: number) => Promise<boolean>
  /** Orders that were sent at these moments, oldest first and as they were; marked as sent `at` in the same step. */
  readonly takeOrders: (moments: DueAt, at: number, limit: number) => Promise<readonly Row<'pending_orders'>[]>
  /** Marks these orders as sent at another time, unless the slot has a newer order or none. */
  readonly postponeOrders: (
    orders: readonly { readonly slot: SlotUuid; readonly number: number; readonly sentAt: number }[],
  ) => Promise<void>
  /** Records that these hosts were heard from now. */
  readonly noteSeen: (hosts: readonly HostName[]) => Promise<void>
  /** What is recorded of each host that was ever heard from. */
  readonly silences: () => Promise<ReadonlyMap<HostName, Silence>>
  /** Keeps the readings, each in the place of the one before of its host and driver. Those of hosts that are not recorded are left out. */
  readonly noteMeasured: (readings: readonly HostReading[]) => Promise<void>
  /** The last reading of each driver of the host. */
  readonly measuredOn: (host: HostName) => Promise<readonly Measurements[]>
  /**
   * Deletes what is recorded of names that were not heard from for `silentMs`, and that are no host, or one that an operator removed, and what they measured.
   * At most `FORGOTTEN_MAX` of them. Resolves to their number.
   */
  readonly forgetSeen: (silentMs: number) => Promise<number>
}
