/** What the API asks the control for each request: every argument, what is left out, and the limits of each number. */
import { describe, expect, test } from 'vitest'
import { done } from '../../src/vocabulary/fault.ts'
import type { AppParts } from '../../src/http/app.ts'
import { as, version } from './steps.ts'
import type { Sent } from './steps.ts'
import { type Asked, at, tell, uuid } from './toldControl.ts'

const [A, B, C] = [uuid(1), uuid(2), uuid(3)] as const
const NO_ROWS = { items: [], next: null }
const REASON = ' of a test '
const NOTE = { by: 'op-7', reason: 'of a test' }
const THE_CALLER = 'the caller'

/** Lists are read in portions of 500 where nobody says less. */
const ALL = { limit: 500 }
describe('a list is asked for', () => {
  test.each<[path: string, call: string, given: readonly unknown[]]>([
    ['accelerator_requests', 'arqs.list', [THE_CALLER, {}, ALL]],
    [
      `accelerator_requests?instance=${A}&bind_state=resolved&arqs=${B},${C},${B}&state=Bound&project_id=p9`,
      'arqs.list',
      [THE_CALLER, { instance: A, uuids: [B, C], resolvedOnly: true, state: 'Bound', project: 'p9' }, ALL],
    ],
    ['accelerator_requests?bind_state=&state=&project_id=', 'arqs.list', [THE_CALLER, {}, ALL]],
    ['devices', 'devices.list', [{}, ALL]],
    [
      'devices?type=FPGA&vendor=v&hostname=h1&status=enabled&failing=false&state=missing',
      'devices.list',
      [{ type: 'FPGA', vendor: 'v', hostname: 'h1', status: 'enabled', failing: false, state: 'missing' }, ALL],
    ],
    ['devices?failing=TRUE', 'devices.list', [{ failing: true }, ALL]],
    ['devices?type=&vendor=&hostname=&status=&failing=', 'devices.list', [{}, ALL]],
    [
      'devices?filters.field=vendor&filters.value=v&filters[7].field=limit&filters[7].value=3',
      'devices.list',
      [{ vendor: 'v' }, { limit: 3 }],
    ],
    ['deployables', 'deployables.list', [{}, ALL]],
    [
      `deployables?name=n&device_id=0&device_uuid=${A}&rp_uuid=${B}`,
      'deployables.list',
      [{ name: 'n', deviceId: 0, deviceUuid: A, rpUuid: B }, ALL],
    ],
    ['attributes', 'attributes.list', [{}, ALL]],
    ['attributes?deployable_id=7&key=k', 'attributes.list', [{ deployableId: 7, key: 'k' }, ALL]],
    ['attributes?deployable_id=0&key=', 'attributes.list', [{}, ALL]],
    ['attributes?deployable_id=2147483647', 'attributes.list', [{ deployableId: 2_147_483_647 }, ALL]],
    ['hosts', 'hosts.list', [ALL, undefined]],
    ['hosts?liveness=retired&marker=h1', 'hosts.list', [{ limit: 500, marker: 'h1' }, 'retired']],
    ['handles', 'handles.list', [THE_CALLER, {}, ALL]],
    [
      `handles?state=held&hostname=h1&deployable_uuid=${A}`,
      'handles.list',
      [THE_CALLER, { state: 'held', hostname: 'h1', deployable_uuid: A }, ALL],
    ],
    ['drift', 'drift.list', [null, ALL, false]],
    ['drift?host=h1&nova=true', 'drift.list', ['h1', ALL, true]],
    ['drift/ignored', 'drift.ignored', [null, ALL]],
  ])('%s', async (path, call, given) => {
    // from 2.4 Placement is asked about deployables as well
    const { got, asked } = await tell(`GET /v2/${path}`, { [call]: NO_ROWS }, { headers: version(3) })
    expect([got.status, asked]).toEqual([200, [[call, ...given]]])
  })
  test('with the page that is asked for, whatever the list', async () => {
    const page = `limit=499&marker=${A}&sort_key=uuid&sort_dir=desc`
    for (const [path, call] of [
      ['accelerator_requests', 'arqs.list'],
      ['devices', 'devices.list'],
      ['deployables', 'deployables.list'],
      ['attributes', 'attributes.list'],
      ['device_profiles', 'profiles.list'],
      ['handles', 'handles.list'],
    ] as const) {
      const { asked } = await tell(`GET /v2/${path}?${page}`, { [call]: NO_ROWS })
      expect(asked[0], path).toContainEqual({ limit: 499, marker: A, sort: 'uuid', descending: true })
    }
  })
  test('by the integer id of a deployable that is named by its UUID, and is empty where there is none', async () => {
    const found = { 'deployables.get': { id: 9 }, 'attributes.list': NO_ROWS }
    const { asked } = await tell(`GET /v2/attributes?deployable_id=${A}`, found)
    expect(asked).toEqual([
      ['deployables.get', A],
      ['attributes.list', { deployableId: 9 }, ALL],
    ])
    const fault = (kind: string) => ({
      'deployables.get': async () => ({ ok: false, fault: { kind, reason: 'why', retryAfterSeconds: 1 } }),
    })
    const none = await tell(`GET /v2/attributes?deployable_id=${A}`, fault('not_found'))
    expect([none.got.status, none.got.json]).toEqual([200, { attributes: [] }])
    expect((await tell(`GET /v2/attributes?deployable_id=${A}`, fault('unavailable'))).got.status).toBe(503)
  })
})

