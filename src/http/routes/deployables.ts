/** Deployables: the parts of a device that can be attached to instances or programmed. */
import { AS_OF } from '../asOf.ts'
import type { Control, DeployableRow, Listed } from '../../actors/control.ts'
import { type Outcome, done } from '../../vocabulary/fault.ts'
import { createFilters, withFilters } from '../filters.ts'
import { answerList } from '../listing.ts'
import { pageArgs, pageOf } from '../pages.ts'
import { program } from './program.ts'
import { integer, text, uuid } from '../query.ts'
import { bookmark, self, time, times } from '../render.ts'
import { answer, reply, route } from '../route.ts'
import type { Answered, Call, Route } from '../route.ts'
import { refused } from '../faults.ts'
import * as schemas from '../schemas.ts'
import { SINCE } from '../versions.ts'

const UUIDS = { uuid: { resource: 'deployable', otherwise: 'invalid' } } as const

type Shown = DeployableRow & { readonly placement: Placed }
type Placed = Extract<
  Awaited<ReturnType<Control['deployables']['inPlacement']>>,
  { readonly ok: true }
>['value'][number]

type Asking = { readonly control: Control; readonly minor: number }

/** Adds the state of each deployable in Placement, if the requested microversion shows it. */
const shown = async (
  { control, minor }: Asking,
  rows: readonly DeployableRow[],
): Promise<Outcome<readonly Shown[]>> => {
  if (minor < SINCE.uuids) return done(rows.map((row) => ({ ...row, placement: null })))
  const placed = await control.deployables.inPlacement(rows)
  return placed.ok ? done(rows.map((row, at) => ({ ...row, placement: placed.value[at] ?? null }))) : placed
}
const shownIn = async (
  call: Asking,
  reading: Promise<Outcome<Listed<DeployableRow>>>,
): Promise<Outcome<Listed<Shown>>> => {
  const listed = await reading
  if (!listed.ok) return listed
  const items = await shown(call, listed.value.items)
  return items.ok ? done({ items: items.value, next: listed.value.next }) : items
}
const shownOne = async (call: Asking, row: DeployableRow): Promise<Outcome<Shown>> => {
  const all = await shown(call, [row])
  return all.ok ? done(all.value[0]!) : all
}

const placementBody = (placed: NonNullable<Placed>) => ({
  state: placed.state,
  reason: placed.reason,
  since: placed.since === null ? null : time(placed.since),
  reserving: placed.reserving,
  compared_at: placed.comparedAt === null ? null : time(placed.comparedAt),
})
const deployableBody = (row: Shown, minor: number, base: string) => ({
  uuid: row.uuid,
  parent_id: row.parent_id,
  root_id: row.root_id,
  name: row.name,
  num_accelerators: row.num_accelerators,
  device_id: row.device_id,
  attributes_list: JSON.stringify(row.attributes),
  rp_uuid: row.rp_uuid,
  driver_name: row.driver_name,
  bitstream_id: row.bitstream_id,
  ...(minor >= SINCE.uuids && {
    id: row.id,
    device_uuid: row.device_uuid,
    parent_uuid: row.parent_uuid,
    root_uuid: row.root_uuid,
    kind: row.kind,
    placement: row.placement && placementBody(row.placement),
  }),
  ...times(row),
  links: [self(base, 'deployables', row.uuid), bookmark(base, 'deployables', row.uuid)],
})

const plainArgs = {
  ...pageArgs(['created_at', 'device_id', 'hostname', 'name', 'uuid']),
  name: text('Only the deployable with this name.'),
  device_id: integer(0, 'Only deployables of the device with this integer id.'),
  device_uuid: uuid('Of the device with this UUID.'),
  rp_uuid: uuid('With this resource provider.'),
}
const listArgs = { ...plainArgs, ...AS_OF, filters: createFilters(plainArgs) }

const list = route({
  method: 'GET',
  path: '/v2/deployables',
  rule: 'cyborg:deployable:get_all',
  query: listArgs,
  docs: { summary: 'Deployables.', answers: { 200: schemas.listOf('deployables', schemas.Deployable) } },
  handle: ({ control, query, minor, base, pairs }) => {
    const asked = withFilters(plainArgs, query, pairs)
    if (!asked.ok) return asked
    const { name, device_id: deviceId, device_uuid: deviceUuid, rp_uuid: rpUuid } = asked.query
    const filter = {
      ...(name && { name }),
      ...(deviceId !== undefined && { deviceId }),
      ...(deviceUuid && { deviceUuid }),
      ...(rpUuid && { rpUuid }),
    }
    return answerList(
      (page) => shownIn({ control, minor }, control.deployables.list(filter, page)),
      pageOf(asked.query),
      {
        key: 'deployables',
        collection: 'deployables',
        base,
        pairs,
        item: (row) => deployableBody(row, minor, base),
        markerOf: (row) => row.uuid,
      },
    )
  },
})

const one = route({
  method: 'GET',
  path: '/v2/deployables/:uuid',
  rule: 'cyborg:deployable:get_one',
  uuids: UUIDS,
  query: AS_OF,
  docs: { summary: 'One deployable.', answers: { 200: schemas.Deployable }, refusals: [404] },
  handle: async ({ control, params, minor, base }) => {
    const known = await control.deployables.get(params.uuid)
    if (!known.ok) return known
    return answer(shownOne({ control, minor }, known.value), 200, (row) => deployableBody(row, minor, base))
  },
})

/**
 * 200 when programming is done, 202 when it takes longer than the wait. In that case `bitstream_id` shows the result
 * later.
 */
const load = async ({ control, caller, params, body, minor, base }: Call<{}, string>): Promise<Answered> => {
  const { uuid: deployable, again } = params
  if (again !== undefined && again !== deployable)
    return refused({ kind: 'conflict', reason: 'The path names two different deployables.' })
  const outcome = await control.deployables.program(caller, deployable!, body)
  if (!outcome.ok) return outcome
  const row = await shownOne({ control, minor }, outcome.value.deployable)
  return row.ok ? reply(outcome.value.finished ? 200 : 202, deployableBody(row.value, minor, base)) : row
}

/** Builds one route for each spelling of the path, because different clients use different ones. */
const programAt = (path: string, more: Route['uuids'] = {}): Route =>
  route({
    method: 'PATCH',
    path,
    rule: 'cyborg:deployable:program',
    uuids: { ...UUIDS, ...more },
    body: program,
    waits: true,
    docs: {
      summary: 'Programs a deployable with an image.',
      answers: { 200: schemas.Deployable, 202: schemas.Deployable },
      refusals: [404, 409, 503],
    },
    handle: load,
  })

export const deployableRoutes: readonly Route[] = [
  list,
  one,
  programAt('/v2/deployables/:uuid'),
  programAt('/v2/deployables/:uuid/program'),
  programAt('/v2/deployables/:uuid/program/:again', { again: UUIDS.uuid }),
]
