/** The schemas of what operators look at first. */
import * as v from 'valibot'
import * as schemas from './schemas.ts'

const Counts = v.record(v.string(), v.number())
const Waiting = v.object({ waiting: v.number(), oldest_at: v.nullable(schemas.Time) })
export const Overview = v.object({
  counted_at: schemas.Time,
  arqs: v.pipe(Counts, v.description('By state. A state of which there is none is left out, here and below.')),
  handles: v.pipe(Counts, v.description('By state.')),
  hosts: v.pipe(Counts, v.description('By liveness.')),
  devices: v.pipe(Counts, v.description('By status.')),
  orders: v.pipe(Waiting, v.description('Orders that their hosts have not answered yet; when the oldest was sent.')),
  deliveries: v.pipe(Waiting, v.description('Instances whose events Nova has not taken yet; the first next try.')),
  program: v.pipe(
    schemas.StringMap,
    v.description(
      'The version, the store, and how each neighbour does: `absent`, `in use`, or why it does not answer.',
    ),
  ),
})
export const Permissions = v.object({
  user_id: v.string(),
  user_name: v.nullable(v.string()),
  project_id: v.string(),
  project_name: v.nullable(v.string()),
  permissions: v.pipe(v.record(v.string(), v.boolean()), v.description('By the name of the policy rule.')),
})
export const Delivery = v.object({
  instance_uuid: schemas.Uuid,
  hostname: v.string(),
  request_id: v.string(),
  statuses: v.pipe(v.record(v.string(), v.picklist(['completed', 'failed'])), v.description('By accelerator request.')),
  attempts: v.number(),
  next_at: schemas.Time,
  given_up_at: v.nullable(schemas.Time),
})
