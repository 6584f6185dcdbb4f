/** The differences of `GET /v2/drift` that operators ignore for a while. These paths are an extension. */
import * as v from 'valibot'
import type { IgnoredRow } from '../../actors/control.ts'
import { IGNORED_DAYS_MAX } from '../../actors/placement/ignored.ts'
import { IgnoredDrift } from '../driftSchemas.ts'
import { answerList } from '../listing.ts'
import { pageArgs, pageOf } from '../pages.ts'
import { MOMENT, NO_MOMENT, text } from '../query.ts'
import { time } from '../render.ts'
import { type Body, type Route, answer, route } from '../route.ts'
import { listOf, readAs } from '../schemas.ts'
import { UuidText, trimmedText } from '../shapes.ts'
import { ReasonBody, noteBody, noteOf, reasonIn } from './operatorNote.ts'

const UUIDS = { uuid: { resource: 'ignored_difference', otherwise: 'invalid' } } as const

const ignoredBody = (row: IgnoredRow) => ({
  uuid: row.uuid,
  host: row.hostname,
  kind: row.kind,
  provider_uuid: row.provider_uuid,
  name: row.name,
  consumer_uuid: row.consumer_uuid,
  state: row.state,
  difference_reason: row.difference_reason,
  by: row.ignored_by,
  reason: row.reason,
  at: time(row.created_at),
  until: time(row.until_at),
  ended: noteBody(row.ended),
})

const list = route({
  method: 'GET',
  path: '/v2/drift/ignored',
  rule: 'cyborg:drift:get_all',
  query: { ...pageArgs(['until_at', 'created_at']), host: text('Only those of this host.') },
  docs: {
    summary: 'The differences that are ignored now; those whose time ends first come first.',
    answers: { 200: listOf('ignored', IgnoredDrift) },
  },
  handle: ({ control, query, base, pairs }) =>
    answerList((page) => control.drift.ignored(query.host ?? null, page), pageOf(query), {
      key: 'ignored',
      collection: 'drift/ignored',
      base,
      pairs,
      item: ignoredBody,
      markerOf: ({ uuid }) => uuid,
    }),
})

const one = route({
  method: 'GET',
  path: '/v2/drift/ignored/:uuid',
  rule: 'cyborg:drift:get_all',
  uuids: UUIDS,
  docs: {
    summary: 'One difference that is ignored, or whose ignoring an operator has ended before its term was over.',
    answers: { 200: IgnoredDrift },
    refusals: [404],
  },
  handle: ({ control, params }) => answer(control.drift.ignoredOne(params.uuid), 200, ignoredBody),
})

const HOST_MAX = 255
/** A day means its beginning. */
const IgnoreBody = v.object({
  host: trimmedText({ characters: HOST_MAX }),
  difference: UuidText,
  until: v.pipe(
    v.string(),
    v.regex(MOMENT, NO_MOMENT),
    v.transform((given) => Date.parse(given)),
    v.description(`A day or a moment in UTC, at most ${IGNORED_DAYS_MAX} days ahead.`),
  ),
  ...ReasonBody.entries,
})
const wish: Body<v.InferOutput<typeof IgnoreBody>> = { schema: IgnoreBody, read: (json) => readAs(IgnoreBody, json) }

const ignore = route({
  method: 'POST',
  path: '/v2/drift/ignored',
  rule: 'cyborg:drift:ignore',
  body: wish,
  waits: true,
  docs: {
    summary: `Ignores a difference that no pass repairs, for at most ${IGNORED_DAYS_MAX} days. The host is compared first. Repeating it sets the end and the reason anew.`,
    answers: { 200: IgnoredDrift },
    refusals: [404, 409],
  },
  handle: ({ control, caller, body: { host, difference, until, reason } }) =>
    answer(control.drift.ignore(caller, { host, difference, until }, noteOf(caller, reason)), 200, ignoredBody),
})

const unignore = route({
  method: 'POST',
  path: '/v2/drift/ignored/:uuid/end',
  rule: 'cyborg:drift:ignore',
  uuids: UUIDS,
  body: reasonIn,
  docs: {
    summary: 'Ignores a difference no longer. Repeating it is harmless.',
    answers: { 200: IgnoredDrift },
    refusals: [404],
  },
  handle: ({ control, caller, params, body }) =>
    answer(control.drift.unignore(caller, params.uuid, noteOf(caller, body)), 200, ignoredBody),
})

export const ignoredRoutes: readonly Route[] = [list, one, ignore, unignore]