test('events are asked for by each of their filters, at most a thousand at once', async () => {
  const asked: unknown[] = []
  const page = async (_caller: unknown, ...given: readonly unknown[]) => {
    asked.push(given)
    return done({ events: [], next: '0', more: false })
  }
  const query = 'type=a,b&kind=arq&subject=s&host=h1,h2&instance=i&project=p&request=r&limit=5000'
  await tell(`GET /v2/events?${query}`, {}, {}, { events: { page } as unknown as NonNullable<AppParts['events']> })
  const [types, hosts] = [
    ['a', 'b'],
    ['h1', 'h2'],
  ]
  const others = { kinds: ['arq'], subjects: ['s'], instances: ['i'], projects: ['p'], requests: ['r'] }
  expect(asked).toEqual([[{ after: null, filter: { types, hosts, ...others } }, 1000]])
})

describe('no more is read at once than', () => {
  test.each<[line: string, call: string, answer: unknown, given: readonly unknown[]]>([
    ['GET /v2/programs', 'deployables.programming', NO_ROWS, [{ limit: 50 }]],
    ['GET /v2/programs?limit=201', 'deployables.programming', NO_ROWS, [{ limit: 200 }]],
    ['POST /v2/drift/heal?limit=101', 'drift.list', NO_ROWS, [null, { limit: 100 }, false, true]],
    ['POST /v2/drift/heal', 'drift.list', NO_ROWS, [null, { limit: 100 }, false, true]],
  ])('%s', async (line, call, answer, given) => {
    const { got, asked } = await tell(line, { [call]: answer })
    expect([got.status, asked]).toEqual([200, [[call, ...given]]])
  })
})

describe('an answer', () => {
  test('says of a device that counts as bad that it is bad, whatever was measured since', async () => {
    const measured = { health: 'ok', reasons: [], at: at(9), numbers: {} }
    const health = async (failing: unknown) => {
      const told = { failing, measured, held: [] }
      const row = { uuid: A, created_at: at(1), updated_at: null }
      const answers = { 'devices.get': row, 'devices.standings': [null], 'devices.health': told }
      return (await tell(`GET /v2/devices/${A}`, answers)).got.json.health
    }
    expect(await health({ reason: 'hot', since: at(5) })).toMatchObject({ state: 'bad', reason: 'hot' })
    expect(await health(null)).toMatchObject({ state: 'ok', reason: null, since: null })
  })
  test('tells usage with its moments to the millisecond', async () => {
    const line = { project: 'p1', resourceClass: 'FPGA', from: at(1), until: at(2), deviceSeconds: 1, bindings: 1 }
    const report = { from: at(1), until: at(3), asOf: at(2), lines: [line] }
    const { json } = (await tell('GET /v2/usage', { usage: report })).got
    expect(json).toMatchObject({ from: '1970-01-01T00:00:01.999Z', as_of: '1970-01-01T00:00:02.999Z' })
    expect(json.usage[0]).toMatchObject({ until: '1970-01-01T00:00:02.999Z' })
  })
  test('counts the users of a card that it does not name', async () => {
    const users = Array.from({ length: 130 }, (_, n) => uuid(n))
    const detail = { users, running: null, failed: null, loaded: null, choices: { images: [], problem: null } }
    const { json } = (await tell(`GET /v2/programs/${A}`, { 'deployables.programDetail': detail })).got
    expect([json.arqs, json.arqs_left_out]).toEqual([users.slice(0, 100), 30])
  })
})

