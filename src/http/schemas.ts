/** The schemas of the API for the generated description. Request bodies are validated with them as well. */
import * as v from 'valibot'
import { ARQ_STATES } from '../actors/arq/states.ts'
import { EVENT_ID } from '../actors/events.ts'
import { CleaningShown } from './cleaningSchema.ts'
import { DEVICE_STATUSES } from '../actors/deployable/messages.ts'
import { IMPACT_EFFECTS } from '../actors/answers/impact.ts'
import { DEVICE_STATES } from '../actors/device/standing.ts'
import { HANDLE_STATES } from '../actors/deployable/states.ts'
import { STANDINGS } from '../actors/host/decider.ts'
import { COMPARISON_STATES } from '../actors/placement/comparison.ts'
import { RESERVINGS } from '../actors/placement/wanted.ts'
import { publicKey } from '../vocabulary/fields.ts'
import { DEPLOYABLE_KINDS, DEVICE_TYPES, HANDLE_TYPES } from '../vocabulary/hardware.ts'
import { invalid } from './faults.ts'
import type { Refusal } from './guard.ts'
import { DeviceOfHandle } from './standingSchema.ts'

export type Schema = v.GenericSchema

const RULE_SHOWN = 200
/** What valibot says where a schema has no words of its own: it names types of JavaScript. */
const ITS_WORDS = /^Invalid [a-z_]+: (?:Expected|Received) /

/** Types as valibot names them, in words. */
const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  Array: 'an array',
  Object: 'an object',
}
const expectedWords = (expected: string): string =>
  expected
    .replaceAll(/[()]/g, '')
    .split(' | ')
    .map((one) => TYPE_WORDS[one] ?? one)
    .join(' or ')

/** The first problem that a schema finds in a value, as a refusal that names the field. */
export const refusalOf = (issues: readonly [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]]): Refusal => {
  const issue = issues[0]
  const field = v.getDotPath(issue)?.slice(0, RULE_SHOWN) ?? 'body'
  if (issue.received === 'undefined' && issue.expected !== null) return invalid(field, 'it is missing')
  const own = issue.kind === 'validation' || issue.expected === null || !ITS_WORDS.test(issue.message)
  return invalid(field, (own ? issue.message : `it must be ${expectedWords(issue.expected)}`).slice(0, RULE_SHOWN))
}

/**
 * Parses a body with a schema, or returns the reason why it is invalid. Lists are refused separately, because an object
 * schema would accept a list.
 */
export const readAs = <S extends Schema>(
  schema: S,
  json: unknown,
): { readonly ok: true; readonly value: v.InferOutput<S> } | Refusal => {
  if (Array.isArray(json)) return invalid('body', 'it must be an object')
  const parsed = v.safeParse(schema, json)
  return parsed.success ? { ok: true, value: parsed.output } : refusalOf(parsed.issues)
}

export const Uuid = v.pipe(v.string(), v.uuid())
export const Time = v.pipe(v.string(), v.description('ISO 8601, UTC, whole seconds: 2026-03-01T08:15:30+00:00'))
export const Link = v.object({ href: v.string(), rel: v.string() })
export const times = { created_at: Time, updated_at: v.nullable(Time) }
export const links = v.array(Link)
export const StringMap = v.record(v.string(), v.string())

/** A list document. The collection is the first key, because some clients look only at the first key. */
export const listOf = (name: string, item: Schema): Schema =>
  v.object({ [name]: v.array(item), [`${name}_links`]: v.optional(v.array(Link)) })

