/**
 * Pages over an API that tells of everything that can be: each state, each note, each neighbour, what is missing, what
 * waits. `-u` where a change is meant.
 */
import { expect, it } from 'vitest'
import { NOW, TIMES, ago, noWaiting, keysDuring, pagesOf, uuid } from './drawing.ts'

const PROGRAM = { version: '9.9', store: 'postgres', api: 'v2', authentication: 'noauth', images: 'a folder' }
const NOTHING = { count: 0, last_at: null }
const overview = (more: object = {}) => ({
  counted_at: ago(0),
  arqs: {},
  handles: {},
  hosts: {},
  devices: {},
  device_states: {},
  orders: noWaiting,
  deliveries: { ...noWaiting, undelivered: 0 },
  program: PROGRAM,
  failing_devices: 0,
  vanished: { devices: 0, arqs: 0, instances: 0, since: null, cards: [] },
  failing: { devices: 0, arqs: 0, instances: 0, since: null, cards: [] },
  placement: {},
  binds: { late: 0, next_deadline_at: null },
  overdue_since: null,
  journal: { newest_at: ago(1000), untold_since: null, writing_stopped: false },
  found: {
    views_differing: NOTHING,
    orphan_handles: NOTHING,
    slot_differences: NOTHING,
    reports_refused: NOTHING,
    dead_letters: NOTHING,
  },
  views_checked: 100,
  ...more,
})
const option = (key: string, value: unknown, source: string, from: string | null, secret = false) => ({
  key,
  value,
  source,
  from,
  secret,
})
const lag = (partition: number, messages: number) => ({
  topic: 'host.reports.v1',
  group: 'controls',
  partition,
  messages,
})
const system = (more: object = {}) => ({
  told_at: ago(0),
  process: { program: 'control', machine: 'control-1', pid: 4711, started_at: ago(86_400_000) },
  versions: { accelerando: '9.9', node: '24.0.0', schema: '0015', newer: ['0016'], api: { min: '2.0', max: '2.5' } },
  store: { kind: 'postgres', power_loss: 'as_the_server_is_set' },
  neighbours: [
    { name: 'keystone', state: 'in_use', detail: null },
    { name: 'images', state: 'in_use', detail: 'the image service' },
    { name: 'nova', state: 'failing', detail: 'connect ECONNREFUSED' },
    { name: 'placement', state: 'absent', detail: null },
  ],
  configuration: [
    option('listen', '0.0.0.0:6666', 'argument', '--listen'),
    option('enabled_drivers', ['pci_driver'], 'file', '/etc/accelerando.toml'),
    option('database', '(hidden)', 'environment', 'ACCELERANDO_DATABASE', true),
    option('bind.deadline_seconds', 120, 'default', null),
    option('images', null, 'default', null),
  ],
  consumers: { bus: 'kafka', lags: [lag(3, 1200), lag(0, 0), lag(1, 0)], lags_left_out: 2, problem: null },
  journal_writes: { count: 1000, since: ago(600_000), p50_ms: 0.42, p90_ms: 3, p99_ms: 41.5, max_ms: 1234 },
  last_audit: {
    at: ago(3_600_000),
    version: '9.8',
    invariants: 57,
    violations: 3,
    violated: ['S1', 'L4'],
    rows: 123_456,
    seconds: 12.3,
    sources: ['the database', 'the topics on kafka-1:9092'],
  },
  last_audit_problem: null,
  ...more,
})
const STATES = ['Initial', 'BindStarted', 'Bound', 'Unbound', 'BindFailed', 'UnbindFailed', 'Deleting', 'Other']
const arqs = STATES.map((state, at) => ({
  uuid: uuid(at),
  state,
  device_profile_name: `profile ${at}`,
  device_profile_group_id: at,
  hostname: at % 2 ? `host ${at}` : null,
  device_rp_uuid: null,
  instance_uuid: at % 2 ? uuid(100 + at) : null,
  project_id: null,
  attach_handle_type: at % 2 ? 'PCI' : '',
  attach_handle_uuid: at % 2 ? uuid(200 + at) : null,
  attach_handle_info: at % 2 ? { bus: '0a' } : {},
  ...TIMES,
}))
const NOTE = { by: 'ops', reason: 'to be replaced', at: ago(90_000) }
const hosts = ['up', 'stale', 'down', 'removed', 'pending', 'other'].map((liveness, at) => ({
  name: `host-${at}`,
  liveness,
  aliases: at === 0 ? ['a', 'b'] : [],
  drivers: at === 1 ? { one: { status: 'ok', error: null }, two: { status: 'failed', error: 'no card' } } : {},
  boot_id: at === 0 ? uuid(300) : null,
  last_seen_at: at === 2 ? null : ago(at * 1000),
  retired: at === 0 || at === 3 ? NOTE : null,
  public_key: at === 4 ? null : 'A'.repeat(43),
  offered_key: at === 4 ? 'B'.repeat(43) : null,
  ...TIMES,
}))
const HEALTH = { since: ago(60_000), measured_at: ago(5000), numbers: { temperature: 81.5, errors: 0 } }
const devices = ['enabled', 'maintaining', 'other'].map((status, at) => ({
  state: ['enabled', 'failing', 'missing'][at],
  state_reason: at === 0 ? null : at === 1 ? 'too hot' : 'its host does not report it any more',
  state_since: at === 0 ? null : ago(at * 60_000),
  arqs: at,
  uuid: uuid(400 + at),
  type: 'GPU',
  vendor: '10de',
  model: at === 1 ? '' : 'T4',
  std_board_info: at === 0 ? '{"product_id": "1eb8"}' : null,
  vendor_board_info: null,
  hostname: 'host-0',
  status,
  health: { ...HEALTH, held: [], state: at === 0 ? 'good' : 'bad', reason: at === 0 ? null : 'too hot' },
  ...TIMES,
}))
/** Of a host: its last report, orders that wait for it, and what was measured of the first two devices. */
const BUSY = {
  last_report: { number: 1234, at: ago(61_000) },
  orders: { waiting: 2, waiting_since: ago(125_000) },
  measured: [
    { device_uuid: uuid(400), numbers: { utilisation_percent: 87, temperature_celsius: 63.5 } },
    { device_uuid: uuid(401), numbers: { utilisation_percent: 0, power_watts: 20 } },
  ],
}
const handles = ['free', 'held', 'releasing', 'quarantined', 'missing', 'other'].map((state, at) => ({
  uuid: uuid(500 + at),
  deployable_uuid: uuid(600),
  hostname: 'host-0',
  state,
  arq_uuid: at === 1 ? uuid(2) : null,
}))
const entry = (kind: string, more: object = {}) => ({
  kind,
  provider_uuid: uuid(700),
  name: 'provider',
  deployable_uuid: null,
  repairs: [],
  state: null,
  reason: null,
  consumer_uuid: null,
  arqs: [],
  uuid: `of ${kind}`,
  ignored: null,
  ...more,
})
const drift = (host: string, entries: readonly object[], trouble: object | null = null) => ({
  host,
  compute_node_uuid: null,
  checked_at: ago(5000),
  trouble,
  entries,
})
const ignored = (kind: string, more: object = {}) => ({
  uuid: `of ${kind}`,
  host: 'host-0',
  kind,
  name: 'board',
  consumer_uuid: null,
  difference_reason: 'Nova has it',
  ...NOTE,
  until: ago(-90_000),
  ended: null,
  ...more,
})
const delivery = (at: number, more: object = {}) => ({
  state: 'waiting',
  instance_uuid: uuid(800 + at),
  hostname: 'host-0',
  request_id: `req-${at}`,
  statuses: { [uuid(1)]: 'completed', [uuid(2)]: 'failed' },
  attempts: at,
  next_at: ago(-60_000),
  until: null,
  answers: {},
  ...more,
})
const profile = {
  uuid: uuid(900),
  name: 'two groups',
  description: null,
  groups: [{ 'resources:FPGA': '1', 'trait:A': 'required' }, { 'resources:GPU': '2' }],
  version: 3,
  enabled: false,
  projects: ['p1', 'p2'],
  ...TIMES,
}
const links = [{ href: 'x', rel: 'next' }]

