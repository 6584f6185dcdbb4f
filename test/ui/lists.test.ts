/** The lists of the console: each state, each filter, the empty list, and what the API is asked for them. */
import { describe, expect, it, test } from 'vitest'
import { type Documents, ago, expectOwnKeys, expectSaid, pageOf, uuid } from './drawing.ts'
import { LINKS, MAY, NOTE, arq, device, handle, host, may, overview, profile, times } from './samples.ts'

const STATES = ['Initial', 'BindStarted', 'Bound', 'Unbound', 'BindFailed', 'UnbindFailed', 'Deleting', 'Other']
const free = { hostname: null, instance_uuid: null }
const LIVENESS = ['up', 'stale', 'down', 'removed', 'pending', 'other']
const hosts = LIVENESS.map((liveness, at) =>
  host({ name: `host-${at}`, liveness, last_seen_at: at === 2 ? null : ago(3000), retired: at === 0 ? NOTE : null }),
)
const devices = ['enabled', 'failing', 'missing'].map((state, at) =>
  device(400 + at, { state, arqs: at, model: at === 1 ? '' : 'T4', state_since: at === 0 ? null : ago(at * 60_000) }),
)
const handles = ['free', 'held', 'releasing', 'quarantined', 'missing', 'other'].map((each, at) => handle(at, each))
const delivery = (n: number, more: object = {}) => ({
  state: 'waiting',
  instance_uuid: uuid(n),
  hostname: `host ${n}`,
  request_id: `req-${n}`,
  statuses: { [uuid(100 + n)]: 'completed', [uuid(200 + n)]: 'failed' },
  attempts: n,
  next_at: ago(-1000 * n),
  until: ago(-60_000 * n),
  answers: {},
  ...more,
})
const ENDED = { state: 'undelivered', next_at: null, answers: { a: 'refused: 400', b: 'gone', c: 'refused: 400' } }
const ALL: Documents = {
  '/permissions': MAY,
  ...overview({
    arqs: { BindFailed: 2, UnbindFailed: 1, Bound: 1200 },
    handles: { missing: 1, quarantined: 2, free: 7 },
    hosts: { down: 2, stale: 3, pending: 2, up: 40 },
    deliveries: { waiting: 1, oldest_at: null, undelivered: 2 },
  }),
  '/accelerator_requests': { arqs: STATES.map((state, at) => arq(at, state, at % 2 ? {} : free)) },
  '/hosts': { hosts },
  '/devices': { devices },
  '/handles': { handles },
  '/device_profiles': {
    device_profiles: [
      profile({ enabled: false, groups: [{ 'resources:FPGA': '1', 'trait:A': 'required' }, { 'resources:GPU': '2' }] }),
    ],
  },
  '/deliveries': { deliveries: [delivery(1), delivery(2, { ...ENDED, next_at: ago(9) })], deliveries_links: LINKS },
}
const EMPTY: Documents = {
  '/permissions': MAY,
  ...overview({ arqs: {}, hosts: {}, device_states: {} }),
  '/accelerator_requests': { arqs: [] },
  '/hosts': { hosts: [] },
  '/devices': { devices: [] },
  '/handles': { handles: [] },
  '/device_profiles': { device_profiles: [] },
  '/deliveries': { deliveries: [] },
}

