/** `accelerando audit`: checks every invariant against the recorded data. */
import { INVARIANTS, check } from '../../audit/check.ts'
import { isJudged, unjudged } from '../../audit/needs.ts'
import { messageOf } from '../../vocabulary/errorText.ts'
import type { Log } from '../../vocabulary/log.ts'
import { figuresOf } from './figures.ts'
import { keepGarbageSmall } from '../garbage.ts'
import { writeJournal } from './files.ts'
import { type AuditOptions, gatherEvidence, sourceOf } from './gather.ts'
import type { Verdict } from './text.ts'

/**
 * Keeps the result in the store that was audited, for the System page of the console. Where the store cannot be
 * written, as a copy, the failure is logged and the verdict stays.
 */
export const keepVerdict = async (options: AuditOptions, verdict: Verdict, log: Log): Promise<void> => {
  const source = options.file === null ? sourceOf(options) : null
  if (source === null) return
  try {
    const { recordAudit } = await import('./recordAudit.ts')
    await recordAudit(source, verdict)
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'audit.notRecorded')
  }
}

/** `write`: a file into which the journal is copied; null: none. */
export const audit = async (options: AuditOptions, write: string | null, log: Log): Promise<Verdict> => {
  const began = performance.now()
  keepGarbageSmall()
  const { evidence, sources } = await gatherEvidence(options, log)
  if (write !== null) await writeJournal(write, evidence.journal)
  const figures = figuresOf(evidence)
  const violations = check(evidence)
  return {
    sources,
    figures,
    invariants: INVARIANTS.filter((one) => isJudged(evidence, one)).length,
    unjudged: unjudged(INVARIANTS, evidence),
    violations,
    seconds: (performance.now() - began) / 1000,
    memoryMb: process.resourceUsage().maxRSS / 1024,
  }
}
