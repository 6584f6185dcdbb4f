/** Faults for tests of the tests: ports that lie to the processes that use them. The invariants must find each. */
import type { Append, Journal, Reads } from '../../src/actors/runtime/ports.ts'
import type { Sharing } from '../../src/actors/runtime/sharing.ts'
import type { Store } from '../../src/persistence/store.ts'

export const BITES = [
  'fence off',
  'numbers forgotten',
  'append torn',
  'relay without checkpoint',
  'relay without epoch',
  'refusal without reading the tail',
  'claims ignored',
] as const
export type Bite = (typeof BITES)[number]
/** What only several processes can do wrong. */
export const needsSeveral = (bite: Bite | null): boolean => bite !== null && BITES.indexOf(bite) >= 3

/** Versions as they would have been, had the writer known: nothing is stale any more. */
export const unfenced = async (journal: Pick<Journal, 'recall'>, { rows, changes }: Append): Promise<Append> => {
  const tails = await journal.recall(rows.map(({ key }) => ({ key, after: 0 })))
  return {
    rows: rows.map((row) => ({ ...row, version: (tails.get(row.key)?.rows.at(-1)?.version ?? 0) + 1 })),
    changes,
  }
}

export const lyingJournal = (bite: Bite | null, journal: Journal, store: Pick<Store, 'journalEnd'>): Journal => ({
  ...journal,
  // who begins without a checkpoint begins with what comes next
  ...(bite === 'relay without checkpoint'
    ? { checkpoint: (reader) => (reader === 'relay' ? store.journalEnd() : journal.checkpoint(reader)) }
    : {}),
  // who takes himself for the only writer decides on what he remembers
  ...(bite === 'refusal without reading the tail' ? { exclusive: true } : {}),
})

/** Saved under the newest epoch, whichever the saver's is. */
const withoutEpochs = (sharing: Sharing): Sharing => {
  const save = async (name: string, epoch: number, reader: string, position: string): Promise<boolean> =>
    epoch < EPOCHS_MAX &&
    ((await sharing.saveUnder({ name, epoch }, reader, position)) || save(name, epoch + 1, reader, position))
  return { ...sharing, saveUnder: ({ name, epoch }, reader, position) => save(name, epoch, reader, position) }
}
const EPOCHS_MAX = 200

export const lyingSharing = (bite: Bite | null, sharing: Sharing, reads: Pick<Reads, 'dueBefore'>): Sharing => {
  if (bite === 'relay without epoch') return withoutEpochs(sharing)
  if (bite === 'claims ignored') return { ...sharing, claimDue: (now, limit) => reads.dueBefore(now, limit) }
  return sharing
}
