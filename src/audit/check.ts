/** Checks all invariants over the given evidence. Pure; used by the simulation, the kill test and audits. */
import { arqInvariants } from './arqs.ts'
import { bindInvariants } from './binds.ts'
import { cleaningInvariants } from './cleaning.ts'
import { clientInvariants } from './clients.ts'
import type { Records, Violation } from './evidence.ts'
import { handleInvariants } from './handles.ts'
import { type Finding, type Invariant, walk } from './history.ts'
import { hostInvariants } from './hosts.ts'
import { inventoryInvariants } from './inventory.ts'
import { journalInvariants } from './journal.ts'
import { linearInvariants } from './linear.ts'
import { moveInvariants } from './moves.ts'
import { placementInvariants } from './placement.ts'
import { programInvariants } from './programs.ts'
import { prove } from './prove.ts'
import { topicInvariants } from './topics.ts'

/**
 * S: safety, L: liveness, I: the data model. An invariant is skipped when the part of the evidence it needs is absent,
 * which `unjudged` tells.
 */
export const INVARIANTS: readonly Invariant[] = [
  ...handleInvariants,
  ...moveInvariants,
  ...arqInvariants,
  ...journalInvariants,
  ...bindInvariants,
  ...clientInvariants,
  ...hostInvariants,
  ...cleaningInvariants,
  ...programInvariants,
  ...inventoryInvariants,
  ...linearInvariants,
  ...topicInvariants,
  ...placementInvariants,
]
/** The most findings reported per invariant, since a broken invariant is often violated many times. */
const LINES_MAX = 5

/** Adds findings, up to `LINES_MAX`. */
const collect = (kept: Finding[], items: Iterable<Finding>): void => {
  for (const item of items) if (kept.push(item) >= LINES_MAX) return
}

type Found = { readonly invariant: Invariant; readonly findings: readonly Finding[] }
/**
 * Returns the findings of the invariants after one pass over the journal. An invariant with `LINES_MAX` findings is not
 * asked again.
 */
export const findingsOf = (invariants: readonly Invariant[], evidence: Records): readonly Found[] => {
  const judges = invariants.map((invariant) => {
    const findings: Finding[] = []
    return { invariant, judge: invariant.judge(evidence), findings, isFull: () => findings.length >= LINES_MAX }
  })
  const stepping = judges.filter(({ judge }) => judge.step !== undefined)
  const history = walk(evidence, (...now) => {
    for (const { judge, findings, isFull } of stepping) if (!isFull()) collect(findings, judge.step!(...now))
  })
  for (const { judge, findings, isFull } of judges) if (judge.end && !isFull()) collect(findings, judge.end(history))
  return judges
}

export const check = (evidence: Records): readonly Violation[] =>
  findingsOf(INVARIANTS, evidence).flatMap(({ invariant: { name, meaning }, findings }) =>
    findings.map((finding) => ({
      invariant: name,
      meaning,
      found: finding.found,
      proof: prove(evidence.journal, finding),
    })),
  )
