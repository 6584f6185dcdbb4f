/** Accelerator requests: created from a device profile, bound to an instance, read by Nova, and deleted. */
import { AS_OF } from '../asOf.ts'
import type { ArqUuid } from '../../vocabulary/identifiers.ts'
import * as v from 'valibot'
import { ARQ_STATES } from '../../actors/arq/states.ts'
import type { ArqRow, Listed, Page } from '../../actors/control.ts'
import type { Outcome } from '../../vocabulary/fault.ts'
import { patch } from './bindings.ts'
import type { Patch } from './bindings.ts'
import { invalid, refused } from '../faults.ts'
import { answerList } from '../listing.ts'
import { pageArgs, pageOf } from '../pages.ts'
import { list as listArg, oneOf, text, uuid } from '../query.ts'
import { isProfileName } from '../../actors/profile/name.ts'
import { self, times } from '../render.ts'
import { reasonIn, noteOf } from './operatorNote.ts'
import { answer, route } from '../route.ts'
import type { Answered, Body, Call, Route } from '../route.ts'
import * as schemas from '../schemas.ts'
import { anyText, UUID_SHAPE } from '../shapes.ts'
import { timeline } from './timeline.ts'
import { canonicalUuid } from '../../vocabulary/uuid.ts'
import { SINCE } from '../versions.ts'
import { backoffMs } from '../../vocabulary/waiting.ts'

const UUIDS = { uuid: { resource: 'accelerator_request', otherwise: 'invalid' } } as const

export const arqBody = (row: ArqRow, base: string, minor: number) => {
  const bound = row.state === 'Bound'
  return {
    uuid: row.uuid,
    state: row.state,
    device_profile_name: row.profile_name,
    ...(minor >= SINCE.profileVersions && { device_profile_version: row.profile_version }),
    device_profile_group_id: row.group_id,
    hostname: row.hostname,
    device_rp_uuid: row.device_rp_uuid,
    instance_uuid: row.instance_uuid,
    project_id: row.project_id,
    // A handle may also be assigned in other states, but clients may rely on it only when the request is Bound.
    attach_handle_type: (bound && row.handle_type) || '',
    attach_handle_uuid: bound ? row.handle_uuid : null,
    attach_handle_info: (bound && row.handle_info) || {},
    ...times(row),
    links: [self(base, 'accelerator_requests', row.uuid)],
  }
}

const NewArqs = v.looseObject({ device_profile_name: anyText })
const newArqs: Body<string> = {
  schema: NewArqs,
  read: (json) => {
    const parsed = schemas.readAs(NewArqs, json)
    return parsed.ok ? { ok: true, value: parsed.value.device_profile_name } : parsed
  },
}

const create = route({
  method: 'POST',
  path: '/v2/accelerator_requests',
  rule: 'cyborg:arq:create',
  body: newArqs,
  docs: {
    summary: 'Creates the accelerator requests of a device profile.',
    answers: { 201: v.object({ arqs: v.array(schemas.Arq) }) },
    refusals: [404],
  },
  handle: ({ control, caller, body, base, minor }) => {
    // A text that is not a valid profile name is not looked up.
    if (!isProfileName(body)) return refused({ kind: 'not_found', resource: 'device_profile', id: body })
    return answer(control.arqs.create(caller, body), 201, (rows) => ({
      arqs: rows.map((row) => arqBody(row, base, minor)),
    }))
  },
})

type Canonical = { readonly ok: true; readonly uuids: readonly ArqUuid[] } | ReturnType<typeof invalid>

const uuidsOf = (given: readonly string[]): Canonical => {
  const uuids = new Set<ArqUuid>()
  for (const each of given) {
    const canonical = canonicalUuid(each)
    if (canonical === null) return invalid('arqs', 'each element must be a UUID')
    uuids.add(canonical)
  }
  return { ok: true, uuids: [...uuids] }
}

/** What the time limit of an answer leaves for the work itself. */
const WORK_MS = 2000
const PAUSE = { firstMs: 50, maxMs: 500 }
/** Asks again until the answer is final, for at most so long, or until nobody waits for it. */
const untilFinal = async <Value>(
  { pause, options, caller }: Pick<Call<{}, unknown>, 'pause' | 'options' | 'caller'>,
  heldMs: number,
  ask: () => Promise<Outcome<Value>>,
  isFinal: (answer: Outcome<Value>) => boolean,
): Promise<Outcome<Value>> => {
  const mostMs = Math.min(heldMs, options.answerMs - WORK_MS)
  let waitedMs = 0
  for (let asks = 1; ; asks++) {
    const answered = await ask()
    if (isFinal(answered) || waitedMs >= mostMs || caller.isOver?.() === true) return answered
    const pauseMs = backoffMs(PAUSE, asks)
    await pause(pauseMs)
    waitedMs += pauseMs
  }
}

/**
 * Nova reads the requests of a server once when it unshelves it, before the server is on a host, and takes no event
 * about it then: what it reads as `BindStarted` it waits for in vain (Nova 34, `_unshelve_instance`).
 */
const BIND_HELD_MS = 11_000
const isBound = (found: Outcome<Listed<ArqRow>>): boolean =>
  !found.ok || found.value.items.every(({ state }) => state !== 'BindStarted')
/**
 * Placement gives a device to a new server while the host still takes it from the one before, or loads an image into it
 * or divides it for another request: Nova asks once.
 */
const WORK_HELD_MS = 5000
const isDecided = (bound: Outcome<null>): boolean => bound.ok || bound.fault.kind !== 'conflict' || !bound.fault.passing

