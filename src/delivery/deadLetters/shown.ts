/** A dead letter as the API shows it. Pure. */
import type { DeadLetter, DeadLetterDetail } from '../../actors/answers/deadLetters.ts'
import { type Letter, uuidOf } from './box.ts'
import { refusalOf } from './handle.ts'

/** The place in the id that inbox and host give a letter; null: the relay has made it of a row of the journal. */
const placeOf = ({ id, topic }: Letter): DeadLetter['place'] => {
  const [, partition, offset] =
    /^(\d+)\/(\d+)(?:\/[0-9a-f]{16})?$/.exec(id.startsWith(`${topic}/`) ? id.slice(topic.length + 1) : '') ?? []
  return partition === undefined ? null : { partition: Number(partition), offset: Number(offset) }
}
export const stateOf = ({ retriedAt, handled }: Letter): DeadLetter['state'] =>
  retriedAt === null ? 'open' : (handled?.how ?? 'replayed')

export const detailOf = (letter: Letter): DeadLetterDetail => {
  const { id, time, topic, key, reason, cut, value, headers, retriedAt, handled } = letter
  return {
    uuid: uuidOf(letter),
    id,
    state: stateOf(letter),
    at: time,
    topic,
    key,
    place: placeOf(letter),
    reason,
    bytes: Buffer.byteLength(value),
    cut,
    refusal: refusalOf(letter),
    handled:
      retriedAt === null
        ? null
        : {
            at: Date.parse(retriedAt),
            by: handled?.by ?? null,
            reason: handled?.reason ?? null,
            request: handled?.request ?? null,
          },
    value,
    headers,
  }
}
