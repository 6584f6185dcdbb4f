/** Checks all invariants over the given evidence. Pure; used by the simulation, the kill test and audits. */
import { arqInvariants } from './arqs.ts'
import { bindInvariants } from './binds.ts'
import { clientInvariants } from './clients.ts'
import type { Evidence, Violation } from './evidence.ts'
import { handleInvariants } from './handles.ts'
import { type Invariant, historyOf } from './history.ts'
import { hostInvariants } from './hosts.ts'
import { inventoryInvariants } from './inventory.ts'
import { journalInvariants } from './journal.ts'
import { linearInvariants } from './linear.ts'
import { prove } from './prove.ts'
import { topicInvariants } from './topics.ts'

/** S: safety, L: liveness, I: the data model. An invariant is skipped when the part of the evidence it needs is absent. */
export const INVARIANTS: readonly Invariant[] = [
  ...handleInvariants,
  ...arqInvariants,
  ...journalInvariants,
  ...bindInvariants,
  ...clientInvariants,
  ...hostInvariants,
  ...inventoryInvariants,
  ...linearInvariants,
  ...topicInvariants,
]
/** The most findings reported per invariant, since a broken invariant is often violated many times. */
const LINES_MAX = 5

const firstOf = <Item>(items: Iterable<Item>): readonly Item[] => {
  const kept: Item[] = []
  for (const item of items) if (kept.push(item) >= LINES_MAX) break
  return kept
}

export const check = (evidence: Evidence): readonly Violation[] => {
  const history = historyOf(evidence.journal)
  return INVARIANTS.flatMap(({ name, meaning, check: find }) =>
    firstOf(find(history, evidence)).map((finding) => ({
      invariant: name,
      meaning,
      found: finding.found,
      proof: prove(evidence.journal, finding),
    })),
  )
}
