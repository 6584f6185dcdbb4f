/**
 * The programming of deployables: the loaded image, the image that is being loaded, and how the last attempt ended.
 * This path is an extension.
 */
import * as v from 'valibot'
import {
  IMAGES_SHOWN,
  type ProgramDetail as Detail,
  type Programming,
  USERS_SHOWN,
} from '../../actors/deployable/programming.ts'
import { type Image as StoredImage, digestText } from '../../vocabulary/images.ts'
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
  former_image_uuid: v.pipe(v.nullable(v.string()), v.description('What it held before, as far as is recorded.')),
  since: v.nullable(schemas.Time),
  reason: v.nullable(v.string()),
})
const Image = v.object({
  uuid: schemas.Uuid,
  name: v.nullable(v.string()),
  size: v.nullable(v.number()),
  digest: v.pipe(v.nullable(v.string()), v.description('Algorithm and value, as the image store names them.')),
  driver: v.pipe(
    v.nullable(v.string()),
    v.description('What guests need to use it, as the image says; never fetched.'),
  ),
  driver_ver: v.nullable(v.string()),
  driver_path: v.nullable(v.string()),
})
export const ProgramDetail = v.object({
  ...Program.entries,
  refusal: v.pipe(v.nullable(v.string()), v.description('Why it cannot be programmed now, whatever the image.')),
  arqs: v.pipe(
    v.array(schemas.Uuid),
    v.description(`The requests that use it or a part of it, at most ${USERS_SHOWN}.`),
  ),
  arqs_left_out: v.number(),
  image: v.pipe(v.nullable(Image), v.description('The loaded image, as the image store has it.')),
  image_problem: v.pipe(v.nullable(v.string()), v.description('Why the image store does not give the loaded image.')),
  images: v.pipe(v.array(Image), v.description(`The images that fit its hardware, at most ${IMAGES_SHOWN}.`)),
  images_left_out: v.number(),
  images_problem: v.pipe(v.nullable(v.string()), v.description('Why images cannot be listed.')),
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
  former_image_uuid: row.former,
  since: row.running === null ? null : time(row.running.since),
  reason: row.failed,
})

const imageBody = ({ uuid, name, size, digest, properties }: StoredImage) => ({
  uuid,
  name,
  size,
  digest: digest && digestText(digest),
  driver: properties['driver'] ?? null,
  driver_ver: properties['driver_ver'] ?? null,
  driver_path: properties['driver_path'] ?? null,
})
const detailBody = (row: Detail) => {
  const { refusal, users, inStore, choices } = row
  return {
    ...programBody(row),
    refusal,
    arqs: users.slice(0, USERS_SHOWN),
    arqs_left_out: Math.max(0, users.length - USERS_SHOWN),
    image: inStore?.image ? imageBody(inStore.image) : null,
    image_problem: inStore?.problem ?? null,
    images: choices.images.slice(0, IMAGES_SHOWN).map(imageBody),
    images_left_out: Math.max(0, choices.images.length - IMAGES_SHOWN),
    images_problem: choices.problem,
  }
}

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

const one = route({
  method: 'GET',
  path: '/v2/programs/:uuid',
  rule: 'cyborg:deployable:program',
  uuids: { uuid: { resource: 'deployable', otherwise: 'invalid' } },
  waits: true,
  docs: {
    summary: 'What there is to know before an image is loaded: who uses the deployable, and which images fit it.',
    answers: { 200: ProgramDetail },
    refusals: [404],
  },
  handle: ({ control, caller, params }) =>
    answer(control.deployables.programDetail(caller, params.uuid), 200, detailBody),
})

export const programRoutes: readonly Route[] = [list, one]