export const Arq = v.object({
  uuid: Uuid,
  state: v.picklist(ARQ_STATES),
  device_profile_name: v.string(),
  device_profile_version: v.pipe(
    v.optional(v.nullable(v.number())),
    v.description('From 2.5. The version that its group is from; null: not known.'),
  ),
  device_profile_group_id: v.number(),
  hostname: v.nullable(v.string()),
  device_rp_uuid: v.nullable(Uuid),
  instance_uuid: v.nullable(Uuid),
  project_id: v.nullable(v.string()),
  attach_handle_type: v.pipe(v.string(), v.description(`Empty unless Bound, then one of ${HANDLE_TYPES.join(', ')}.`)),
  attach_handle_uuid: v.nullable(Uuid),
  attach_handle_info: StringMap,
  ...times,
  links,
})
export const Device = v.object({
  uuid: Uuid,
  type: v.picklist(DEVICE_TYPES),
  vendor: v.string(),
  model: v.string(),
  std_board_info: v.nullable(v.string()),
  vendor_board_info: v.nullable(v.string()),
  hostname: v.string(),
  status: v.pipe(v.optional(v.picklist(DEVICE_STATUSES)), v.description('From 2.3.')),
  failing: v.pipe(
    v.optional(v.nullable(v.string())),
    v.description('From 2.4. Why it counts as bad and is not offered, as recorded; null: it does not.'),
  ),
  state: v.pipe(
    v.optional(v.picklist(DEVICE_STATES)),
    v.description('From 2.4. The worst of what is known of it and of its host; only `enabled` is offered.'),
  ),
  state_reason: v.pipe(v.optional(v.nullable(v.string())), v.description('From 2.4. Null: it is `enabled`.')),
  state_since: v.pipe(v.optional(v.nullable(Time)), v.description('From 2.4. Null also if the moment was not kept.')),
  arqs: v.pipe(v.optional(v.number()), v.description('From 2.4. How many accelerator requests hold a part of it.')),
  ...times,
  links,
})
const InPlacement = v.object({
  state: v.picklist(COMPARISON_STATES),
  reason: v.nullable(v.string()),
  since: v.nullable(Time),
  reserving: v.pipe(v.array(v.picklist(RESERVINGS)), v.description('Why units of it are reserved.')),
  compared_at: v.pipe(
    v.nullable(Time),
    v.description(
      'When its host was last compared with Placement as a whole, as recorded: of comparisons that find nothing new, one a day is.',
    ),
  ),
})
export const Deployable = v.object({
  uuid: Uuid,
  parent_id: v.nullable(v.number()),
  root_id: v.nullable(v.number()),
  name: v.string(),
  num_accelerators: v.number(),
  device_id: v.number(),
  attributes_list: v.pipe(v.string(), v.description('A JSON array of objects with one key each, in a string.')),
  rp_uuid: v.nullable(Uuid),
  driver_name: v.nullable(v.string()),
  bitstream_id: v.nullable(v.string()),
  id: v.pipe(v.optional(v.number()), v.description('From 2.4.')),
  device_uuid: v.pipe(v.optional(Uuid), v.description('From 2.4.')),
  parent_uuid: v.pipe(v.optional(v.nullable(Uuid)), v.description('From 2.4.')),
  root_uuid: v.pipe(v.optional(v.nullable(Uuid)), v.description('From 2.4.')),
  kind: v.pipe(v.optional(v.nullable(v.picklist(DEPLOYABLE_KINDS))), v.description('From 2.4, if known.')),
  placement: v.pipe(
    v.optional(v.nullable(InPlacement)),
    v.description('From 2.4. How it stands in Placement; null: nothing of it is shown there.'),
  ),
  ...times,
  links,
})
export const Attribute = v.object({
  uuid: Uuid,
  deployable_id: v.number(),
  key: v.string(),
  value: v.string(),
  deployable_uuid: v.pipe(v.optional(Uuid), v.description('From 2.4.')),
  parent_uuid: v.pipe(v.optional(v.nullable(Uuid)), v.description('From 2.4. The attribute that it describes.')),
  ...times,
  links,
})
const Note = v.object({ by: v.string(), reason: v.string(), at: Time })
const host = {
  name: v.string(),
  liveness: v.picklist(STANDINGS),
  aliases: v.array(v.string()),
  drivers: v.record(v.string(), v.object({ status: v.picklist(['ok', 'failed']), error: v.nullable(v.string()) })),
  boot_id: v.nullable(Uuid),
  last_seen_at: v.nullable(Time),
  retired: v.pipe(v.nullable(Note), v.description('Who took it out of service, and why.')),
  public_key: v.pipe(v.nullable(publicKey), v.description('The key with which its reports are signed.')),
  offered_key: v.pipe(v.nullable(publicKey), v.description('The key that waits for approval by an operator.')),
  ...times,
}
export const Host = v.object(host)
const handle = {
  uuid: Uuid,
  deployable_uuid: Uuid,
  hostname: v.string(),
  state: v.picklist(HANDLE_STATES),
  arq_uuid: v.nullable(Uuid),
}
export const Handle = v.object(handle)
export const HandleDetail = v.object({
  ...handle,
  ...{ device: DeviceOfHandle, cleaning: CleaningShown },
  attach_handle_type: v.picklist(HANDLE_TYPES),
  attach_handle_info: StringMap,
  last_arq_uuid: v.pipe(v.nullable(Uuid), v.description('Whose release is or was not finished.')),
  order: v.pipe(v.nullable(v.number()), v.description('Number of the order its host has not answered yet.')),
  quarantine: v.pipe(
    v.nullable(Note),
    v.description('It is kept back until an operator releases it: why, and by whom.'),
  ),
})
export const Impact = v.object({
  dry_run: v.literal(true),
  refusal: v.pipe(
    v.nullable(v.string()),
    v.description('Why the request would be refused with 409; null: it would be carried out.'),
  ),
  effect: v.pipe(
    v.picklist(IMPACT_EFFECTS),
    v.description('kept: what is bound stays bound, nothing new is; unbound: it is unbound by force.'),
  ),
  devices: v.array(Uuid),
  instances: v.array(Uuid),
  projects: v.array(v.string()),
  arqs: v.array(
    v.object({
      uuid: Uuid,
      state: v.picklist(ARQ_STATES),
      instance_uuid: v.nullable(Uuid),
      project_id: v.nullable(v.string()),
      hostname: v.nullable(v.string()),
      deployable_uuid: v.nullable(Uuid),
    }),
  ),
  arqs_left_out: v.number(),
})
const Orphan = v.object({
  instance_uuid: Uuid,
  arqs: v.array(Uuid),
  hostname: v.nullable(v.string()),
  project_id: v.nullable(v.string()),
  changed_at: Time,
})
const KeptInstance = v.object({ instance_uuid: Uuid, reason: v.string() })
export const Orphans = v.object({
  orphans: v.array(Orphan),
  unclear: v.pipe(v.array(KeptInstance), v.description('Nova did not say whether it knows them.')),
  asked: v.number(),
  next: v.pipe(v.nullable(Uuid), v.description('The marker of the next request; null: there is no more.')),
})
export const Collected = v.object({ orphans: v.array(Orphan), kept: v.array(KeptInstance) })
export const Migration = v.object({
  applied: v.boolean(),
  profiles: v.array(
    v.object({
      uuid: Uuid,
      name: v.string(),
      changes: v.array(v.object({ group: v.number(), from: v.string(), to: v.string() })),
    }),
  ),
})
export const Timeline = v.object({
  arq: Uuid,
  project_id: v.nullable(v.string()),
  deleted: v.boolean(),
  total_ms: v.number(),
  steps: v.array(
    v.object({
      at: v.pipe(v.string(), v.description('ISO 8601, UTC, with milliseconds.')),
      step: v.string(),
      took_ms: v.nullable(v.number()),
      cause: v.nullable(v.string()),
      request_id: v.nullable(v.string()),
      detail: v.record(v.string(), v.unknown()),
      event: v.optional(
        v.pipe(
          v.nullable(v.record(v.string(), v.unknown())),
          v.description('With `events=true`: the CloudEvent behind the step; null: the caller may not read it.'),
        ),
      ),
    }),
  ),
})
export const EventId = v.pipe(v.string(), v.regex(EVENT_ID))
export const PublishedEvent = v.object({
  id: EventId,
  event: v.pipe(v.record(v.string(), v.unknown()), v.description('A CloudEvent; see /asyncapi.json.')),
})
export const Version = v.object({
  id: v.string(),
  status: v.string(),
  min_version: v.string(),
  max_version: v.string(),
  links,
})
export const Root = v.object({
  name: v.string(),
  description: v.string(),
  versions: v.array(Version),
  default_version: Version,
})
export const Status = v.object({ status: v.string() })
export const IdentityError = v.object({
  error: v.object({ code: v.number(), title: v.string(), message: v.string() }),
})
export const ErrorBody = v.object({
  error_message: v.pipe(v.string(), v.description('A JSON document in a string: faultcode, faultstring, debuginfo.')),
  errors: v.array(
    v.object({
      status: v.number(),
      code: v.string(),
      title: v.string(),
      detail: v.string(),
      request_id: v.string(),
    }),
  ),
})
