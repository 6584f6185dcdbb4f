/** Schemas of the API documents, with only the fields that the console reads. */
import * as v from 'valibot'
import { DeviceOfHandle, Faulty } from './faultyShape.ts'

const Text = v.string()
const MaybeText = v.nullable(Text)
const Counts = v.record(Text, v.number())
const Times = { created_at: Text, updated_at: MaybeText }
const Links = v.optional(v.array(v.object({ href: Text, rel: Text })))
const Note = v.nullable(v.object({ by: Text, reason: Text, at: Text }))

export const Arq = v.object({
  uuid: Text,
  state: Text,
  device_profile_name: Text,
  device_profile_group_id: v.number(),
  hostname: MaybeText,
  device_rp_uuid: MaybeText,
  instance_uuid: MaybeText,
  project_id: MaybeText,
  attach_handle_type: Text,
  attach_handle_uuid: MaybeText,
  attach_handle_info: v.record(Text, Text),
  ...Times,
})
export type Arq = v.InferOutput<typeof Arq>
export const Arqs = v.object({ arqs: v.array(Arq), arqs_links: Links })

export const Timeline = v.object({
  arq: Text,
  project_id: MaybeText,
  deleted: v.boolean(),
  total_ms: v.number(),
  steps: v.array(
    v.object({
      at: Text,
      step: Text,
      took_ms: v.nullable(v.number()),
      cause: MaybeText,
      request_id: MaybeText,
      detail: v.record(Text, v.unknown()),
      /** The recorded event; absent if it was not asked for, null if the user may not read it. */
      event: v.optional(v.unknown(), null),
    }),
  ),
})
export type Timeline = v.InferOutput<typeof Timeline>

export const Host = v.object({
  name: Text,
  liveness: Text,
  aliases: v.array(Text),
  drivers: v.record(Text, v.object({ status: Text, error: MaybeText })),
  boot_id: MaybeText,
  last_seen_at: MaybeText,
  retired: Note,
  public_key: MaybeText,
  offered_key: MaybeText,
  ...Times,
})
export type Host = v.InferOutput<typeof Host>
export const Hosts = v.object({ hosts: v.array(Host), hosts_links: Links })
/** The last question for a report at once; null: the host was never asked. */
export const Probe = v.nullable(
  v.object({
    asked_at: Text,
    by: Text,
    answer: v.nullable(
      v.object({
        at: Text,
        took_ms: v.number(),
        report_number: v.number(),
        devices: v.number(),
        failed_drivers: v.array(Text),
      }),
    ),
  }),
)
export const HostDetail = v.object({
  ...Host.entries,
  handles: Counts,
  arqs: v.array(Text),
  probe: v.optional(Probe, null),
  /** These three are absent of an older control. */
  last_report: v.optional(v.nullable(v.object({ number: v.number(), at: Text })), null),
  orders: v.optional(v.nullable(v.object({ waiting: v.number(), waiting_since: MaybeText })), null),
  measured: v.optional(v.array(v.object({ device_uuid: Text, numbers: v.record(Text, v.number()) })), []),
})
export type HostDetail = v.InferOutput<typeof HostDetail>

export const Device = v.object({
  uuid: Text,
  type: Text,
  vendor: Text,
  model: Text,
  std_board_info: MaybeText,
  vendor_board_info: MaybeText,
  hostname: Text,
  status: v.optional(Text, 'unknown'),
  /** The worst of what is known of it and of its host, why and since when, and how many requests hold a part of it. */
  state: Text,
  state_reason: MaybeText,
  state_since: MaybeText,
  arqs: v.number(),
  ...Times,
})
export type Device = v.InferOutput<typeof Device>
/** The health of a device, with its last measurements, and who has which part of it. */
const Health = v.object({
  state: Text,
  reason: MaybeText,
  since: MaybeText,
  measured_at: MaybeText,
  numbers: v.record(Text, v.number()),
  held: v.array(v.object({ attach_handle_uuid: Text, state: Text, arq_uuid: MaybeText, instance_uuid: MaybeText })),
})
export type Health = v.InferOutput<typeof Health>
export const DeviceDetail = v.object({ ...Device.entries, health: Health })
export type DeviceDetail = v.InferOutput<typeof DeviceDetail>
export const Devices = v.object({ devices: v.array(Device), devices_links: Links })

export const Deployable = v.object({
  uuid: Text,
  name: Text,
  num_accelerators: v.number(),
  attributes_list: Text,
  rp_uuid: MaybeText,
  driver_name: MaybeText,
  bitstream_id: MaybeText,
  ...Times,
})
export type Deployable = v.InferOutput<typeof Deployable>
export const Deployables = v.object({ deployables: v.array(Deployable), deployables_links: Links })

export const Handle = v.object({
  uuid: Text,
  deployable_uuid: Text,
  hostname: Text,
  state: Text,
  arq_uuid: MaybeText,
})
export type Handle = v.InferOutput<typeof Handle>
export const Handles = v.object({ handles: v.array(Handle), handles_links: Links })
export const HandleDetail = v.object({
  ...Handle.entries,
  ...{ device: v.optional(DeviceOfHandle), attach_handle_type: Text },
  attach_handle_info: v.record(Text, Text),
  last_arq_uuid: MaybeText,
  order: v.nullable(v.number()),
  quarantine: Note,
  /** Where a control does not say what the policy of the host is, the host may be asked. */
  cleaning: v.optional(v.object({ policy: v.optional(MaybeText, 'by_host') }), { policy: 'by_host' }),
})
export type HandleDetail = v.InferOutput<typeof HandleDetail>

