/**
 * The programming of deployables: the loaded image, the image that is being loaded, and how the last attempt ended.
 * This path is an extension.
 */
import * as v from 'valibot'
import type { Programming } from '../../actors/deployable/programming.ts'
import { listBody } from '../listing.ts'
import { integer, uuid } from '../query.ts'
import { time } from '../render.ts'
import { answer, route } from '../route.ts'
import type { Route } from '../route.ts'
import * as schemas from '../schemas.ts'

const LIMIT = { usual: 50, most: 200 }
export const Program = v.object({
  deployable_uuid: schemas.Uuid,
  device_uuid: schemas.Uuid,
  hostname: v.string(),
  name: v.string(),
  programmable: v.boolean(),
  state: v.pipe(
    v.picklist(['empty', 'loaded', 'running', 'failed']),
    v.description(
      'running: its host is loading image_uuid; failed: the last try, and why; empty: no image is recorded.',
    ),
  ),
  image_uuid: v.pipe(v.nullable(v.string()), v.description('What is loaded or being loaded.')),
  since: v.nullable(schemas.Time),
  reason: v.nullable(v.string()),
})

const stateOf = ({ loaded, running, failed }: Programming): 'empty' | 'loaded' | 'running' | 'failed' => {
  if (running !== null) return 'running'
  if (failed !== null) return 'failed'
  return loaded === null ? 'empty' : 'loaded'
}
const programBody = (row: Programming) => ({
  deployable_uuid: row.deployable,
  device_uuid: row.device,
  hostname: row.host,
  name: row.name,
  programmable: row.programmable,
  state: stateOf(row),
  image_uuid: row.running?.image ?? row.loaded,
  since: row.running === null ? null : time(row.running.since),
  reason: row.failed,
})

const list = route({
  method: 'GET',
  path: '/v2/programs',
  rule: 'cyborg:deployable:get_all',
  query: {
    limit: integer(
      1,
      `Maximum number of entries in the answer; more than ${LIMIT.most} counts as ${LIMIT.most}, ${LIMIT.usual} unless said otherwise.`,
    ),
    marker: uuid('The last deployable of the previous page: the page begins after it.'),
  },
  docs: {
    summary: 'The deployables that may be programmed, with what is loaded and how the last programming ended.',
    answers: { 200: schemas.listOf('programs', Program) },
  },
  handle: ({ control, query: { limit = LIMIT.usual, marker }, base, pairs }) => {
    const page = { limit: Math.min(limit, LIMIT.most), ...(marker !== undefined && { marker }) }
    return answer(control.deployables.programming(page), 200, (listed) =>
      listBody(listed, {
        key: 'programs',
        collection: 'programs',
        base,
        pairs,
        item: programBody,
        markerOf: (row) => row.deployable,
      }),
    )
  },
})

export const programRoutes: readonly Route[] = [list]
