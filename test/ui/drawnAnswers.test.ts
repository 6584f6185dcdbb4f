/**
 * The pages that answer a question, and those about profiles and dead letters, over an API that tells of everything
 * that can be: each note, each limit on both sides, what is missing. `-u` where a change is meant.
 */
import { expect, it } from 'vitest'
import { NOW, TIMES, ago, noWaiting, keysDuring, pagesOf, uuid } from './drawing.ts'

type Documents = Readonly<Record<string, unknown>>
const MAY = { user_id: 'u1', user_name: 'kim', project_id: 'p1', project_name: null, permissions: {} }
const none = { count: 0, last_at: null }
const overview = (program: Readonly<Record<string, string>>) => ({
  counted_at: ago(0),
  arqs: {},
  handles: {},
  hosts: { up: 1 },
  devices: {},
  orders: noWaiting,
  deliveries: { waiting: 4, oldest_at: null, undelivered: 5 },
  program,
  failing_devices: 0,
  device_states: { enabled: 2 },
  vanished: { devices: 0, arqs: 0, instances: 0, since: null, cards: [] },
  failing: { devices: 0, arqs: 0, instances: 0, since: null, cards: [] },
  placement: {},
  binds: { late: 0, next_deadline_at: null },
  overdue_since: null,
  journal: { newest_at: null, untold_since: null, writing_stopped: false },
  found: {
    views_differing: none,
    orphan_handles: none,
    slot_differences: none,
    reports_refused: none,
    dead_letters: { count: 6, last_at: ago(1000) },
  },
  views_checked: 0,
})
const links = [{ href: 'x', rel: 'next' }]

const obstacle = (code: string, change: string, ...stops: readonly string[]) => ({
  code,
  reason: `why ${code}`,
  change,
  stops,
})
const candidate = (n: number, ...obstacles: readonly object[]) => ({
  name: `part ${n}`,
  deployable_uuid: uuid(n),
  obstacles,
})
const EXPLAINED = {
  fits: false,
  hosts_checked: 3,
  devices_checked: 1200,
  hosts_fitting: 0,
  placement: 'not_configured',
  groups: [
    {
      group: 0,
      arqs: 1,
      devices: 0,
      removed: { vendor: 2, product: 1 },
      nearest: { ...candidate(1, obstacle('trait', 'choose another.', 'bind', 'work')), host: 'host 1' },
    },
    { group: 1, arqs: 2, devices: 5, removed: {}, nearest: null },
  ],
  hosts: [
    {
      host: 'host 1',
      fits: false,
      obstacles: [obstacle('retired', 'restore it', 'placement', 'something new')],
      groups: [
        { group: 0, devices: [candidate(2, obstacle('busy', 'wait', 'bind')), candidate(3)], left_out: 1 },
        { group: 1, devices: [], left_out: 0 },
      ],
    },
    { host: 'h2', fits: true, obstacles: [], groups: [] },
  ],
  hosts_left_out: 4,
}
const FITS = { ...EXPLAINED, fits: true, hosts_checked: 1, hosts_fitting: 1, groups: [], hosts: [], hosts_left_out: 0 }

const amounts = (held: number, free: number, withheld: number, broken: number) => ({
  total: held + free + withheld + broken,
  held,
  free,
  withheld,
  broken,
})
const amountHosts = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ host: `host ${at}`, ...amounts(at, count - at, 2, 3) }))
const CAPACITY = {
  counted_at: ago(3000),
  capacity: [
    { resource_class: 'FPGA', traits: ['CUSTOM_A', 'CUSTOM_B'], ...amounts(3, 231, 5, 7), hosts: amountHosts(21) },
    { resource_class: 'PGPU', traits: [], ...amounts(190, 210, 40, 60), hosts: amountHosts(20) },
    { resource_class: 'NONE', traits: [], ...amounts(1, 0, 0, 0), hosts: [{ host: 'h', ...amounts(1, 0, 0, 0) }] },
  ],
}

const used = (project: string | null, name: string, seconds: number) => ({
  project_id: project,
  resource_class: name,
  from: ago(86_400_000),
  until: ago(1000),
  device_seconds: seconds,
  bindings: 1000 + seconds,
})
const USAGE = {
  from: ago(90_000_000),
  until: ago(2000),
  as_of: ago(500),
  period: 'total',
  usage: [
    used(null, 'FPGA', -1),
    used('=1+1', 'a,b', 2),
    used('+p', 'say "so"', 3),
    used('-p', 'two\nlines', 4),
    used('@p', 'a\rb', 5),
    used('\tp', 'p=1', 6),
    used('\rp', 'plain', 7),
  ],
}

