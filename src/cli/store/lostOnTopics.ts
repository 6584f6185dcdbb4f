/**
 * Finds rows that are on the topics but not in the database: they were published before the database lost them. For the
 * case that the controls that knew these rows have ended. A row is published after it was committed, so the database is
 * read after the topics.
 */
import * as v from 'valibot'
import type { JournalRow } from '../../actors/runtime/ports.ts'
import type { KafkaOptions } from '../../bus/kafka/options.ts'
import type { Log } from '../../vocabulary/log.ts'
import { REASON } from '../../persistence/incarnation.ts'
import { recordsOn, goneFrom } from '../../persistence/incarnationSql.ts'
import { postgresDatabase } from '../../persistence/postgres/postgres.ts'
import type { LostRow } from '../../persistence/lostRow.ts'
import { gatherTopics, journalOf } from '../audit/topics.ts'

const Uuid = v.pipe(v.string(), v.uuid())
/** Facts of releases before 0.2.0 do not name the command of their row, so such rows cannot be found. */
const publishedRows = async (kafka: KafkaOptions, log: Log): Promise<readonly JournalRow[]> => {
  const { messages } = await gatherTopics(kafka, log)
  return journalOf(messages).filter(({ commandId }) => v.is(Uuid, commandId))
}

/** Returns the rows that are lost. With `keep` they are recorded as lost, and writing stops until they are adopted. */
export const lostOnTopics = async (
  url: string,
  kafka: KafkaOptions,
  { keep, log }: { readonly keep: boolean; readonly log: Log },
): Promise<readonly LostRow[]> => {
  const rows = await publishedRows(kafka, log)
  const database = await postgresDatabase({ url, readers: 1 })
  try {
    return await database.transaction(async (run) => {
      if (!(await recordsOn(run).isThere())) return []
      const gone = await goneFrom(run, rows)
      if (!keep || gone.length === 0) return gone
      const records = recordsOn(run)
      await records.keepLost(rows)
      await records.stop(REASON, false)
      return gone
    })
  } finally {
    await database.close()
  }
}
