/** Planted bugs that test the tests: ports that break their contract. The invariants must find each of them. */
import type { Append, Journal, JournalRow, Reads } from '../../src/actors/runtime/ports.ts'
import type { Sharing } from '../../src/actors/runtime/sharing.ts'
import type { Store } from '../../src/persistence/store.ts'

export const BITES = [
  'signatures unchecked',
  'fence off',
  'numbers forgotten',
  'append torn',
  'programming unverified',
  'card not read',
  'cards by address',
  'vGPUs not made again',
  'health forgotten',
  'relay without checkpoint',
  'relay without epoch',
  'refusal without reading the tail',
  'claims ignored',
  'chain off',
  'incarnation off',
  'ownership off',
  'generation ignored',
  'revocation ignored',
  'cleaning skipped',
  'far moments waited for',
  'any host believed',
  'projects not told apart',
] as const
export type Bite = (typeof BITES)[number]
/** Bugs that have an effect only after a machine has restarted. */
export const needsRestarts = (bite: Bite | null): boolean =>
  bite === 'card not read' || bite === 'cards by address' || bite === 'vGPUs not made again'
/** Bugs that have an effect only in a cloud with Placement. */
export const needsPlacement = (bite: Bite | null): boolean => bite === 'ownership off' || bite === 'generation ignored'
/** Bugs that have an effect only where callers need tokens. */
export const needsKeystone = (bite: Bite | null): boolean => bite === 'revocation ignored'
/** Bugs that have an effect only with several processes. */
export const needsSeveral = (bite: Bite | null): boolean =>
  bite !== null &&
  BITES.indexOf(bite) >= BITES.indexOf('relay without checkpoint') &&
  !needsPlacement(bite) &&
  !needsKeystone(bite) &&
  bite !== 'cleaning skipped' &&
  !needsClocks(bite) &&
  !needsLiar(bite) &&
  !needsHammer(bite)

/** Bugs that have an effect only after a control had a wrong clock. */
export const needsClocks = (bite: Bite | null): boolean => bite === 'far moments waited for'
/** Bugs that have an effect only when a host lies. */
export const needsLiar = (bite: Bite | null): boolean => bite === 'any host believed'
/** Bugs that have an effect only when a project asks for more than its share. */
export const needsHammer = (bite: Bite | null): boolean => bite === 'projects not told apart'
/** Bugs that have an effect only when the database comes back without its last rows. */
export const needsLoss = (bite: Bite | null): boolean => bite === 'chain off' || bite === 'incarnation off'

const loose = (row: JournalRow): JournalRow => {
  const { follows: _, ...rest } = row
  return rest
}

/** Renumbers an append to follow the newest rows, so that no append is refused as stale. */
export const unfenced = async (journal: Pick<Journal, 'recall'>, { rows, changes }: Append): Promise<Append> => {
  const tails = await journal.recall(rows.map(({ key }) => ({ key, after: 0 })))
  return {
    rows: rows.map((row) => ({ ...loose(row), version: (tails.get(row.key)?.rows.at(-1)?.version ?? 0) + 1 })),
    changes,
  }
}

const unchained = ({ append, recall }: Journal): Pick<Journal, 'append' | 'recall'> => ({
  append: ({ rows, ...rest }) => append({ ...rest, rows: rows.map(loose) }),
  recall: (keys) => recall(keys.map(({ key, after }) => ({ key, after }))),
})

/** Who reads what others have decided does not learn which devices fail. */
const withoutHealth = ({ recall }: Journal): Pick<Journal, 'recall'> => ({
  recall: async (keys) => {
    const found = await recall(keys)
    const told = (row: JournalRow): JournalRow => ({
      ...row,
      events: row.events.filter(({ type }) => type !== 'HealthSet'),
    })
    return new Map([...found].map(([key, one]) => [key, { ...one, rows: one.rows.map(told) }]))
  },
})

export const lyingJournal = (bite: Bite | null, journal: Journal, store: Pick<Store, 'journalEnd'>): Journal => ({
  ...journal,
  // the relay ignores its checkpoint and starts after the last row
  ...(bite === 'relay without checkpoint'
    ? { checkpoint: (reader) => (reader === 'relay' ? store.journalEnd() : journal.checkpoint(reader)) }
    : {}),
  // neither an append nor a read says which row it follows
  ...(bite === 'chain off' ? unchained(journal) : {}),
  ...(bite === 'health forgotten' ? withoutHealth(journal) : {}),
  // a process that believes to be the only writer decides on its cached state
  ...(bite === 'refusal without reading the tail' ? { exclusive: true } : {}),
})

/** Saves a checkpoint under the newest epoch instead of the epoch of the caller. */
const withoutEpochs = (sharing: Sharing): Sharing => {
  const save = async (name: string, epoch: number, reader: string, position: string): Promise<boolean> =>
    epoch < EPOCHS_MAX &&
    ((await sharing.saveUnder({ name, epoch }, reader, position)) || save(name, epoch + 1, reader, position))
  return { ...sharing, saveUnder: ({ name, epoch }, reader, position) => save(name, epoch, reader, position) }
}
const EPOCHS_MAX = 200

export const lyingSharing = (bite: Bite | null, sharing: Sharing, reads: Pick<Reads, 'dueBefore'>): Sharing => {
  if (bite === 'relay without epoch') return withoutEpochs(sharing)
  if (bite === 'claims ignored') {
    const claimDue: Sharing['claimDue'] = async (kinds, now, limit) => {
      if (typeof now !== 'number') return []
      return (await reads.dueBefore(now, limit)).filter(({ kind }) => kinds.includes(kind))
    }
    return { ...sharing, claimDue }
  }
  // what a clock that was ahead has recorded is due when right clocks have come there
  if (bite === 'far moments waited for')
    return {
      ...sharing,
      claimDue: async (kinds, now, ...rest) => (typeof now === 'number' ? sharing.claimDue(kinds, now, ...rest) : []),
    }
  return sharing
}