export const Profile = v.object({
  uuid: Text,
  name: Text,
  description: MaybeText,
  groups: v.array(v.record(Text, Text)),
  version: v.number(),
  enabled: v.boolean(),
  projects: v.nullable(v.array(Text)),
  ...Times,
})
export type Profile = v.InferOutput<typeof Profile>
export const Profiles = v.object({ device_profiles: v.array(Profile), device_profiles_links: Links })
export const ProfileVersions = v.object({
  versions: v.array(
    v.object({
      version: v.number(),
      enabled: v.boolean(),
      description: MaybeText,
      groups: v.array(v.record(Text, Text)),
      created_at: Text,
    }),
  ),
})
export type ProfileVersions = v.InferOutput<typeof ProfileVersions>
export const OneProfile = v.object({ device_profile: Profile })

const Waiting = v.object({ waiting: v.number(), oldest_at: MaybeText })
const Found = v.object({ count: v.number(), last_at: MaybeText })
export const Overview = v.object({
  counted_at: Text,
  arqs: Counts,
  handles: Counts,
  hosts: Counts,
  devices: Counts,
  // a control of release 0.3.0 tells none of these
  ...{ device_states: v.optional(Counts), vanished: v.optional(Faulty), failing: v.optional(Faulty) },
  orders: Waiting,
  deliveries: v.object({ ...Waiting.entries, undelivered: v.number() }),
  failing_devices: v.number(),
  placement: Counts,
  binds: v.object({ late: v.number(), next_deadline_at: MaybeText }),
  overdue_since: MaybeText,
  journal: v.object({ newest_at: MaybeText, untold_since: MaybeText, writing_stopped: v.boolean() }),
  found: v.object({
    views_differing: Found,
    orphan_handles: Found,
    slot_differences: Found,
    reports_refused: Found,
    dead_letters: Found,
  }),
  views_checked: v.number(),
  program: v.record(Text, Text),
})
export type Overview = v.InferOutput<typeof Overview>

export const Delivery = v.object({
  state: v.picklist(['waiting', 'undelivered']),
  instance_uuid: Text,
  hostname: Text,
  request_id: Text,
  statuses: v.record(Text, Text),
  attempts: v.number(),
  next_at: MaybeText,
  until: MaybeText,
  answers: v.record(Text, Text),
})
export type Delivery = v.InferOutput<typeof Delivery>
export const Deliveries = v.object({ deliveries: v.array(Delivery), deliveries_links: Links })

export const Drift = v.object({
  drift: v.array(
    v.object({
      host: Text,
      compute_node_uuid: MaybeText,
      checked_at: MaybeText,
      trouble: v.nullable(v.object({ state: Text, reason: MaybeText })),
      entries: v.array(
        v.object({
          uuid: Text,
          kind: Text,
          provider_uuid: Text,
          name: Text,
          deployable_uuid: MaybeText,
          repairs: v.array(Text),
          state: MaybeText,
          reason: MaybeText,
          consumer_uuid: MaybeText,
          arqs: v.array(Text),
          ignored: v.nullable(v.object({ by: Text, reason: Text, at: Text, until: Text })),
        }),
      ),
    }),
  ),
  drift_links: Links,
})
export type Drift = v.InferOutput<typeof Drift>

export const IgnoredDrift = v.object({
  uuid: Text,
  host: Text,
  kind: Text,
  name: Text,
  consumer_uuid: MaybeText,
  difference_reason: MaybeText,
  by: Text,
  reason: Text,
  until: Text,
  ended: Note,
})
export type IgnoredDrift = v.InferOutput<typeof IgnoredDrift>
export const IgnoredDrifts = v.object({ ignored: v.array(IgnoredDrift), ignored_links: Links })

/** What a repair would do. */
export const Healing = v.object({ dry_run: v.boolean(), drift: Drift.entries.drift })

/** What came of the repair of one host. */
const HealedOutcome = v.picklist(['in_step', 'left', 'busy'])
export type HealedOutcome = v.InferOutput<typeof HealedOutcome>
export const Healed = v.object({ healed: v.looseTuple([v.object({ outcome: HealedOutcome })]) })

export const Permissions = v.object({
  user_id: Text,
  user_name: v.nullable(Text),
  project_id: Text,
  project_name: v.nullable(Text),
  permissions: v.record(Text, v.boolean()),
})
export type Permissions = v.InferOutput<typeof Permissions>

/** The entities that a change would concern. */
export const Impact = v.object({
  refusal: MaybeText,
  effect: v.picklist(['kept', 'unbound']),
  devices: v.array(Text),
  instances: v.array(Text),
  projects: v.array(Text),
  arqs: v.array(v.object({ uuid: Text })),
  arqs_left_out: v.number(),
})
export type Impact = v.InferOutput<typeof Impact>
/** Errors of the API. An answer 401 has the form of the identity service, with another key, and does not match. */
export const Refusal = v.object({
  errors: v.tupleWithRest([v.object({ detail: Text, code: Text })], v.unknown()),
})