const EVERYTHING: Readonly<Record<string, unknown>> = {
  '/permissions': {
    user_id: 'u1',
    user_name: null,
    project_id: 'p1',
    project_name: 'operations',
    permissions: { 'cyborg:device:disable': true, 'cyborg:host:retire': false },
  },
  '/system': system(),
  '/overview': overview({
    arqs: { BindFailed: 2, UnbindFailed: 1, Bound: 1200 },
    handles: { missing: 1, quarantined: 2, free: 7 },
    hosts: { down: 2, stale: 3, pending: 2, up: 40 },
    devices: { enabled: 3, maintaining: 1 },
    orders: { waiting: 2, oldest_at: ago(31_000) },
    deliveries: { waiting: 1, oldest_at: null, undelivered: 2 },
    program: { ...PROGRAM, nova: 'does not answer', keystone: 'in use', placement: 'absent', images: 'broken' },
  }),
  '': { max_version: '2.3', min_version: '2.0' },
  '/accelerator_requests': { arqs },
  '/hosts': { hosts },
  '/devices': { devices },
  '/handles': { handles },
  '/device_profiles': { device_profiles: [profile] },
  '/deliveries': { deliveries: [delivery(0), delivery(1, { until: ago(1000) })], deliveries_links: links },
  '/drift': {
    drift: [
      drift('agrees', []),
      drift('host-0', [
        entry('hardware', { repairs: ['a', 'b'], reason: 'gone' }),
        entry('provider'),
        entry('allocation_without_arq', { consumer_uuid: uuid(101) }),
        entry('arq_without_allocation'),
        entry('nova_device'),
        entry('server'),
        entry('something new'),
        entry('server', { uuid: 'of another', ignored: { ...NOTE, until: ago(-90_000) } }),
      ]),
      drift('host-1', [], { state: 'away', reason: 'no answer' }),
      drift('host-2', [], { state: 'off', reason: null }),
    ],
    drift_links: links,
  },
  '/drift/ignored': {
    ignored: [ignored('server'), ignored('something new', { difference_reason: null })],
    ignored_links: links,
  },
}
const CALM: Readonly<Record<string, unknown>> = {
  ...EVERYTHING,
  '/system': system({
    process: { program: 'start', machine: 'laptop', pid: 12, started_at: ago(5000) },
    versions: { accelerando: '9.9', node: '24.0.0', schema: '0015', newer: [], api: { min: '2.0', max: '2.3' } },
    store: { kind: 'pglite', power_loss: 'last_commits' },
    configuration: [option('images', null, 'default', null)],
    consumers: { bus: 'in_process', lags: [], lags_left_out: 0, problem: null },
    journal_writes: null,
    last_audit: null,
  }),
  '/overview': overview({ orders: { waiting: 1, oldest_at: ago(30_000) } }),
  '/accelerator_requests': { arqs: [] },
  '/hosts': { hosts: [] },
  '/devices': { devices: [] },
  '/handles': { handles: [] },
  '/device_profiles': { device_profiles: [] },
  '/deliveries': { deliveries: [] },
  '/drift': { drift: [drift('agrees', [])] },
  '/drift/ignored': { ignored: [] },
}
const WAITS: Readonly<Record<string, unknown>> = {
  ...CALM,
  '/overview': overview({
    hosts: { stale: 1, pending: 1 },
    deliveries: { waiting: 2, oldest_at: ago(1000), undelivered: 0 },
  }),
}
const LISTS = ['', 'arqs', 'hosts', 'devices', 'handles', 'profiles', 'deliveries', 'drift', 'system']
const FILTERED = [
  'arqs?state=Bound',
  'arqs?project_id=p1',
  'arqs?instance=i1&state=Bound&other=x',
  'hosts?liveness=down',
  'devices?status=enabled&type=GPU',
  'devices?vendor=10de&hostname=h',
  'handles?state=free&hostname=h',
  'handles?deployable_uuid=d',
  'deliveries?after=d1',
  'deliveries?state=undelivered&after=d1',
  'drift?after=h 1',
]