it.each<[string, readonly string[]]>([
  [
    'arqs',
    [
      '|Requests|All|1 203|Bound|1 200|BindFailed|2|UnbindFailed|1|',
      '|State|Request|Profile|Host|Instance|Created|',
      `|Initial|${uuid(0)}|profile 0|–|–|2 h ago|`,
      `|BindStarted|${uuid(1)}|profile 1|host 1|${uuid(50)}|2 h ago|`,
      ...STATES.slice(2).map((state, at) => `|${state}|${uuid(at + 2)}|profile ${at + 2}|`),
      '|Open it here|',
    ],
  ],
  [
    'hosts',
    [
      '|All|47|up|40|stale|3|down|2|pending|2|',
      '|retired|host-0|3 s ago|2 h ago|stale|host-1|3 s ago|2 h ago|down|host-2|–|2 h ago|',
      'removed|host-3|3 s ago|2 h ago|pending|host-4|3 s ago|2 h ago|other|host-5|',
    ],
  ],
  [
    'devices',
    [
      '|State|Since|Device|Type|Model|Host|Requests|',
      `|enabled|–|${uuid(400)}|GPU|T4|host 1|0|failing|1 min ago|${uuid(401)}|GPU|host 1|1|`,
      `missing|2 min ago|${uuid(402)}|GPU|T4|host 1|2|`,
    ],
  ],
  [
    'handles',
    [
      '|All|10|free|7|quarantined|2|missing|1|',
      `|free|${uuid(0)}|host 1|–|held|${uuid(1)}|host 1|${uuid(1)}|releasing|${uuid(2)}|host 1|–|quarantined|`,
    ],
  ],
  [
    'profiles',
    ['|New profile|', '|a b|· no version is enabled|resources:FPGA=1|trait:A=required|resources:GPU=2|–|2 h ago|'],
  ],
  [
    'deliveries',
    [
      '|Told again|1|Undelivered|2|Dead letters|0|',
      '|Instance|Nova is to hear|Host|Tries|Next try|Told until|Request|',
      `|${uuid(1)}|completed|${uuid(101)}|failed|${uuid(201)}|host 1|1|just now|in 1 min|req-1|`,
      '|2 on this page|‹ Previous|Next ›|',
    ],
  ],
  [
    'deliveries?state=undelivered',
    [
      'It is told no more until an operator asks for it',
      `|${uuid(1)}|Tell Nova once more|completed|${uuid(101)}|failed|${uuid(201)}|host 1|1|–|in 1 min|`,
      '|host 2|2|refused: 400; gone|in 2 min|',
      '|accelerando delivery resend INSTANCE --reason TEXT|',
    ],
  ],
])('%s shows each entry with its state, and how many there are of each state', async (place, texts) => {
  const { said, status } = await pageOf(ALL, place)
  expect(status).toBe(200)
  expectSaid(said, texts)
})
it.each<[string, readonly string[]]>([
  ['arqs', ['|There is no accelerator request|', '|openstack accelerator arq create PROFILE|']],
  ['hosts', ['|No host has reported yet|', '|accelerando host|']],
  ['devices', ['|No host has reported a device|', '|accelerando device scan|']],
  ['handles', ['|No host has reported a device with attach handles|', '|accelerando device scan|']],
  ['profiles', ['|There is no device profile|', '|openstack accelerator device profile create NAME ']],
  ['deliveries', ['|Nova has heard everything|']],
  ['deliveries?state=undelivered', ['|Nothing is undelivered|']],
  ['arqs?state=Bound', ['|Bound|0|Nothing matches this filter|Clear the filter|']],
  ['hosts?liveness=down', ['|down|0|Nothing matches this filter|Clear the filter|']],
  ['devices?vendor=10de', ['|vendor |10de|×|Nothing matches this filter|Clear the filter|']],
])('%s without an entry says what would make one', async (place, texts) => {
  expectSaid((await pageOf(EMPTY, place)).said, texts)
})
it.each([
  ['arqs?state=Bound', '/accelerator_requests?state=Bound&limit=51&sort_key=created_at&sort_dir=desc', '|All|1 203|'],
  [
    'arqs?instance=i1&state=Bound&other=x',
    '/accelerator_requests?state=Bound&instance=i1&limit=51&sort_key=created_at&sort_dir=desc',
    '|instance |i1|×|',
  ],
  [
    'arqs?project_id=p1',
    '/accelerator_requests?project_id=p1&limit=51&sort_key=created_at&sort_dir=desc',
    '|project id |p1|×|',
  ],
  ['hosts?liveness=down', '/hosts?liveness=down&limit=51&sort_key=name&sort_dir=asc', '|down|2|'],
  [
    'devices?status=enabled&type=GPU',
    '/devices?status=enabled&type=GPU&limit=51&sort_key=created_at&sort_dir=asc',
    '|All|missing|failing|host silent|disabled|enabled|status |enabled|×|type |GPU|×|',
  ],
  [
    'devices?vendor=10de&hostname=h',
    '/devices?hostname=h&vendor=10de&limit=51&sort_key=created_at&sort_dir=asc',
    '|hostname |h|×|vendor |10de|×|',
  ],
  [
    'handles?state=free&hostname=h',
    '/handles?state=free&hostname=h&limit=51&sort_key=uuid&sort_dir=asc',
    '|hostname |h|×|',
  ],
  [
    'handles?deployable_uuid=d',
    '/handles?deployable_uuid=d&limit=51&sort_key=uuid&sort_dir=asc',
    '|deployable uuid |d|×|',
  ],
  ['deliveries?after=d1', '/deliveries?state=waiting&marker=d1', '|Told again|'],
  ['deliveries?state=other&after=a%20b', '/deliveries?state=waiting&marker=a%20b', '|Next try|'],
])('%s asks the API for exactly that, and shows what it is filtered by', async (place, asked, said) => {
  const page = await pageOf(ALL, place)
  expect(page.asked).toContain(asked)
  expect(page.said).toContain(said)
})
test('the entries of each list have keys of their own', async () => {
  await expectOwnKeys(['', 'arqs', 'hosts', 'devices', 'handles', 'profiles', 'deliveries'], (place) =>
    pageOf(ALL, place),
  )
})