const operations = (op: string, ...paths: readonly string[]) => paths.map((path) => ({ op, path, value: A }))
describe('a command is passed on', () => {
  const reason = { reason: REASON }
  test.each<[line: string, body: unknown, status: number, asked: Asked]>([
    [`DELETE /v2/accelerator_requests/${A}`, undefined, 204, ['arqs.remove', THE_CALLER, [A]]],
    [`DELETE /v2/accelerator_requests?arqs=${A},${B},${A}`, undefined, 204, ['arqs.remove', THE_CALLER, [A, B]]],
    [`DELETE /v2/accelerator_requests?instance=${A}`, undefined, 204, ['arqs.removeByInstance', THE_CALLER, A]],
    [
      `PATCH /v2/accelerator_requests/${B}`,
      { [B]: operations('remove', '/hostname', 'instance_uuid') },
      202,
      ['arqs.unbind', THE_CALLER, [B]],
    ],
    [
      'PATCH /v2/accelerator_requests',
      {
        [B]: [
          ...operations('add', '/device_rp_uuid', '//instance_uuid'),
          { op: 'add', path: 'hostname', value: 'h1' },
          { op: 'add', path: '/project_id', value: 'p9' },
        ],
      },
      202,
      ['arqs.bind', THE_CALLER, [{ arq: B, hostname: 'h1', deviceRpUuid: A, instanceUuid: A, projectId: 'p9' }]],
    ],
    [`POST /v2/devices/${A}/enable`, undefined, 204, ['devices.setStatus', THE_CALLER, A, 'enabled']],
    [`POST /v2/devices/${A}/disable`, undefined, 204, ['devices.setStatus', THE_CALLER, A, 'maintaining']],
    [
      `POST /v2/devices/${A}/disable?dry_run=false`,
      undefined,
      204,
      ['devices.setStatus', THE_CALLER, A, 'maintaining'],
    ],
    ['DELETE /v2/device_profiles/fpga', undefined, 204, ['profiles.remove', THE_CALLER, ['fpga']]],
    [`DELETE /v2/device_profiles?name=fpga,${A}`, undefined, 204, ['profiles.remove', THE_CALLER, ['fpga', A]]],
    [`DELETE /v2/attributes/${A}`, undefined, 204, ['attributes.remove', THE_CALLER, A]],
    ['DELETE /v2/hosts/h1?reason=%20of%20a%20test', undefined, 204, ['hosts.remove', THE_CALLER, 'h1', NOTE, false]],
    [
      'DELETE /v2/hosts/h1?reason=x&force=true&reason=of%20a%20test',
      undefined,
      204,
      ['hosts.remove', THE_CALLER, 'h1', NOTE, true],
    ],
  ])('%s', async (line, body, status, asked) => {
    const got = await tell(line, { [asked[0]]: null }, body === undefined ? {} : { body })
    expect([got.got.status, got.got.text, got.asked]).toEqual([status, '', [asked]])
  })

  const ROW = { uuid: A, created_at: at(1), updated_at: null, handle_type: null, handle_info: null }
  test.each<[line: string, body: unknown, status: number, asked: Asked]>([
    ['POST /v2/accelerator_requests/ID/force_unbind', reason, 200, ['arqs.forceUnbind', THE_CALLER, A, NOTE]],
    [
      'POST /v2/attributes',
      { deployable_id: '0', key: 'k', value: true, parent_uuid: B.toUpperCase() },
      201,
      ['attributes.create', THE_CALLER, 0, 'k', 'true', B],
    ],
    [
      'POST /v2/attributes',
      { attribute: { deployable_id: 2_147_483_647, key: 'k'.repeat(255), value: 5, parent_uuid: null } },
      201,
      ['attributes.create', THE_CALLER, 2_147_483_647, 'k'.repeat(255), '5', undefined],
    ],
    [
      'POST /v2/device_profiles',
      [{ name: 'n', groups: [{ 'resources:FPGA': 2 }] }],
      201,
      ['profiles.create', THE_CALLER, { name: 'n', description: null, groups: [{ 'resources:FPGA': '2' }] }],
    ],
    [
      'POST /v2/device_profiles',
      { name: 'n', uuid: B.toUpperCase(), description: 'd', groups: [{ 'resources:FPGA': '2' }] },
      201,
      ['profiles.create', THE_CALLER, { uuid: B, name: 'n', description: 'd', groups: [{ 'resources:FPGA': '2' }] }],
    ],
  ])('%s with %o', async (line, body, status, asked) => {
    const got = await tell(line.replace('ID', A), { [asked[0]]: ROW }, { body })
    expect([got.got.status, got.got.json.uuid, got.asked]).toEqual([status, A, [asked]])
  })
  test('that makes accelerator requests, which are answered in their order', async () => {
    const answers = { 'arqs.create': [ROW, { ...ROW, uuid: B }] }
    const { got, asked } = await tell('POST /v2/accelerator_requests', answers, { body: { device_profile_name: 'f' } })
    expect([got.status, got.json.arqs.map((one: { uuid: string }) => one.uuid)]).toEqual([201, [A, B]])
    expect(asked).toEqual([['arqs.create', THE_CALLER, 'f']])
  })
})

