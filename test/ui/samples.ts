/** Documents of the API as a page of the console reads them: each is in order, and a test says what is not. */
import { TIMES, ago, uuid, type Documents } from './drawing.ts'

export type Facts = Readonly<Record<string, unknown>>
export const times = <Item>(count: number, make: (at: number) => Item): readonly Item[] =>
  Array.from({ length: count }, (_, at) => make(at))
/** That there is a next page. */
export const LINKS = [{ href: 'x', rel: 'next' }]
/** An operator's word on something. */
export const NOTE = { by: 'kim', reason: 'old', at: ago(70_000) }

export const MAY = { user_id: 'u1', user_name: 'kim', project_id: 'p1', project_name: null, permissions: {} }
export const may = (permissions: Readonly<Record<string, boolean>>): Documents => ({
  '/permissions': { ...MAY, permissions },
})

const NEVER = { count: 0, last_at: null }
const NONE = { devices: 0, arqs: 0, instances: 0, since: null, cards: [] }
const OVERVIEW = {
  counted_at: ago(0),
  arqs: { Bound: 2 },
  handles: {},
  hosts: { up: 2 },
  devices: {},
  device_states: { enabled: 2 },
  vanished: NONE,
  failing: NONE,
  orders: { waiting: 0, oldest_at: null },
  deliveries: { waiting: 0, oldest_at: null, undelivered: 0 },
  failing_devices: 0,
  placement: {},
  binds: { late: 0, next_deadline_at: null },
  overdue_since: null,
  journal: { newest_at: ago(61_000), untold_since: null, writing_stopped: false },
  found: {
    views_differing: NEVER,
    orphan_handles: NEVER,
    slot_differences: NEVER,
    reports_refused: NEVER,
    dead_letters: NEVER,
  },
  views_checked: 1,
  program: { version: '9.9', store: 'postgres', nova: 'in use' } as Readonly<Record<string, string>>,
}
export type Overview = typeof OVERVIEW
export const overview = (more: Facts = {}) => ({ '/overview': { ...OVERVIEW, ...more } })
/** `what` was found that many times, the last time so long ago. */
export const found = (what: keyof Overview['found'], count: number, msAgo: number) => ({
  found: { ...OVERVIEW.found, [what]: { count, last_at: ago(msAgo) } },
})

export const arq = (n: number, state: string, more: Facts = {}) => ({
  uuid: uuid(n),
  state,
  device_profile_name: `profile ${n}`,
  device_profile_group_id: n,
  hostname: 'host 1',
  device_rp_uuid: uuid(60 + n),
  instance_uuid: uuid(50),
  project_id: `project ${n}`,
  attach_handle_type: 'PCI',
  attach_handle_uuid: uuid(70 + n),
  attach_handle_info: { domain: '0000', bus: '0c', device: '0a', function: '1' },
  ...TIMES,
  ...more,
})
export type Given = readonly [step: string, msAgo: number, detail?: Facts]
export const timeline = (n: number, given: readonly Given[], more: Facts = {}) => ({
  arq: uuid(n),
  project_id: 'p1',
  deleted: false,
  total_ms: 0,
  steps: given.map(([step, ms, detail = {}], at) => ({
    at: ago(ms),
    step,
    took_ms: null,
    cause: [null, 'host 1', uuid(80)][at % 3],
    request_id: at % 2 === 0 ? null : `req-${at}`,
    detail,
    event: at === 1 ? null : { at },
  })),
  ...more,
})
const ACCEPTED = { hostname: 'node 1', host: 'host 1', order: 7, deadline: ago(-90_000), instance: uuid(50) }
export const accepted = (ms: number, more: Facts = {}): Given => ['bind accepted', ms, { ...ACCEPTED, ...more }]
export const told = (ms: number): Given => ['nova to be told', ms, { status: 'completed', until: ago(-300_000) }]

export const host = (more: Facts = {}) => ({
  name: 'host 1',
  liveness: 'up',
  aliases: ['one'],
  drivers: {},
  boot_id: null,
  last_seen_at: ago(3000),
  retired: null,
  public_key: null,
  offered_key: null,
  ...TIMES,
  handles: { free: 3 },
  arqs: [],
  ...more,
})
export const device = (n: number, more: Facts = {}) => ({
  uuid: uuid(n),
  type: 'GPU',
  vendor: '10de',
  model: `T${n}`,
  std_board_info: null,
  vendor_board_info: null,
  hostname: 'host 1',
  status: 'enabled',
  state: 'enabled',
  state_reason: null,
  state_since: null,
  arqs: 0,
  ...TIMES,
  ...more,
})
export const HEALTH = { state: 'unknown', reason: null, since: null, measured_at: null, numbers: {}, held: [] }
export const handle = (n: number, state: string, more: Facts = {}) => ({
  uuid: uuid(n),
  deployable_uuid: uuid(600),
  hostname: 'host 1',
  state,
  arq_uuid: state === 'held' ? uuid(1) : null,
  ...more,
})
export const part = (n: number, more: Facts = {}) => ({
  uuid: uuid(600 + n),
  name: `part ${n}`,
  num_accelerators: n,
  attributes_list: '[{"rc": "FPGA"}, {"trait0": "CUSTOM_A", "trait1": "CUSTOM_B"}]',
  rp_uuid: uuid(701),
  driver_name: 'driver',
  bitstream_id: null,
  ...TIMES,
  updated_at: ago(60_000),
  ...more,
})

export const profile = (more: Facts = {}) => ({
  uuid: uuid(900),
  name: 'a b',
  description: null,
  groups: [{ 'resources:FPGA': '1' }],
  version: 3,
  enabled: true,
  projects: null,
  ...TIMES,
  ...more,
})

export const difference = (n: number, more: Facts = {}) => ({
  uuid: uuid(n),
  kind: 'server',
  provider_uuid: uuid(700),
  name: 'provider',
  deployable_uuid: null,
  repairs: [],
  state: null,
  reason: null,
  consumer_uuid: null,
  arqs: [],
  ignored: null,
  ...more,
})
export const compared = (name: string, entries: readonly object[], trouble: object | null = null) => ({
  host: name,
  compute_node_uuid: null,
  checked_at: ago(5000),
  trouble,
  entries,
})

export const letter = (n: number, more: Facts = {}) => ({
  uuid: uuid(n),
  id: `orders/${n}`,
  state: 'open',
  stored_at: ago(n * 1000),
  topic: 'host.orders.v1',
  partition: n,
  offset: 100 + n,
  key: `key ${n}`,
  reason: `reason ${n}`,
  size_bytes: 1000 + n,
  cut: false,
  replay_refusal: null,
  handled: null,
  headers: { 'a\u202Eb': 'c\u0007d' },
  value: 'text\u0000\n\tmore',
  ...more,
})
export const programme = (n: number, state: string, more: Facts = {}) => ({
  deployable_uuid: uuid(n),
  device_uuid: uuid(100 + n),
  hostname: `host ${n}`,
  name: `part ${n}`,
  programmable: true,
  state,
  image_uuid: null,
  former_image_uuid: null,
  since: null,
  reason: null,
  ...more,
})
