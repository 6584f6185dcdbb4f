/**
 * Pages of single things and of the whole, in the states that are rare: what failed, what is missing, what is left out,
 * each limit on both sides, to the letter. `-u` where a change is meant.
 */
import { expect, it } from 'vitest'
import { NOW, TIMES, ago, noWaiting, pagesOf, uuid } from './drawing.ts'

type Documents = Readonly<Record<string, unknown>>
type Facts = Readonly<Record<string, unknown>>
const MAY = { user_id: 'u1', user_name: 'kim', project_id: 'p1', project_name: null, permissions: {} }
const MEMBER = { ...MAY, permissions: { 'cyborg:system:support_bundle': false, 'cyborg:drift:heal': false } }
const drawn = async (name: string, ...worlds: readonly (readonly [Documents, readonly string[]])[]) => {
  let text = ''
  for (const [documents, places] of worlds) text += await pagesOf({ '/permissions': MAY, ...documents }, places, NOW)
  await expect(text).toMatchFileSnapshot(`golden/drawn-${name}.txt`)
}
const times = <Item>(count: number, make: (at: number) => Item): readonly Item[] =>
  Array.from({ length: count }, (_, at) => make(at))

const INSTANCE = uuid(50)
const arq = (n: number, state: string, more: Facts = {}) => ({
  uuid: uuid(n),
  state,
  device_profile_name: `profile ${n}`,
  device_profile_group_id: n,
  hostname: 'host 1',
  device_rp_uuid: uuid(60 + n),
  instance_uuid: INSTANCE,
  project_id: `project ${n}`,
  attach_handle_type: 'PCI',
  attach_handle_uuid: uuid(70 + n),
  attach_handle_info: { domain: '0000', bus: '0c', device: '0a', function: '1' },
  ...TIMES,
  ...more,
})
type Given = readonly [step: string, msAgo: number, detail?: Facts]
const timeline = (n: number, given: readonly Given[], more: Facts = {}) => ({
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
const ACCEPTED = { hostname: 'node 1', host: 'host 1', order: 7, deadline: ago(-90_000), instance: INSTANCE }
const accepted = (ms: number, more: Facts = {}): Given => ['bind accepted', ms, { ...ACCEPTED, ...more }]
const told = (ms: number): Given => ['nova to be told', ms, { status: 'completed', until: ago(-300_000) }]
const AGAIN = 'nova not reached, will be told again'
type Member = readonly [state: string, steps: readonly Given[] | null]
/** An instance with these requests. Null: the timeline of the request cannot be read. */
const instanceOf = (...members: readonly Member[]): Documents => ({
  '/accelerator_requests': { arqs: members.map(([state], at) => arq(at, state)) },
  ...Object.fromEntries(
    members.flatMap(([, steps], at) =>
      steps === null ? [] : [[`/accelerator_requests/${uuid(at)}/timeline`, timeline(at, steps)]],
    ),
  ),
})
it('an instance: who has prepared what, how its bind ended, and what Nova answered', async () => {
  const page = [`instances/${INSTANCE}`]
  await drawn(
    'instances',
    [instanceOf(['Bound', [['created', 9000]]], ['Initial', null]), page],
    [
      instanceOf(
        ['BindStarted', [accepted(5000), ['prepared on the host', 2000]]],
        ['BindStarted', [accepted(5000, { order: null })]],
        ['BindStarted', [accepted(5000, { host: '' })]],
      ),
      page,
    ],
    [instanceOf(['BindStarted', [accepted(5000, { deadline: null, host: null })]]), page],
    [
      instanceOf(
        ['Bound', [accepted(9000), ['bound', 4000], ['nova not told', 3000]]],
        ['BindFailed', [accepted(9000), ['bind failed', 5000, { reason: '', code: 'host_failed' }], told(4000)]],
        ['BindFailed', [accepted(9000), ['bind failed', 6000]]],
      ),
      page,
    ],
    [
      instanceOf(
        ['BindStarted', [accepted(9000), ['bind failed', 5000, { reason: 'link down' }]]],
        ['BindFailed', [accepted(9000)]],
      ),
      page,
    ],
    [
      instanceOf(
        ['Bound', [accepted(9000), ['bound', 4000], told(4000)]],
        ['Bound', [accepted(9000), ['bound', 3000], told(3000), [AGAIN, 2000, { note: 'away', next_at: ago(-1000) }]]],
        ['Bound', [accepted(9000), ['bound', 3500], told(3000), ['nova told: refused', 1000, { note: '400' }]]],
        ['Bound', [accepted(9000), ['bound', 3500], told(3000), ['nova told: gone', 1000]]],
        ['Bound', [accepted(9000), ['bound', 3500], told(3000), ['nova told: undeliverable', 1000]]],
        ['Bound', [accepted(9000), ['bound', 3500], told(3000), ['nova told: delivered', 1000]]],
      ),
      page,
    ],
    [{ '/accelerator_requests': { arqs: [] } }, page],
    [{}, page],
  )
})

const requestOf = (one: object | null, steps: readonly Given[], more: Facts = {}): Documents => ({
  ...(one !== null && { '/accelerator_requests/00000000-0000-4000-8000-000000000001': one }),
  '/accelerator_requests/00000000-0000-4000-8000-000000000001/timeline': timeline(1, steps, more),
  '/accelerator_requests': { arqs: [arq(0, 'Bound'), arq(1, 'Bound'), arq(2, 'Bound')] },
})
it('a request: what it waits for and until when, what took longest, and how it ended', async () => {
  const page = [`arqs/${uuid(1)}`]
  const free = { instance_uuid: null, hostname: null, attach_handle_uuid: null, attach_handle_info: { bus: '0c' } }
  const bound: readonly Given[] = [['created', 90_000], accepted(20_000), ['bound', 8000, { host_work_ms: 500 }]]
  const slow: readonly Given[] = [['created', 90_000], accepted(20_000), ['prepared on the host', 17_000]]
  await drawn(
    'requests',
    [
      requestOf(arq(1, 'Bound'), [...slow, ['bound', 8000], ['nova told: delivered', 7000]]),
      ['', '?open=1', '?open=5', '?open=5.1', '?open=7&t=table&r=1'].map((query) => `${page[0]}${query}`),
    ],
    [requestOf(arq(1, 'Initial', free), [['created', 9000]]), page],
    [requestOf(arq(1, 'BindStarted'), [accepted(5000)]), [...page, `${page[0]}?t=bars&r=1`, `${page[0]}?t=table`]],
    [requestOf(arq(1, 'BindStarted'), [accepted(95_000, { deadline: ago(0), order: null })]), page],
    [requestOf(arq(1, 'BindStarted'), [accepted(95_000, { deadline: null })]), page],
    [requestOf(arq(1, 'Bound'), [...bound, told(7000), [AGAIN, 6000, { next_at: ago(-2000) }]]), page],
    [requestOf(arq(1, 'Bound'), [['bound', 8000], told(7000)]), page],
    [requestOf(arq(1, 'Bound'), [...bound, ['nova told: delivered', 8000]]), page],
    [requestOf(arq(1, 'Bound'), [accepted(8000), ['bound', 8000], ['nova told: gone', 8000]]), page],
    [requestOf(arq(1, 'BindFailed'), [accepted(5000), ['bind failed', 4000, { code: 'gone' }]]), page],
    [
      requestOf(arq(1, 'BindFailed'), [
        ['bind failed', 4000],
        ['nova not told', 4000],
      ]),
      page,
    ],
    [requestOf(arq(1, 'BindFailed'), [accepted(5000), ['bind failed', 4000], ['nova not told', 3900]]), page],
    [requestOf(null, [...bound, ['unbound', 100], ['deleted', 50]], { deleted: true }), page],
    [
      requestOf(arq(1, 'Bound'), bound),
      [`${page[0]}?as_of=${ago(8000)}&t=table`, `${page[0]}?as_of=${ago(-8000)}`, `${page[0]}?as_of=noon`],
    ],
    [{}, page],
  )
})

const never = { count: 0, last_at: null }
const overview = (more: Facts = {}) => ({
  counted_at: ago(0),
  arqs: { Bound: 2 },
  handles: {},
  hosts: { up: 2 },
  devices: {},
  orders: noWaiting,
  deliveries: { ...noWaiting, undelivered: 0 },
  program: { version: '9.9', store: 'memory', nova: 'absent' },
  failing_devices: 0,
  device_states: { enabled: 2 },
  vanished: { devices: 0, arqs: 0, instances: 0, since: null, cards: [] },
  failing: { devices: 0, arqs: 0, instances: 0, since: null, cards: [] },
  placement: {},
  binds: { late: 0, next_deadline_at: null },
  overdue_since: null,
  journal: { newest_at: ago(61_000), untold_since: null, writing_stopped: false },
  found: {
    views_differing: never,
    orphan_handles: never,
    slot_differences: never,
    reports_refused: never,
    dead_letters: never,
  },
  views_checked: 1,
  ...more,
})
const SYSTEM = {
  process: { program: 'start', machine: 'laptop', pid: 12, started_at: ago(5000) },
  versions: { accelerando: '9.9', node: '24.0.0', schema: null, newer: ['16', '17'], api: { min: '2.0', max: '2.3' } },
  store: { kind: 'memory', power_loss: 'everything' },
  neighbours: [],
  configuration: [],
  consumers: { bus: 'kafka', lags: null, lags_left_out: 0, problem: null },
  journal_writes: { count: 1, since: ago(1000), p50_ms: 9.99, p90_ms: 10, p99_ms: 999, max_ms: 1000 },
  last_audit: {
    at: ago(3_600_000),
    version: '9.8',
    invariants: 57,
    violations: 0,
    violated: [],
    rows: 1,
    seconds: 0.5,
    sources: ['the database'],
  },
  last_audit_problem: null,
}
const option = (key: string, source: string) => ({ key, value: { a: 1 }, source, from: null, secret: false })
it('the system and the overview: what was found, what is not known, and what was lost', async () => {
  const lag = (partition: number, messages: number) => ({ topic: 't', group: 'g', partition, messages })
  const lags = [lag(0, 1), lag(1, 0)]
  const unread = {
    ...SYSTEM,
    last_audit_problem: 'a row is damaged',
    consumers: { ...SYSTEM.consumers, problem: 'away' },
  }
  const found = { ...overview().found, orphan_handles: { count: 1200, last_at: ago(4000) } }
  const stopped = overview({ found, journal: { newest_at: null, untold_since: ago(5000), writing_stopped: true } })
  const one = { ...SYSTEM, configuration: [option('a', 'default')], consumers: { ...SYSTEM.consumers, lags } }
  const set = { ...SYSTEM, configuration: [option('a', 'file'), option('b', 'default'), option('c', 'default')] }
  const failed = { '/accelerator_requests': { arqs: [arq(1, 'BindFailed')] } }
  await drawn(
    'system',
    [{ '/permissions': MEMBER, '/system': SYSTEM, '/overview': overview() }, ['system']],
    [{ '/system': unread, '/overview': stopped }, ['system', '']],
    [{ '/system': one }, ['system']],
    [{ '/system': { ...set, last_audit: { ...SYSTEM.last_audit, violations: 1, violated: ['S1'] } } }, ['system']],
    [{ '/overview': overview() }, ['system']],
    [{ '/overview': overview({ journal: { ...overview().journal, newest_at: null } }), ...failed }, ['']],
    [{ ...failed }, ['']],
  )
})

it('deliveries: what Nova is told again, what it has answered, and whether it can be told once more', async () => {
  const delivery = (n: number, more: Facts = {}) => ({
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
  const ended = { state: 'undelivered', next_at: null, answers: { a: 'refused: 400', b: 'gone', c: 'refused: 400' } }
  const nova = (said: string) => ({ '/overview': overview({ program: { nova: said } }) })
  const links = { deliveries_links: [{ href: 'x', rel: 'next' }] }
  const all = { deliveries: [delivery(1), delivery(2, ended), delivery(3, { ...ended, answers: {} })] }
  const permissions = { ...MAY, permissions: { 'cyborg:delivery:resend': false } }
  const places = ['deliveries', 'deliveries?state=undelivered', 'deliveries?state=other&after=a%20b']
  await drawn(
    'deliveries',
    [{ ...nova('in use'), '/deliveries': { ...all, ...links } }, places],
    [{ ...nova('absent'), '/deliveries': all }, places.slice(1)],
    [{ '/permissions': permissions, '/deliveries': all }, [places[1]!]],
    [nova('in use'), [places[0]!]],
  )
})

const entry = (n: number, more: Facts = {}) => ({
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
const IGNORED = { by: 'kim', reason: 'known', at: ago(9000), until: ago(-86_400_000) }
const compared = (host: string, entries: readonly object[], trouble: object | null = null) => ({
  host,
  compute_node_uuid: null,
  checked_at: null,
  trouble,
  entries,
})
const ignoredRow = (n: number) => ({
  ...IGNORED,
  uuid: uuid(n),
  host: `host ${n}`,
  kind: 'provider',
  name: 'board',
  consumer_uuid: uuid(3),
  difference_reason: 'Nova has it',
  ended: null,
})
it('drift: of one host, what is ignored, and what is asked before it is ignored', async () => {
  const drift = (some: readonly object[]) => ({ '/drift': { drift: some } })
  const ignored = (count: number) => ({ '/drift/ignored': { ignored: times(count, ignoredRow) } })
  const host1 = [
    compared('host 1', [
      entry(1, { reason: 'gone', consumer_uuid: uuid(9) }),
      entry(2, { repairs: ['provider'] }),
      entry(3, { ignored: IGNORED, kind: 'something new' }),
    ]),
  ]
  const asks = [1, 2, 3, 4].map((n) => `differences/${uuid(n)}.host%201/do/ignore`)
  const trouble = (reason: string | null) => [compared('host 1', [], { state: 'unreachable', reason })]
  await drawn(
    'drift',
    [{ ...drift(host1), ...ignored(1) }, ['drift?host=host%201&after=h%201', ...asks]],
    [{ '/permissions': MEMBER, ...drift(host1) }, ['drift', asks[0]!]],
    [{ ...drift([compared('h1', [entry(1, { ignored: IGNORED })])]), ...ignored(2) }, ['drift']],
    [{ ...drift([compared('h1', []), compared('h2', [])]) }, ['drift']],
    [drift(trouble('no answer')), ['drift', asks[0]!]],
    [drift(trouble(null)), ['drift', asks[0]!]],
    [{}, ['drift', asks[0]!, `ignored/${uuid(1)}/do/unignore`]],
    [{ [`/drift/ignored/${uuid(1)}`]: ignoredRow(1) }, [`ignored/${uuid(1)}/do/unignore`]],
    [
      { [`/drift/ignored/${uuid(1)}`]: { ...ignoredRow(1), ended: IGNORED, difference_reason: null } },
      [`ignored/${uuid(1)}/do/unignore`],
    ],
  )
})
it.each<[string, Documents, string, string | null]>([
  ['16 requests', instanceOf(...times(16, (): Member => ['Bound', null])), `instances/${INSTANCE}`, null],
  [
    '17',
    instanceOf(...times(17, (): Member => ['Bound', null])),
    `instances/${INSTANCE}`,
    '16 of 17 requests are shown',
  ],
  ['100 differences that are ignored', { '/drift/ignored': { ignored: times(100, ignoredRow) } }, 'drift', null],
  [
    '101',
    { '/drift/ignored': { ignored: times(101, ignoredRow) } },
    'drift',
    'There are more: accelerando drift ignored',
  ],
])('what is left out is told: of %s', async (_, documents, place, said) => {
  const page = await pagesOf({ '/permissions': MAY, ...documents }, [place], NOW)
  expect(/<p class="rest dim">([^<.]*)/.exec(page)?.[1] ?? null).toBe(said)
})