it('the keys of the entries, of which no two in one list are the same', async () => {
  const text = await keysDuring(LISTS, (place) => pagesOf(EVERYTHING, [place], NOW))
  await expect(text).toMatchFileSnapshot('golden/keys-everything.txt')
})
it.each<[string, Readonly<Record<string, unknown>>, readonly string[]]>([
  ['everything', EVERYTHING, [...LISTS, ...FILTERED]],
  ['nothing', CALM, [...LISTS, ...FILTERED]],
  ['what waits', WAITS, ['']],
])('pages that show %s, and what the API was asked for them', async (name, documents, places) => {
  await expect(await pagesOf(documents, places, NOW)).toMatchFileSnapshot(`golden/drawn-${name.replace(' ', '-')}.txt`)
})
it('one thing in each of its states', async () => {
  let text = ''
  const things: readonly (readonly [
    path: string,
    place: string,
    all: readonly { readonly [name: string]: unknown }[],
  ])[] = [
    ['/accelerator_requests/x', 'arqs/x', arqs],
    [
      '/hosts/x',
      'hosts/x',
      hosts.map((one, at) => ({
        ...one,
        handles: { free: 1, held: 2 },
        arqs: [uuid(1), uuid(2)],
        ...(at === 0 && BUSY),
        ...(at === 1 && { last_report: null, orders: { waiting: 0, waiting_since: null }, measured: [] }),
      })),
    ],
    ['/devices/x', 'devices/x', devices],
    [
      '/device_profiles/x',
      'profiles/x',
      [profile, { ...profile, description: 'words', enabled: true, projects: null }].map((one) => ({
        device_profile: one,
      })),
    ],
    [
      '/handles/x',
      'handles/x',
      handles.map((one, at) => ({
        ...one,
        // an older control does not say it
        ...(at > 0 && {
          device: {
            uuid: uuid(9),
            state: at === 1 ? 'enabled' : 'missing',
            state_reason: at === 1 ? null : 'why',
            state_since: null,
          },
        }),
        attach_handle_type: 'PCI',
        attach_handle_info: at === 0 ? {} : { bus: '0a', device: '00' },
        last_arq_uuid: at === 3 ? uuid(7) : null,
        order: at === 2 ? 7 : null,
        quarantine: at === 3 ? NOTE : null,
      })),
    ],
  ]
  const timeline = { arq: uuid(0), project_id: null, deleted: false, total_ms: 0, steps: [] }
  const deployable = (at: number) => ({
    uuid: uuid(600 + at),
    name: `part ${at}`,
    num_accelerators: at,
    attributes_list: at === 0 ? '[]' : '[{"rc": "FPGA"}, {"trait0": "CUSTOM_A"}]',
    rp_uuid: at === 0 ? null : uuid(701),
    driver_name: null,
    bitstream_id: at === 0 ? null : uuid(702),
    ...TIMES,
  })
  const version = (at: number) => ({
    version: at,
    enabled: at > 1,
    description: null,
    groups: [{ a: 'b' }],
    created_at: ago(at),
  })
  for (const [path, place, all] of things)
    for (const one of all) {
      const documents = {
        ...EVERYTHING,
        '/accelerator_requests/x/timeline': timeline,
        '/device_profiles/x/versions': { versions: [version(1), version(2)] },
        '/deployables': { deployables: [deployable(0), deployable(1)] },
        [path]: one,
      }
      text += await pagesOf(documents, [place], NOW)
    }
  await expect(text).toMatchFileSnapshot('golden/drawn-things.txt')
})