test.each([
  ['capacity', 'GET /v2/capacity', undefined],
  ['usage', 'GET /v2/usage', undefined],
  ['timelines', `GET /v2/accelerator_requests/${A}/timeline`, undefined],
  ['explanations', 'POST /v2/device_profiles/f/check', undefined],
  ['explanations', 'POST /v2/profile_checks', { groups: [{ 'resources:FPGA': 1 }] }],
])('without a place of %s, nobody is asked: %s', async (share, line, body) => {
  const none = { what: share, all: 1, project: 0, waiting: 0, retryAfterSeconds: 3 }
  const { got, asked } = await tell(line, {}, body === undefined ? {} : { body }, { shares: { [share]: none } })
  expect([got.status, got.headers.get('retry-after'), asked]).toEqual([429, '3', []])
})

describe('the caller of a request', () => {
  const UNREAD = { asOf: () => ({}), 'profiles.list': NO_ROWS, 'arqs.list': NO_ROWS, 'arqs.remove': null, usage: {} }
  const callerOf = async (line: string, sent: Sent = {}, parts: Partial<AppParts> = {}) => {
    const clock = { now: () => 0, monotonic: () => 5000, after: () => () => {} }
    const { callers } = await tell(line, UNREAD, sent, { clock, ids: { uuid: () => A, ordered: () => B }, ...parts })
    return callers[0]
  }
  const TIMED = { notAfter: 18_000, isOver: expect.any(Function) as unknown }
  const plain = { userId: 'op-7', projectId: 'p1', isAdmin: true, isService: true, requestId: `req-${A}` }
  const list = 'GET /v2/accelerator_requests'
  test('is who the headers say, until the time of the request is over', async () => {
    expect(await callerOf(list)).toEqual({ ...plain, ...TIMED })
    const member = { headers: { ...as('member'), 'X-Service-Roles': 'reader' } }
    const nobody = { ...plain, userId: 'u1', isAdmin: false, isService: false }
    expect(await callerOf(list, member)).toEqual({ ...nobody, ...TIMED })
    expect(await callerOf(list, {}, { options: { answerMs: 7 } })).toEqual({ ...plain, ...TIMED, notAfter: 5007 })
    const spelled = { options: { serviceTokenRoles: ['Service'] } }
    expect(await callerOf(list, {}, spelled)).toEqual({ ...plain, ...TIMED })
  })
  test('has no end where the request may wait for hardware or for another service', async () =>
    expect(await callerOf('GET /v2/usage')).toEqual(plain))
  test.each([
    [`req-${C}`, `req-${C}`],
    [`REQ-${C.toUpperCase()}`, `REQ-${C.toUpperCase()}`],
    [C, `req-${A}`],
    [`req-${C}x`, `req-${A}`],
    [`xreq-${C}`, `req-${A}`],
    [`abc-${C}`, `req-${A}`],
    [`req-${C.replaceAll('-', '')}`, `req-${A}`],
  ])('is known by the request id %s as %s', async (given, requestId) => {
    const headers = { 'X-OpenStack-Request-Id': given }
    expect(await callerOf(list, { headers })).toMatchObject({ requestId })
  })
  const remove = `/v2/accelerator_requests?arqs=${B}`
  test.each([
    ['!', true],
    ['~'.repeat(255), true],
    ['k'.repeat(256), false],
    ['a b', false],
    ['a\u007f', false],
    ['\u00e9', false],
    ['', false],
  ])('may name the key %j: %s', async (key, taken) => {
    const { got, asked } = await tell(`DELETE ${remove}`, UNREAD, { headers: { 'Idempotency-Key': key } })
    const fault = 'Invalid Idempotency-Key: it must have 1 to 255 visible ASCII characters'
    expect([got.status, got.fault, asked.length]).toEqual(taken ? [204, '', 1] : [400, fault, 0])
  })
})
