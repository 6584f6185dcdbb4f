/**
 * Handles that a control took for different from what their host has prepared, though nobody had changed the ledger of
 * that host.
 */
import { COMPARISON } from '../../src/actors/deployable/slots.ts'
import { functionOf } from '../../src/vocabulary/attachedFunctions.ts'
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

type Row = Evidence['journal'][number]
/** The hardware of each handle that was ever described, by its UUID: its host and its function. */
const hardwareIn = (rows: readonly Pick<Row, 'key' | 'events'>[]): ReadonlyMap<string, string> => {
  const hosts = new Map<string, string>()
  const hardware = new Map<string, string>()
  for (const { key, events } of rows.filter((row) => row.key.startsWith('deployable/')))
    for (const event of events as readonly DeployableEvent[]) {
      if (event.type === 'DeployableRecorded') hosts.set(key, event.identity.host)
      const described = event.type === 'DeployableRecorded' || event.type === 'DeployableDescribed'
      const handles = described ? event.description.handles : event.type === 'Relocated' ? event.handles : []
      for (const handle of handles)
        hardware.set(handle.uuid, `${hosts.get(key) ?? key} ${functionOf({ type: 'PCI', ...handle })}`)
    }
  return hardware
}

type Unreleased = ReadonlyMap<string, 'known' | 'overruled'>
/**
 * The handles whose last release has failed, by row of the journal: their host still has them prepared. `known`: the
 * journal knows. Once an image has divided a card, or another image has made it whole again, the same function is a
 * handle of another deployable, and is withheld there. `overruled`: an operator has released the handle all the same,
 * so the journal holds it free.
 */
const unreleasedAt = (journal: Evidence['journal']): ((row: Row) => Unreleased) => {
  const unreleased = new Map<string, 'known' | 'overruled'>()
  const before = new Map<Row, Unreleased>()
  for (const row of journal) {
    before.set(row, new Map(unreleased))
    for (const event of row.key.startsWith('deployable/') ? (row.events as readonly DeployableEvent[]) : []) {
      if (event.type === 'OrderFailed') unreleased.set(event.slot, 'known')
      if (event.type === 'OrderDone') unreleased.delete(event.slot)
      if (event.type === 'HandleCleared' && unreleased.has(event.handle)) unreleased.set(event.handle, 'overruled')
    }
  }
  return (row) => before.get(row) ?? new Map()
}

/** What an image divides a card into has the name of the card before its own. */
const isPartOf = (name: string, changed: ReadonlySet<string>): boolean =>
  [...changed].some((card) => name === card || name.startsWith(`${card}_`))

/**
 * `changed`: the handles whose hardware the ledger of a host was changed about, and the names of deployables that
 * something else used. The same function may be a handle of a root and, once an image has divided the card, one of a
 * part of it.
 */
export const falseDifferences = (
  { journal, lost = [] }: Pick<Evidence, 'journal' | 'lost'>,
  changed: ReadonlySet<string>,
): readonly Violation[] => {
  const names = namesIn(journal)
  // of a handle that the database has lost, only the lost rows tell what it was
  const hardware = hardwareIn([...lost.flatMap(({ rows }) => rows), ...journal])
  const changedHardware = new Set([...changed].flatMap((handle) => hardware.get(handle) ?? []))
  const unreleased = unreleasedAt(journal)
  return journal.flatMap((row) => {
    const { key, events } = row
    return (key.startsWith('deployable/') ? (events as readonly DeployableEvent[]) : []).flatMap((event) => {
      const handle = comparedIn(event)
      if (handle === null || changed.has(handle) || isPartOf(names.get(key) ?? '', changed)) return []
      if (changedHardware.has(hardware.get(handle) ?? '')) return []
      const stillPrepared = unreleased(row)
      const isOfAnother = [...stillPrepared.keys()].some(
        (other) => other !== handle && hardware.get(other) === hardware.get(handle),
      )
      if (isOfAnother || stillPrepared.get(handle) === 'overruled') return []
      const found = `${key}: ${event.type} of handle ${handle} by comparison, and its host has what the journal holds`
      return [{ invariant: 'COMPARE-1', meaning: 'what only looks different is left alone', found, proof: [] }]
    })
  })
}
