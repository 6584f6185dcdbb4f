/**
 * The relay: what the journal holds becomes messages, in commit order. Every process has one, and one of them is active.
 *
 * RELAY-1 the checkpoint moves past a row only after its messages are stored on the bus: a row may be told twice, never not at all;
 * RELAY-2 one round is under way at a time, and a failed one is done again from its first row, so the order per key holds;
 * RELAY-3 it starts at once when this process appended what is urgent, with the rest it waits `gatherMs` for more; for what others
 *    wrote it looks often while there is something to find, and seldom when there was nothing for a while;
 * RELAY-4 a row that cannot be told (a reaction throws, a message is too big) goes to the dead letters and stops nothing;
 * RELAY-5 only the holder of the lease publishes: it looks whether it may trust the lease right before each publish, and leaves the
 *    round when it may not (`lease.ts`);
 * RELAY-6 the checkpoint is saved under the epoch of the lease. Refused, the relay knows nothing any more, and waits for the lease;
 * RELAY-7 a new holder begins at the stored checkpoint. So whatever a former holder tells late was told before, or is told by both in
 *    the same order: for readers, first occurrences of a key are in commit order;
 * RELAY-8 a relay that stops gives the lease away;
 * RELAY-9 so does one whose rounds have failed for `asideAfterMs`: it may be the only one that is cut off. Is the bus away for all, the
 *    lease goes round.
 */
import { DEFAULTS, type RelayOptions, type RelayState } from './options.ts'
import { Rounds } from './rounds.ts'

export type Relay = {
  /** Resolves when the lease was asked for. Rejects when the store does not answer. */
  readonly start: () => Promise<void>
  /** Ends the round under way, saves the checkpoint and gives the lease away. */
  readonly stop: () => Promise<void>
  /** Resolves when all that was journaled at the call is on the bus, or the relay is stopped. States may follow. */
  readonly drained: () => Promise<void>
  readonly state: () => RelayState
}

export const relay = (options: RelayOptions): Relay => {
  const { start, stop, drained, state } = new Rounds({ ...DEFAULTS, ...options })
  return { start, stop, drained, state }
}
