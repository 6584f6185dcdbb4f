/** Every invariant, checked over one body of evidence. Pure: the simulation, the kill test and an audit call the same. */
import { arqInvariants } from './arqs.ts'
import { bindInvariants } from './binds.ts'
import { clientInvariants } from './clients.ts'
import type { Evidence, Violation } from './evidence.ts'
import { handleInvariants } from './handles.ts'
import { type Invariant, historyOf } from './history.ts'
import { hostInvariants } from './hosts.ts'
import { inventoryInvariants } from './inventory.ts'
import { journalInvariants } from './journal.ts'

/** S: safety, L: liveness, I: the data model. Parts of the evidence that are absent are not judged. */
export const INVARIANTS: readonly Invariant[] = [
  ...handleInvariants,
  ...arqInvariants,
  ...journalInvariants,
  ...bindInvariants,
  ...clientInvariants,
  ...hostInvariants,
  ...inventoryInvariants,
]
/** One broken rule is often broken many times; so many lines of each are kept. */
const LINES_MAX = 5

export const check = (evidence: Evidence): readonly Violation[] => {
  const history = historyOf(evidence.journal)
  return INVARIANTS.flatMap(({ name, meaning, check: find }) =>
    [...find(history, evidence)].slice(0, LINES_MAX).map((found) => ({ invariant: name, meaning, found })),
  )
}
