/**
 * Accelerator requests of servers that Nova no longer knows. These paths are an extension that clients of the original
 * API do not use.
 */
import * as v from 'valibot'
import type { Kept, Orphan } from '../../actors/answers/orphan.ts'
import { uuid } from '../query.ts'
import { time } from '../render.ts'
import { reply, route } from '../route.ts'
import type { Body, Route } from '../route.ts'
import * as schemas from '../schemas.ts'
import { UUID_SHAPE } from '../shapes.ts'
import { canonicalUuid } from '../../vocabulary/uuid.ts'
import { invalid } from '../faults.ts'

const INSTANCES_MAX = 100

const orphanBody = ({ instance, arqs, host, project, changedAt }: Orphan) => ({
  instance_uuid: instance,
  arqs,
  hostname: host,
  project_id: project,
  changed_at: time(changedAt),
})
const keptBody = ({ instance, reason }: Kept) => ({ instance_uuid: instance, reason })

const Posted = v.strictObject({
  instance_uuids: v.pipe(
    v.array(v.pipe(v.string(), v.metadata(UUID_SHAPE))),
    v.minLength(1, 'it must name an instance'),
    v.maxLength(INSTANCES_MAX, `it must name at most ${INSTANCES_MAX} instances`),
  ),
})
const instancesIn: Body<readonly string[]> = {
  schema: Posted,
  read: (json) => {
    const parsed = schemas.readAs(Posted, json)
    if (!parsed.ok) return parsed
    const given = parsed.value.instance_uuids.map(canonicalUuid)
    const at = given.indexOf(null)
    return at < 0
      ? { ok: true, value: given as readonly string[] }
      : invalid(`instance_uuids.${at}`, 'it must be a UUID')
  },
}

const list = route({
  method: 'GET',
  path: '/v2/orphans',
  rule: 'cyborg:orphan:get_all',
  query: { marker: uuid('Go on after this accelerator request: `next` of the answer before.') },
  waits: true,
  docs: {
    summary: 'Asks Nova about the servers of bound accelerator requests, some at a time. Deletes nothing.',
    answers: { 200: schemas.Orphans },
    refusals: [409],
  },
  handle: async ({ control, query }) => {
    const looked = await control.orphans.list(query.marker ?? null)
    if (!looked.ok) return looked
    const { orphans, unclear, asked, next } = looked.value
    return reply(200, { orphans: orphans.map(orphanBody), unclear: unclear.map(keptBody), asked, next })
  },
})

const collect = route({
  method: 'POST',
  path: '/v2/orphans/collect',
  rule: 'cyborg:orphan:collect',
  body: instancesIn,
  waits: true,
  docs: {
    summary:
      'Deletes the accelerator requests of these instances, if Nova says twice, ten seconds apart, that it does not know them.',
    answers: { 200: schemas.Collected },
    refusals: [409],
  },
  handle: async ({ control, caller, body }) => {
    const collected = await control.orphans.collect(caller, body)
    if (!collected.ok) return collected
    const { orphans, kept } = collected.value
    return reply(200, { orphans: orphans.map(orphanBody), kept: kept.map(keptBody) })
  },
})

export const orphanRoutes: readonly Route[] = [list, collect]
