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
    const own = [...(views?.deployables ?? [])].filter(({ hostname }) => hostname === name)
    // what an image divides a card into is there only while it is loaded
    const rows = own.filter(({ parent_uuid: parent }) => parent === null)
    // a part that is withheld, and that the card does not have any more, keeps its functions from being given by the
    // card
    const isWithheld = (root: string): boolean =>
      own.some((row) => row.root_uuid === root && row.presence === 'missing')
    const present = rows.filter(({ presence, uuid }) => presence === 'present' || isWithheld(uuid)).length
    if (liveness !== 'up' || retired || present === count) return []
    const found = `${name} is up and shows ${count} devices; ${present} of ${rows.length} deployables are present`
    return [{ invariant: 'INVENTORY-SNAPSHOT-1', meaning: 'what a host shows is recorded', found, proof: [] }]
  })
