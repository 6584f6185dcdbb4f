/** Records the result of an audit in the store that was audited. */
import { systemClock } from '../../vocabulary/clock.ts'
import { type SnapshotSource, openSource } from '../../persistence/follow.ts'
import { sqlJournal } from '../../persistence/journal.ts'
import { orLate } from '../../vocabulary/waiting.ts'
import { auditFacts, saveAudit } from './lastAudit.ts'
import type { Verdict } from './text.ts'

const WRITE_MS = 10_000

/** Rejects when the store cannot be written, as a standby, or with a role that may only read. */
export const recordAudit = async (source: SnapshotSource, verdict: Verdict): Promise<void> => {
  const database = await openSource(source)
  try {
    const saved = saveAudit(sqlJournal(database), auditFacts(verdict, systemClock.now()))
    await orLate(systemClock, saved, WRITE_MS, () => {
      throw new Error(`the store did not take it within ${WRITE_MS} ms`)
    })
  } finally {
    await database.close()
  }
}
