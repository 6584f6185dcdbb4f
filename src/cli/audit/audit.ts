/** `accelerando audit`: checks every invariant against the recorded data. */
import { setFlagsFromString } from 'node:v8'
import { INVARIANTS, check } from '../../audit/check.ts'
import type { Log } from '../../log.ts'
import { figuresOf } from './figures.ts'
import { writeJournal } from './files.ts'
import { type AuditOptions, gatherEvidence } from './gather.ts'
import type { Verdict } from './text.ts'

/** How much garbage may come on top of what is held before it is collected. V8 by itself lets the heap double. */
const GARBAGE_PERCENT = 20

/** `write`: a file to which the journal is written as well. */
export const audit = async (options: AuditOptions, write: string | null, log: Log): Promise<Verdict> => {
  const began = performance.now()
  setFlagsFromString(`--heap-growing-percent=${GARBAGE_PERCENT}`)
  const { evidence, sources } = await gatherEvidence(options, log)
  if (write !== null) await writeJournal(write, evidence.journal)
  const figures = figuresOf(evidence)
  const violations = check(evidence)
  return {
    sources,
    figures,
    invariants: INVARIANTS.length,
    violations,
    seconds: (performance.now() - began) / 1000,
    memoryMb: process.resourceUsage().maxRSS / 1024,
  }
}
