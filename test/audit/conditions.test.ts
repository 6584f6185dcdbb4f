/** Each condition of each invariant, with the exact text and keys of what it finds; and what must not be found. */
import { describe, expect, it } from 'vitest'
import { INVARIANTS, findingsOf } from '../../src/audit/check.ts'
import { arqCases } from './cases/arqs.ts'
import { bindCases } from './cases/binds.ts'
import { cleaningCases } from './cases/cleaning.ts'
import { clientCases } from './cases/clients.ts'
import { handleCases } from './cases/handles.ts'
import { hardwareCases } from './cases/hardware.ts'
import { hostCases } from './cases/hosts.ts'
import { journalCases } from './cases/journal.ts'
import { moveCases } from './cases/moves.ts'
import { placementCases } from './cases/placement.ts'
import { boundCases, jobCases } from './cases/programJobs.ts'
import { programCases } from './cases/programs.ts'
import { reuseCases } from './cases/reuse.ts'
import { rightCases } from './cases/rights.ts'
import { topicStateCases } from './cases/topicStates.ts'
import { topicCases } from './cases/topics.ts'
import { unboundCases } from './cases/unbound.ts'

const CASES = [
  ...unboundCases,
  ...arqCases,
  ...bindCases,
  ...handleCases,
  ...moveCases,
  ...hardwareCases,
  ...clientCases,
  ...rightCases,
  ...hostCases,
  ...cleaningCases,
  ...programCases,
  ...jobCases,
  ...boundCases,
  ...reuseCases,
  ...journalCases,
  ...topicCases,
  ...topicStateCases,
  ...placementCases,
]

describe('an invariant', () => {
  it.each(CASES)('%s: %s', (name, _, { journal = [], now = 100_000, ...rest }, findings) => {
    const evidence = { journal, now, ...rest }
    const named = INVARIANTS.filter((one) => one.name === name)
    const found = findingsOf(named, evidence).flatMap((one) => one.findings)
    expect(found).toEqual(findings)
  })
  it('is shown to find something, and to find nothing where nothing is wrong', () => {
    const [bad, good] = [true, false].map(
      (found) => new Set(CASES.flatMap(([name, , , findings]) => (findings.length > 0 === found ? [name] : []))),
    )
    // S1 of what clients saw has a test of its own
    const names = INVARIANTS.map(({ name }) => name).filter((name) => name !== 'S1 clients')
    expect(names.filter((name) => !bad!.has(name) || !good!.has(name))).toEqual([])
  })
})
