/**
 * Publishes the journal as messages, in commit order. Every process has a relay, and one of them is active.
 *
 * RELAY-1 the checkpoint moves past a row only after the bus has stored its messages: a row may be published twice, but
 *    none is left out;
 * RELAY-2 only one round runs at a time, and a failed round is repeated from its first row, so the order of each key is
 *    kept;
 * RELAY-3 a round starts at once when this process appended an urgent row; with other rows it waits `gatherMs` for
 *    more. A process without the lease sends a hint about an urgent row. Rows of other processes are also found by
 *    polling, often while rows keep coming, and seldom after a while without any;
 * RELAY-4 a row that cannot be published (an exception, a message that is too big or that the bus never takes) goes to
 *    the dead letters, and the relay goes on (`setAside.ts`);
 * RELAY-5 only the holder of the lease publishes: right before each publish it checks that the lease may be trusted,
 *    and ends the round when it may not (`lease.ts`);
 * RELAY-6 the checkpoint is saved under the epoch of the lease. When that is refused, the relay forgets its position
 *    and waits for the lease;
 * RELAY-7 a new holder begins at the stored checkpoint. So whatever a former holder publishes late was published
 *    before, or by both in the same order: for readers, first occurrences of a key are in commit order;
 * RELAY-8 a relay that stops releases the lease;
 * RELAY-9 a relay whose rounds have failed for `asideAfterMs` releases the lease too, because it may be the only one
 *    without the bus. If no relay reaches the bus, the lease passes from one to the next;
 * RELAY-10 after the database server was replaced, a relay begins at the checkpoint that is stored there. A save that
 *    was begun before is dropped, or waited for when the store has it already: positions of the former server are not
 *    stored on the new one.
 */
import { DEFAULTS, type RelayOptions, type RelayState } from './options.ts'
import { Rounds } from './rounds.ts'

export type Relay = {
  /** Resolves when the lease was asked for. Rejects when the store does not answer. */
  readonly start: () => Promise<void>
  /** Ends the round under way, saves the checkpoint and gives the lease away. */
  readonly stop: () => Promise<void>
  /**
   * Resolves when all rows appended before the call are on the bus, or the relay is stopped. Their states may follow
   * later.
   */
  readonly drained: () => Promise<void>
  readonly state: () => RelayState
}

export const relay = (options: RelayOptions): Relay => {
  const { start, stop, drained, state } = new Rounds({ ...DEFAULTS, ...options })
  return { start, stop, drained, state }
}
