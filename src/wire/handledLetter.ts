/** The mark on a dead letter: what an operator has done with it. It has the letter's id and key, and no value. */
import type { DeadLetter } from './catalogue.ts'
import type { BusRecord } from './envelope.ts'
import { letterRecord, type MessageMeta } from './message.ts'

/** `meta`: with the id of the letter. `handled` absent: its message was sent again, and nothing else is known. */
export const handledRecord = (
  { topic, key, reason }: Pick<DeadLetter, 'topic' | 'key' | 'reason'>,
  meta: MessageMeta,
  handled?: DeadLetter['handled'],
): BusRecord => {
  const retriedAt = new Date(meta.time).toISOString()
  const mark = { topic, key, reason, value: '', headers: {}, retriedAt }
  return letterRecord(handled === undefined ? mark : { ...mark, handled }, meta)
}