const event = (n: number, type: string, more: object = {}) => ({ id: `7-${n}`, event: { type, ...more } })
const fact = (entity: unknown, facts: object) => ({
  subject: uuid(1),
  time: ago(12_345),
  data: { entity, event: { type: 'X', ...facts } },
})
/** Facts whose JSON has this length. */
const long = (length: number) => ({ a: 'x'.repeat(length - '{"a":""}'.length) })
const EVENTS = {
  events: [
    ...['arq', 'device', 'host', 'instance', 'profile', 'deployable'].map((kind, at) =>
      event(at, `accelerando.fact.Of${at}`, fact(`${kind}/${uuid(1)}`, { number: at, nothing: null })),
    ),
    event(10, 'accelerando.fact.Long', fact('arq/x', long(240))),
    event(11, 'accelerando.fact.Longer', fact('arq/x', long(241))),
    event(12, 'something.else'),
    event(13, 'accelerando.fact.Odd', fact(7, {})),
  ],
  next: '7-99',
  more: true,
}

const program = (n: number, state: string, more: object = {}) => ({
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
const PROGRAMS = {
  programs: [
    program(1, 'empty'),
    program(2, 'loaded', { image_uuid: uuid(201), former_image_uuid: uuid(202), since: ago(61_000) }),
    program(3, 'running', { programmable: false }),
    program(4, 'failed', { reason: 'image_corrupt: other bytes' }),
    program(5, 'failed', { reason: 'image_corruption' }),
    program(6, 'failed', { reason: 'no image_corrupt' }),
    program(7, 'something new'),
  ],
  programs_links: links,
}

const handled = (by: string | null, reason: string | null, request: string | null) => ({
  at: ago(30_000),
  by,
  reason,
  request_id: request,
})
const letter = (n: number, more: object = {}) => ({
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
  ...more,
})
const LETTERS = [
  letter(1),
  letter(2, { partition: null, offset: null, key: '', cut: true, replay_refusal: 'too long' }),
  letter(3, { state: 'replayed', handled: handled('kim', 'mended', 'req-3') }),
  letter(4, { state: 'dropped', handled: handled(null, null, null) }),
]
const detail = (n: number, more: object = {}) => ({
  ...letter(n, more),
  headers: { 'a\u202Eb': 'c\u0007d' },
  value: 'text\u0000\n\tmore',
  ...more,
})
const DETAILS: Documents = {
  '/dead_letters/open': detail(1),
  '/dead_letters/cut': detail(2, { key: '', cut: true, replay_refusal: 'too long', value: '' }),
  '/dead_letters/replayed': detail(3, { state: 'replayed', handled: handled('kim', 'mended', 'req-3') }),
  '/dead_letters/dropped': detail(4, { topic: 'arq.state.v1', state: 'dropped', handled: handled(null, null, null) }),
}

const PROFILE = {
  uuid: uuid(900),
  name: 'a b',
  description: null,
  groups: [{ 'resources:FPGA': '1' }],
  version: 3,
  enabled: true,
  projects: null,
  ...TIMES,
}
const version = (n: number, groups: readonly object[], more: object = {}) => ({
  version: n,
  enabled: n !== 2,
  description: null,
  groups,
  created_at: ago(n * 60_000),
  ...more,
})
const VERSIONS = [
  version(1, [{ 'resources:FPGA': '1', 'trait:CUSTOM_A': 'required', 'accel:function_id': '7', other: '1' }]),
  version(2, [{ 'resources:FPGA': '2', other: '2' }, { 'resources:PGPU': '1' }], { description: 'words' }),
  version(3, [{ 'resources:FPGA': '2', other: '2' }], { description: 'others' }),
  version(4, [{ 'resources:FPGA': '2', other: '2' }], { description: 'others' }),
]
const profileWith = (versions: readonly object[], more: object = {}): Documents => ({
  '/permissions': MAY,
  '/device_profiles/a%20b': { device_profile: { ...PROFILE, ...more } },
  '/device_profiles/a%20b/versions': { versions },
})

const ALL: Documents = {
  '/permissions': MAY,
  '/overview': overview({ placement: 'in use' }),
  '/device_profiles/p%201/check': EXPLAINED,
  '/device_profiles/one/check': FITS,
  '/device_profiles/two/check': { ...FITS, placement: 'asked', hosts_checked: 2, hosts_fitting: 2, hosts_left_out: 1 },
  '/device_profiles/away/check': { ...FITS, placement: 'unreachable' },
  '/device_profiles/new/check': { ...FITS, placement: 'something new' },
  '/profile_checks': FITS,
  '/capacity': CAPACITY,
  '/usage': USAGE,
  '/events': EVENTS,
  '/programs': PROGRAMS,
  '/dead_letters': { dead_letters: LETTERS, dead_letters_links: links },
  ...DETAILS,
}
const NOTHING: Documents = {
  '/permissions': MAY,
  '/overview': overview({}),
  '/capacity': { ...CAPACITY, capacity: [] },
  '/usage': { ...USAGE, usage: [] },
  '/events': { events: [], next: '8-1', more: false },
  '/programs': { programs: [] },
  '/dead_letters': { dead_letters: [] },
}
const FEW: Documents = {
  '/permissions': MAY,
  '/capacity': { ...CAPACITY, capacity: [] },
  '/events': { ...EVENTS, events: EVENTS.events.slice(0, 1), more: false },
  '/programs': { programs: PROGRAMS.programs.slice(0, 1) },
  '/dead_letters': { dead_letters: LETTERS.slice(0, 1) },
}
const ASKED = [
  'explain',
  'explain?profile=p%201',
  'explain?profile=p%201&host=h%201',
  ...['one', 'two', 'away', 'new', 'none'].map((name) => `explain?profile=${name}`),
  'explain?profile=one&draft=[]&host=h%201',
  'explain?draft=[oops&host=h%201',
  'capacity',
  'capacity?resource_class=FPGA&trait=CUSTOM_A&other=x',
  'usage',
  'usage?from=2026-01-01&until=2026-02-01&period=month&project_id=p1&other=x',
  'usage.csv?period=day',
  'events?after=0',
  'events?after=7-1&kind=arq&type=Bound&subject=s&host=h&instance=i&project=p&request=r&other=x',
  'programs',
  'programs?after=u%201',
  'letters',
  'letters?state=replayed',
  'letters?topic=t%201&state=dropped&after=u%201&other=x',
  'letters?state=other&topic=t',
  ...['open', 'open?form=hex', 'open?form=other', 'cut', 'replayed', 'dropped', 'none'].map((id) => `letters/${id}`),
]

it('the keys of the entries, of which no two in one list are the same', async () => {
  const text = await keysDuring(ASKED, (place) => pagesOf(ALL, [place], NOW))
  await expect(text).toMatchFileSnapshot('golden/keys-answers.txt')
})
it.each<[string, Documents, readonly string[]]>([
  ['answers', ALL, ASKED],
  ['no answers', NOTHING, ASKED.filter((place) => !/explain|letters\/|csv/.test(place))],
  ['few answers', FEW, ['capacity', 'events?after=0&kind=arq', 'programs', 'letters', 'letters?topic=t']],
])('pages with %s, and what the API was asked for them', async (name, documents, places) => {
  await expect(await pagesOf(documents, places, NOW)).toMatchFileSnapshot(`golden/drawn-${name.replace(' ', '-')}.txt`)
})
it.each([
  ['unreachable', 'bad'],
  ['absent', 'idle'],
])('capacity says of a Placement that is %s what its numbers are then worth', async (said, tone) => {
  const page = await pagesOf({ ...NOTHING, '/overview': overview({ placement: said }) }, ['capacity'], NOW)
  expect(page).toMatch(new RegExp(`<p class="headline">\\s*<svg class="mark ${tone}"[\\s\\S]*of this service`))
})
it('a draft may have 8000 characters, and one with more is not sent', async () => {
  const draft = (length: number) => `[${' '.repeat(length - 2)}]`
  const page = (length: number) => pagesOf(ALL, [`explain?draft=${encodeURIComponent(draft(length))}`], NOW)
  expect(await page(8000)).toContain('asked /v2/profile_checks\n')
  const long_ = await page(8001)
  expect(long_).not.toContain('profile_checks')
  expect(long_).toContain('The draft must not have more than 8000 characters.')
})
it('a profile, its versions, and two of them compared', async () => {
  const [one, two, three, four] = VERSIONS as [object, object, object, object]
  const compared = (...asked: readonly string[]) => asked.map((query) => `profiles/a%20b/versions${query}`)
  const text = [
    await pagesOf(
      profileWith([one, two, three, four], { projects: ['p1', 'p2'] }),
      ['profiles/a%20b', ...compared('', '?from=1&to=2', '?from=2&to=1', '?from=2&to=3', '?from=9', '?to=x')],
      NOW,
    ),
    await pagesOf(profileWith([one], { projects: [] }), ['profiles/a%20b', ...compared('')], NOW),
    await pagesOf(profileWith([], { version: 4 }), ['profiles/a%20b'], NOW),
    await pagesOf(profileWith([two], { enabled: false }), ['profiles/a%20b', ...compared('')], NOW),
    await pagesOf({ '/permissions': MAY }, ['profiles/a%20b', ...compared('')], NOW),
  ]
  await expect(text.join('')).toMatchFileSnapshot('golden/drawn-versions.txt')
})
