/**
 * Attach handles: the units of a deployable that are given to accelerator requests. This path is an extension that
 * clients of the original API do not use.
 */
import type { HandleDetail, HandleRow } from '../../actors/control.ts'
import { HANDLE_STATES } from '../../actors/deployable/states.ts'
import { cleaningBody } from '../cleaningSchema.ts'
import { answerList } from '../listing.ts'
import { pageArgs, pageOf } from '../pages.ts'
import { oneOf, text, uuid } from '../query.ts'
import { reasonIn, noteBody, noteOf } from './operatorNote.ts'
import { deviceOfHandleBody } from '../standingSchema.ts'
import { answer, route } from '../route.ts'
import type { Route } from '../route.ts'
import * as schemas from '../schemas.ts'

const UUIDS = { uuid: { resource: 'attach_handle', otherwise: 'invalid' } } as const

const handleBody = (row: HandleRow) => ({
  uuid: row.uuid,
  deployable_uuid: row.deployable_uuid,
  hostname: row.hostname,
  state: row.state,
  arq_uuid: row.arq_uuid,
})
const detailBody = (row: HandleDetail) => ({
  ...handleBody(row),
  device: deviceOfHandleBody(row.device),
  attach_handle_type: row.type,
  attach_handle_info: row.info,
  last_arq_uuid: row.last_arq,
  order: row.order,
  quarantine: noteBody(row.quarantine),
  cleaning: cleaningBody(row.cleaning),
})

const list = route({
  method: 'GET',
  path: '/v2/handles',
  rule: 'cyborg:handle:get_all',
  query: {
    ...pageArgs(['uuid']),
    state: oneOf(HANDLE_STATES, 'Only those in this state.'),
    hostname: text('Only handles of this host.'),
    deployable_uuid: uuid('Of this deployable.'),
  },
  docs: { summary: 'Attach handles.', answers: { 200: schemas.listOf('handles', schemas.Handle) } },
  handle: ({ control, caller, query, base, pairs }) => {
    const filter = {
      ...(query.state && { state: query.state }),
      ...(query.hostname && { hostname: query.hostname }),
      ...(query.deployable_uuid && { deployable_uuid: query.deployable_uuid }),
    }
    return answerList((page) => control.handles.list(caller, filter, page), pageOf(query), {
      key: 'handles',
      collection: 'handles',
      base,
      pairs,
      item: handleBody,
      markerOf: (row) => row.uuid,
    })
  },
})

const one = route({
  method: 'GET',
  path: '/v2/handles/:uuid',
  rule: 'cyborg:handle:get_one',
  uuids: UUIDS,
  docs: { summary: 'One attach handle.', answers: { 200: schemas.HandleDetail }, refusals: [404] },
  handle: ({ control, caller, params }) => answer(control.handles.get(caller, params.uuid), 200, detailBody),
})

const turn = (verb: 'quarantine' | 'release' | 'clean', summary: string): Route =>
  route({
    method: 'POST',
    path: `/v2/handles/:uuid/${verb}`,
    rule: `cyborg:handle:${verb}`,
    uuids: UUIDS,
    body: reasonIn,
    docs: { summary, answers: { 200: schemas.HandleDetail }, refusals: [404, 409] },
    handle: ({ control, caller, params, body }) =>
      answer(control.handles[verb](caller, params.uuid, noteOf(caller, body)), 200, detailBody),
  })

export const handleRoutes: readonly Route[] = [
  list,
  one,
  turn('quarantine', 'Keeps a handle from all requests until an operator releases it. Repeating it is harmless.'),
  turn(
    'release',
    'Confirms that a quarantined handle is clean, and makes it available again. Repeating it is harmless.',
  ),
  turn(
    'clean',
    'Has the host clean a handle that nobody has, by the command that is chosen there. It is free when that has succeeded.',
  ),
]
