/** Schemas of the API documents for the pages about explanations, capacity, usage, events and loaded images. */
import * as v from 'valibot'

const Text = v.string()
const MaybeText = v.nullable(Text)
const Count = v.number()

const Obstacle = v.object({ code: Text, reason: Text, change: Text, stops: v.array(Text) })
export type Obstacle = v.InferOutput<typeof Obstacle>
const Candidate = v.object({ name: Text, deployable_uuid: Text, obstacles: v.array(Obstacle) })
export const Explanation = v.object({
  fits: v.boolean(),
  hosts_checked: Count,
  devices_checked: Count,
  hosts_fitting: Count,
  placement: Text,
  groups: v.array(
    v.object({
      group: Count,
      arqs: Count,
      devices: Count,
      removed: v.record(Text, Count),
      nearest: v.nullable(v.object({ ...Candidate.entries, host: Text })),
    }),
  ),
  hosts: v.array(
    v.object({
      host: Text,
      fits: v.boolean(),
      obstacles: v.array(Obstacle),
      groups: v.array(v.object({ group: Count, devices: v.array(Candidate), left_out: Count })),
    }),
  ),
  hosts_left_out: Count,
})
export type Explanation = v.InferOutput<typeof Explanation>

const amount = { total: Count, held: Count, free: Count, withheld: Count, broken: Count }
export const Capacity = v.object({
  counted_at: Text,
  capacity: v.array(
    v.object({
      resource_class: Text,
      traits: v.array(Text),
      ...amount,
      hosts: v.array(v.object({ host: Text, ...amount })),
    }),
  ),
})
export type Capacity = v.InferOutput<typeof Capacity>

export const Usage = v.object({
  from: Text,
  until: Text,
  as_of: Text,
  period: Text,
  usage: v.array(
    v.object({
      project_id: MaybeText,
      resource_class: Text,
      from: Text,
      until: Text,
      device_seconds: Count,
      bindings: Count,
    }),
  ),
})
export type Usage = v.InferOutput<typeof Usage>

const Event = v.object({
  id: Text,
  event: v.object({
    type: Text,
    subject: v.optional(Text, ''),
    time: v.optional(Text, ''),
    data: v.optional(v.unknown()),
  }),
})
export type Event = v.InferOutput<typeof Event>
export const Events = v.object({ events: v.array(Event), next: Text, more: v.boolean() })
/** An event as a line of a page. */
export type EventLine = {
  readonly id: string
  readonly kind: string
  readonly type: string
  readonly subject: string
  readonly at: string
  readonly facts: string
}

const Program = v.object({
  deployable_uuid: Text,
  device_uuid: Text,
  hostname: Text,
  name: Text,
  programmable: v.boolean(),
  state: Text,
  image_uuid: MaybeText,
  former_image_uuid: MaybeText,
  since: MaybeText,
  reason: MaybeText,
})
export const Programs = v.object({ programs: v.array(Program), programs_links: v.optional(v.unknown()) })
const Image = v.object({ uuid: Text, name: MaybeText, size: v.nullable(v.number()), digest: MaybeText })
export const ProgramDetail = v.object({
  ...Program.entries,
  refusal: MaybeText,
  arqs: v.array(Text),
  arqs_left_out: v.number(),
  image: v.nullable(Image),
  image_problem: MaybeText,
  images: v.array(Image),
  images_left_out: v.number(),
  images_problem: MaybeText,
})
export type ProgramDetail = v.InferOutput<typeof ProgramDetail>
export type Program = v.InferOutput<typeof Programs>['programs'][number]
