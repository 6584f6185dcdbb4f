/** What hosts show, and is not recorded although they are up and have shown it for minutes. */
import { hostKey, type Host } from '../../src/actors/host/decider.ts'
import { remember } from '../../src/actors/entities.ts'
import type { Evidence, Violation } from '../../src/audit/evidence.ts'

/** `devices`: how many each host shows, by its name. A host that is out of service keeps nothing. */
export const unrecorded = (
  { journal, views }: Pick<Evidence, 'journal' | 'views'>,
  devices: ReadonlyMap<string, number>,
): readonly Violation[] =>
  [...devices].flatMap(([name, count]) => {
    const key = hostKey(name)
    const { liveness, retired } = remember(
      key,
      journal.filter((row) => row.key === key),
    ).state as Host
    const rows = [...(views?.deployables ?? [])].filter(({ hostname }) => hostname === name)
    const present = rows.filter(({ presence }) => presence === 'present').length
    if (liveness !== 'up' || retired || present === count) return []
    const found = `${name} is up and shows ${count} devices; ${present} of ${rows.length} deployables are present`
    return [{ invariant: 'INVENTORY-SNAPSHOT-1', meaning: 'what a host shows is recorded', found, proof: [] }]
  })
