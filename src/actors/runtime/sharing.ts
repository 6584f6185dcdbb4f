/**
 * What processes over one store need to share the work. Each step is one statement, judged by the store's own clock.
 *
 * SHARING-1 a lease has one holder at a time; its epoch rises whenever it is taken anew, also by the same holder after it was over;
 * SHARING-2 who works under an older epoch can no longer move the checkpoint;
 * SHARING-3 what one process claimed, no other gets until the claim is over: work that a dead process began is found again.
 */
import type { Position } from './ports.ts'
import type { Row } from './views.ts'

export type Lease = { readonly epoch: number }
export type Sharing = {
  /** Taken when it is free or over, renewed when it is one's own; null: another has it. */
  readonly acquire: (name: string, holder: string, forMs: number) => Promise<Lease | null>
  readonly release: (name: string, holder: string) => Promise<void>
  /** False: the lease has a later epoch, and nothing was saved. */
  readonly saveUnder: (
    lease: { readonly name: string; readonly epoch: number },
    reader: string,
    position: Position,
  ) => Promise<boolean>
  /** Rows of `due` with `at <= now` that nobody has claimed, oldest first; claimed for `forMs`. */
  readonly claimDue: (now: number, limit: number, forMs: number) => Promise<readonly Row<'due'>[]>
  /** Ends a claim early: what is due again soon must not wait for the end of it. */
  readonly unclaim: (entities: readonly string[]) => Promise<void>
  /** Orders sent at or before `before`, oldest first and as they were; marked as sent `at` in the same step. */
  readonly takeOrders: (before: number, at: number, limit: number) => Promise<readonly Row<'pending_orders'>[]>
  /** These hosts were heard of now. */
  readonly noteSeen: (hosts: readonly string[]) => Promise<void>
  /** For how many ms each host was not heard of by any process. Never heard of: absent. */
  readonly silences: () => Promise<ReadonlyMap<string, number>>
}