describe('a delivery that has ended', () => {
  const undelivered = { '/deliveries': { deliveries: [delivery(1, ENDED)] } }
  it.each<[string, Documents, string]>([
    [
      'where there is no Nova',
      { '/permissions': MAY, ...overview({ program: { nova: 'absent' } }) },
      'no Nova is configured that could be told',
    ],
    ['without the right', may({ 'cyborg:delivery:resend': false }), 'your roles do not allow cyborg:delivery:resend'],
  ])('%s cannot be told once more, and says why', async (_, documents, why) => {
    const { said } = await pageOf({ ...undelivered, ...documents }, 'deliveries?state=undelivered')
    expect(said).toContain(`|Tell Nova once more: ${why}|`)
  })
})

describe('the overview', () => {
  const LATEST = { '/accelerator_requests': { arqs: [arq(1, 'BindFailed')] } }
  it.each<[string, Documents, readonly string[]]>([
    [
      'counts what needs attention, the worst first, with the command that mends it',
      { ...ALL, ...overview({ arqs: { BindFailed: 2 }, hosts: { down: 2, up: 40, stale: 3 } }), ...LATEST },
      [
        '|2 things need attention|2 hosts are down|systemctl restart accelerando-host|',
        '|2 requests could not be bound|accelerando arq timeline UUID|',
        '|3 hosts are silent for a while|systemctl status accelerando-host|',
        '|Hosts|45|40|up|3|stale|2|down|',
        `|Could not be bound|All|State|Request|Profile|Host|Instance|Created|BindFailed|${uuid(1)}|`,
        '|Latest requests|All|',
      ],
    ],
    [
      'tells what only waits from what is wrong',
      { ...EMPTY, ...overview({ hosts: { stale: 1, pending: 1 } }) },
      ['|Nothing is wrong; some things wait|1 host is silent for a while|', '|accelerando host approve NAME'],
    ],
    [
      'says that all is well, and when something was recorded last',
      { ...EMPTY, ...overview() },
      [
        '|All is well: 2 hosts, each in order, and nothing is stuck. The last event was recorded 1 min ago.|',
        '|Requests|2|2|Bound|Hosts|2|2|up|Devices|2|2|enabled|Attach handles|0|0|free|',
        '|No request was made yet|',
      ],
    ],
    [
      'shows the requests where it cannot be counted',
      LATEST,
      ['|Overview|There is no such thing|', '|Could not be bound|'],
    ],
  ])('%s', async (_, documents, texts) => {
    expectSaid((await pageOf({ '/permissions': MAY, ...documents }, '')).said, texts)
  })
})
test('a list that is cut says which entries are on the page', async () => {
  const { said } = await pageOf({ ...ALL, '/hosts': { hosts: times(51, (at) => host({ name: `h${at}` })) } }, 'hosts')
  expectSaid(said, ['|h49|', '!|h50|', '50', 'Next ›|'])
})
