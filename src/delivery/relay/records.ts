/**
 * The messages of a journal row. A message that cannot be published becomes a dead letter (RELAY-4), so that the relay
 * goes on.
 */
import type { FeedRow } from '../../actors/runtime/ports.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { BusRecord } from '../../wire/envelope.ts'
import { deadLetterRecord, MESSAGE_MAX_BYTES } from '../../wire/message.ts'
import { textOf } from '../../vocabulary/errorText.ts'

/** The row from which a message follows. */
export type Mark = Pick<FeedRow, 'key' | 'version' | 'at' | 'position'>

const dead = (record: BusRecord, { key, version, at, position }: Mark, reason: string, log: Log): BusRecord => {
  log.error({ key, version, position, reason }, 'relay.untold')
  return deadLetterRecord(record, reason, { id: `${key}/${version}/dead`, time: at, position })
}
/** The record, or a dead letter when no bus accepts it. */
export const fitting = (record: BusRecord, mark: Mark, log: Log): BusRecord => {
  const bytes = Buffer.byteLength(record.value)
  if (bytes <= MESSAGE_MAX_BYTES) return record
  return dead(record, mark, `a message of ${bytes} bytes, more than ${MESSAGE_MAX_BYTES}`, log)
}
export const recordsOf = (
  row: FeedRow,
  reactions: (row: FeedRow) => readonly BusRecord[],
  log: Log,
): readonly BusRecord[] => {
  try {
    return reactions(row).map((record) => fitting(record, row, log))
  } catch (error) {
    const failed: BusRecord = { topic: 'journal', key: row.key, value: JSON.stringify(row), headers: {} }
    return [dead(failed, row, `reaction: ${textOf(error)}`, log)]
  }
}
