/** Handles that a control took for different from what their host has prepared, though nobody had changed the ledger of that host. */
import { COMPARISON } from '../../src/actors/deployable/slots.ts'
import type { DeployableEvent } from '../../src/actors/deployable/messages.ts'
import type { Evidence, Violation } from '../../src/audit/evidence.ts'

/** The handle about which the event was decided by comparison; null: it was decided otherwise. */
const comparedIn = (event: DeployableEvent): string | null => {
  if (event.type === 'Granted' && event.repeated !== undefined) return event.handle
  return event.type === 'HandleQuarantined' && event.by === COMPARISON ? event.handle : null
}

const namesIn = (journal: Evidence['journal']): ReadonlyMap<string, string> =>
  new Map(
    journal.flatMap(({ key, events }) =>
      (events as readonly DeployableEvent[]).flatMap((event) =>
        event.type === 'DeployableRecorded' ? [[key, event.identity.name] as const] : [],
      ),
    ),
  )

/** `changed`: the handles whose hardware the ledger of a host was changed about, and the names of deployables that something else used. */
export const falseDifferences = (
  { journal }: Pick<Evidence, 'journal'>,
  changed: ReadonlySet<string>,
): readonly Violation[] => {
  const names = namesIn(journal)
  return journal.flatMap(({ key, events }) =>
    (key.startsWith('deployable/') ? (events as readonly DeployableEvent[]) : []).flatMap((event) => {
      const handle = comparedIn(event)
      if (handle === null || changed.has(handle) || changed.has(names.get(key) ?? '')) return []
      const found = `${key}: ${event.type} of handle ${handle} by comparison, and its host has what the journal holds`
      return [{ invariant: 'COMPARE-1', meaning: 'what only looks different is left alone', found, proof: [] }]
    }),
  )
}
