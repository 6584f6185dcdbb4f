/** The schemas of dead letters, as the API shows them. */
import * as v from 'valibot'
import { LETTER_STATES } from '../actors/answers/deadLetters.ts'
import * as schemas from './schemas.ts'

const letter = {
  uuid: schemas.Uuid,
  id: v.pipe(v.string(), v.description('The id of the message on the topic, as the commands show it.')),
  state: v.pipe(
    v.picklist(LETTER_STATES),
    v.description('`replayed`: its message was sent again; `dropped`: an operator has set it aside.'),
  ),
  stored_at: schemas.Time,
  topic: v.pipe(v.string(), v.description('Where its message came from, or was to go.')),
  partition: v.nullable(v.number()),
  offset: v.pipe(v.nullable(v.number()), v.description('Null, with `partition`: its message was never on the topic.')),
  key: v.string(),
  reason: v.pipe(v.string(), v.description('Why it could not be read or handled.')),
  size_bytes: v.pipe(v.number(), v.description('Of what is kept of its message: 64 KiB at most.')),
  cut: v.pipe(v.boolean(), v.description('A part of its message was not kept.')),
  replay_refusal: v.pipe(v.nullable(v.string()), v.description('Why its message cannot be sent again; null: it can.')),
  handled: v.pipe(
    v.nullable(
      v.object({
        at: schemas.Time,
        by: v.nullable(v.string()),
        reason: v.nullable(v.string()),
        request_id: v.nullable(v.string()),
      }),
    ),
    v.description('Who has sent it again or dropped it last, and under which request; what is null was not recorded.'),
  ),
}
export const DeadLetter = v.object(letter)
export const DeadLetterDetail = v.object({
  ...letter,
  headers: schemas.StringMap,
  value: v.pipe(
    v.string(),
    v.description('Its message, cut at 64 KiB. Bytes that are no UTF-8 were replaced by U+FFFD when it was received.'),
  ),
})