const list = route({
  method: 'GET',
  path: '/v2/accelerator_requests',
  rule: 'cyborg:arq:get_all',
  query: {
    ...pageArgs(['created_at', 'state', 'uuid']),
    instance: uuid('Of this instance.'),
    bind_state: oneOf(['resolved'], 'Only resolved ones; with `instance`, 423 while any of its requests is not.'),
    arqs: listArg('Only these, comma separated.', UUID_SHAPE),
    state: oneOf(ARQ_STATES, 'Only those in this state.'),
    project_id: text('Of this project, among those that the caller may see.'),
    ...AS_OF,
  },
  docs: {
    summary:
      'Accelerator requests that the caller may see. With `instance`, a service is answered 409 when the bind of one of them failed.',
    answers: { 200: schemas.listOf('arqs', schemas.Arq) },
    refusals: [409, 423],
  },
  handle: (call) => {
    const { control, caller, query, base, pairs, minor } = call
    const only = query.arqs === undefined ? null : uuidsOf(query.arqs)
    if (only !== null && !only.ok) return only
    const filter = {
      ...(query.instance !== undefined && { instance: query.instance }),
      ...(only !== null && { uuids: only.uuids }),
      ...(query.bind_state === 'resolved' && { resolvedOnly: true }),
      ...(query.state !== undefined && { state: query.state }),
      ...(query.project_id !== undefined && { project: query.project_id }),
    }
    const listed = (page: Page) => control.arqs.list(caller, filter, page)
    const isAskedByNova = caller.isService && query.instance !== undefined && query.bind_state === undefined
    const whenBound = (page: Page) => untilFinal(call, BIND_HELD_MS, () => listed(page), isBound)
    return answerList(isAskedByNova ? whenBound : listed, pageOf(query), {
      key: 'arqs',
      collection: 'accelerator_requests',
      base,
      pairs,
      item: (row) => arqBody(row, base, minor),
      markerOf: (row) => row.uuid,
    })
  },
})

const one = route({
  method: 'GET',
  path: '/v2/accelerator_requests/:uuid',
  rule: 'cyborg:arq:get_one',
  uuids: UUIDS,
  query: AS_OF,
  docs: { summary: 'One accelerator request.', answers: { 200: schemas.Arq }, refusals: [404] },
  handle: ({ control, caller, params, base, minor }) =>
    answer(control.arqs.get(caller, params.uuid), 200, (row) => arqBody(row, base, minor)),
})

/** Some clients also name one of the requests in the path. It must be one of those in the body. */
const apply = (call: Call<{}, Patch>): Answered | Promise<Answered> => {
  const { control, caller, params, body } = call
  const named = params['uuid']
  const arqs = 'bind' in body ? body.bind.map(({ arq }) => arq) : body.unbind
  if (named !== undefined && !arqs.includes(named))
    return refused({ kind: 'conflict', reason: 'The path names a request that the body does not.' })
  if ('unbind' in body) return answer(control.arqs.unbind(caller, body.unbind), 202)
  return answer(
    untilFinal(call, WORK_HELD_MS, () => control.arqs.bind(caller, body.bind), isDecided),
    202,
  )
}

const patchAt = (path: string, uuids: Route['uuids'] = {}): Route =>
  route({
    method: 'PATCH',
    path,
    rule: 'cyborg:arq:update',
    uuids,
    body: patch,
    docs: {
      summary: 'Binds accelerator requests to an instance, or unbinds them: all or none.',
      answers: { 202: null },
      refusals: [404, 406, 409],
    },
    handle: apply,
  })

const removeOne = route({
  method: 'DELETE',
  path: '/v2/accelerator_requests/:uuid',
  rule: 'cyborg:arq:delete',
  uuids: UUIDS,
  docs: { summary: 'Deletes an accelerator request.', answers: { 204: null }, refusals: [404, 409] },
  handle: ({ control, caller, params }) => answer(control.arqs.remove(caller, [params.uuid]), 204),
})

const removeSome = route({
  method: 'DELETE',
  path: '/v2/accelerator_requests',
  rule: 'cyborg:arq:delete',
  query: {
    arqs: listArg('UUIDs, comma separated. All that exist are deleted, even when others do not.', UUID_SHAPE),
    instance: uuid('All of this instance; harmless when it has none.'),
  },
  oneOf: ['arqs', 'instance'],
  docs: {
    summary: 'Deletes accelerator requests, by UUID or by instance.',
    answers: { 204: null },
    refusals: [404, 409],
  },
  handle: ({ control, caller, query }) => {
    if (query.instance !== undefined) return answer(control.arqs.removeByInstance(caller, query.instance), 204)
    const named = uuidsOf(query.arqs!)
    return named.ok ? answer(control.arqs.remove(caller, named.uuids), 204) : named
  },
})

const forceUnbind = route({
  method: 'POST',
  path: '/v2/accelerator_requests/:uuid/force_unbind',
  rule: 'cyborg:arq:force_unbind',
  uuids: UUIDS,
  body: reasonIn,
  docs: {
    summary: 'Ends a bind whose instance no longer exists, or whose host will not return. Repeating it is harmless.',
    answers: { 200: schemas.Arq },
    refusals: [404],
  },
  handle: ({ control, caller, params, body, base, minor }) =>
    answer(control.arqs.forceUnbind(caller, params.uuid, noteOf(caller, body)), 200, (row) =>
      arqBody(row, base, minor),
    ),
})

export const arqRoutes: readonly Route[] = [
  create,
  list,
  one,
  patchAt('/v2/accelerator_requests'),
  patchAt('/v2/accelerator_requests/:uuid', UUIDS),
  removeOne,
  removeSome,
  timeline,
  forceUnbind,
]
