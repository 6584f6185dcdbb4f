/**
 * The dead letters: messages that could not be read or handled, or that the bus never takes. These paths are an
 * extension that clients of the original API do not use.
 */
import { type DeadLetter, type DeadLetterDetail, LETTER_STATES } from '../../actors/answers/deadLetters.ts'
import { DeadLetterDetail as DeadLetterDetailSchema, DeadLetter as DeadLetterSchema } from '../deadLetterSchema.ts'
import { listBody } from '../listing.ts'
import { integer, oneOf, text, uuid } from '../query.ts'
import { time } from '../render.ts'
import { answer, route } from '../route.ts'
import type { Route } from '../route.ts'
import * as schemas from '../schemas.ts'
import { noteOf, reasonIn } from './operatorNote.ts'

const LIMIT = { usual: 50, most: 500 }

const letterBody = ({ uuid, id, state, at, topic, key, place, reason, bytes, cut, refusal, handled }: DeadLetter) => ({
  uuid,
  id,
  state,
  stored_at: time(at),
  topic,
  partition: place?.partition ?? null,
  offset: place?.offset ?? null,
  key,
  reason,
  size_bytes: bytes,
  cut,
  replay_refusal: refusal,
  handled:
    handled === null
      ? null
      : { at: time(handled.at), by: handled.by, reason: handled.reason, request_id: handled.request },
})
const detailBody = (letter: DeadLetterDetail) => ({
  ...letterBody(letter),
  headers: letter.headers,
  value: letter.value,
})

const list = route({
  method: 'GET',
  path: '/v2/dead_letters',
  rule: 'cyborg:dead_letter:get_all',
  query: {
    state: oneOf(LETTER_STATES, 'Those that nobody has handled (unless said otherwise), or those of another state.'),
    topic: text('Only those whose message came from this topic, named without a prefix.'),
    limit: integer(
      1,
      `Maximum number of entries in the answer; more than ${LIMIT.most} counts as ${LIMIT.most}, ${LIMIT.usual} unless said otherwise.`,
    ),
    marker: uuid('The last dead letter of the previous page: the page begins after it.'),
  },
  docs: {
    summary: 'Dead letters: messages that could not be read or handled, the newest first, without their content.',
    answers: { 200: schemas.listOf('dead_letters', DeadLetterSchema) },
    refusals: [409],
  },
  handle: ({ control, query: { state = 'open', topic, limit = LIMIT.usual, marker }, base, pairs }) => {
    const asked = {
      state,
      limit: Math.min(limit, LIMIT.most),
      ...(topic !== undefined && { topic }),
      ...(marker !== undefined && { marker }),
    }
    return answer(control.deadLetters.list(asked), 200, (listed) =>
      listBody(listed, {
        key: 'dead_letters',
        collection: 'dead_letters',
        base,
        pairs,
        item: letterBody,
        markerOf: (letter) => letter.uuid,
      }),
    )
  },
})

const UUIDS = { uuid: { resource: 'dead_letter', otherwise: 'not_found' } } as const

const one = route({
  method: 'GET',
  path: '/v2/dead_letters/:uuid',
  rule: 'cyborg:dead_letter:get_one',
  uuids: UUIDS,
  docs: {
    summary: 'One dead letter, with its message.',
    answers: { 200: DeadLetterDetailSchema },
    refusals: [404, 409],
  },
  handle: ({ control, params }) => answer(control.deadLetters.get(params.uuid), 200, detailBody),
})

const handled = (verb: 'replay' | 'drop', summary: string): Route =>
  route({
    method: 'POST',
    path: `/v2/dead_letters/:uuid/${verb}`,
    rule: `cyborg:dead_letter:${verb}`,
    uuids: UUIDS,
    body: reasonIn,
    docs: { summary, answers: { 200: DeadLetterDetailSchema }, refusals: [404, 409] },
    handle: ({ control, caller, params, body }) =>
      answer(control.deadLetters[verb](caller, params.uuid, noteOf(caller, body)), 200, detailBody),
  })

export const deadLetterRoutes: readonly Route[] = [
  list,
  one,
  handled('replay', 'Sends its message again, as it was. Who receives it handles it as it handles every message.'),
  handled('drop', 'Sets it aside: it is no longer listed as open and not counted. Nothing is removed from the topic.'),
]
