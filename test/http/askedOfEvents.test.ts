/** What the API asks for events, of a changed profile and for a support bundle, and how a caller is identified. */
import { describe, expect, test } from 'vitest'
import { done } from '../../src/fault.ts'
import { noauth } from '../../src/http/identity.ts'
import { identifyAgainAs } from '../../src/http/identifyAgain.ts'
import { refused } from '../../src/http/faults.ts'
import { createFilters, withFilters } from '../../src/http/filters.ts'
import { flag, integer, intText, list, oneOf, pairsOf, text, uuid as uuidArg } from '../../src/http/query.ts'
import { UUID_SHAPE } from '../../src/http/shapes.ts'
import { tell, uuid } from './toldControl.ts'

const A = uuid(1)
const EVENT_ID = '5-2-de4984448e95'

describe('events', () => {
  const asked: unknown[] = []
  const events = {
    page: async (_: unknown, ...given: readonly unknown[]) => {
      asked.push(['page', ...given])
      return done({ events: [{ id: EVENT_ID, type: 't', text: '{"a":1}' }], next: '9', more: true })
    },
    open: async (_: unknown, given: unknown) => {
      asked.push(['open', given])
      return { ok: false, fault: { kind: 'crowded', reason: 'too many', retryAfterSeconds: 5 } }
    },
  }
  const ask = async (query: string, headers: Readonly<Record<string, string>> = {}) => {
    asked.splice(0)
    const { got } = await tell(`GET /v2/events${query}`, {}, { headers }, { events: events as never })
    return { got, asked: [...asked] }
  }
  test('are answered as a page, each with its id', async () => {
    const { got } = await ask('')
    expect([got.status, got.json]).toEqual([
      200,
      { events: [{ id: EVENT_ID, event: { a: 1 } }], next: '9', more: true },
    ])
  })
  test.each([
    ['', { after: null, filter: {} }, 100],
    ['?after=&type=&host=', { after: null, filter: {} }, 100],
    [`?after=${EVENT_ID}&limit=999`, { after: EVENT_ID, filter: {} }, 999],
    ['?after=0&limit=1000', { after: '0', filter: {} }, 1000],
    ['?limit=1001', { after: null, filter: {} }, 1000],
    [
      '?type=Bound,Unbound&kind=arq&subject=s&host=h1,h2&instance=i&project=p&request=r',
      {
        after: null,
        filter: {
          types: ['Bound', 'Unbound'],
          kinds: ['arq'],
          subjects: ['s'],
          hosts: ['h1', 'h2'],
          instances: ['i'],
          projects: ['p'],
          requests: ['r'],
        },
      },
      100,
    ],
    ['?host=,h1', { after: null, filter: { hosts: ['', 'h1'] } }, 100],
    ['?host=,', { after: null, filter: {} }, 100],
    [
      `?host=${Array.from({ length: 100 }, () => 'h').join(',')}`,
      { after: null, filter: { hosts: Array.from({ length: 100 }, () => 'h') } },
      100,
    ],
  ])('are asked for as by %s', async (query, wanted, limit) =>
    expect((await ask(query)).asked).toEqual([['page', wanted, limit]]),
  )
  test('go on after the last that was received, whatever the address says', async () => {
    const { asked: page } = await ask(`?after=0`, { 'Last-Event-ID': EVENT_ID })
    expect(page).toEqual([['page', { after: EVENT_ID, filter: {} }, 100]])
    expect((await ask('?after=0', { 'Last-Event-ID': '' })).asked).toEqual([['page', { after: '0', filter: {} }, 100]])
  })
  test.each(['text/event-stream', 'Text/Event-Stream;q=1', 'application/json, text/event-stream'])(
    'are streamed to who accepts %s, and a refusal is answered as any other',
    async (accept) => {
      const { got, asked: opened } = await ask('?limit=3&host=h1', { accept })
      expect(opened).toEqual([['open', { after: null, filter: { hosts: ['h1'] } }]])
      expect([got.status, got.fault, got.headers.get('retry-after')]).toEqual([429, 'too many', '5'])
    },
  )
})

describe('a change of a profile', () => {
  const row = { uuid: A, name: 'n', groups: [], projects: null, created_at: 0, updated_at: null }
  const answers = { 'profiles.find': row, 'profiles.update': row }
  const change = { ifVersion: null, enabled: true, versions: [] }
  test.each([
    [{ description: 'd' }, { ...change, description: 'd' }],
    [
      { description: null, enabled: false },
      { ...change, enabled: false, description: null },
    ],
    [
      { groups: [{ 'resources:FPGA': 1 }], enabled: true },
      { ...change, groups: [{ 'resources:FPGA': '1' }] },
    ],
    [{ projects: null }, { ...change, projects: null }],
    [{ projects: [' p1 ', 'p2', 'p1'] }, { ...change, projects: ['p1', 'p2'] }],
    [{ projects: [] }, { ...change, projects: [] }],
    [
      { versions: { 1: true, 999_999_999: false }, if_version: 2_147_483_647 },
      {
        ...change,
        ifVersion: 2_147_483_647,
        versions: [
          { version: 1, enabled: true },
          { version: 999_999_999, enabled: false },
        ],
      },
    ],
  ])('%j is passed on', async (body, passed) => {
    const { got, asked } = await tell('PATCH /v2/device_profiles/n', answers, { body: { ...body, reason: ' r ' } })
    expect([got.status, got.json.device_profile.uuid]).toEqual([200, A])
    expect(asked).toEqual([
      ['profiles.find', 'n', { caller: { isAdmin: true, projectId: '' }, disabled: true }],
      ['profiles.update', 'the caller', A, passed, 'r'],
    ])
  })
  test('is only told of where that is asked for, by the UUID as well', async () => {
    const impact = { refusal: null, effect: 'kept', devices: [], instances: [], projects: [], arqs: [], arqsLeftOut: 0 }
    const line = `PATCH /v2/device_profiles/${A.toUpperCase()}?dry_run=true`
    const body = { description: 'd', reason: 'r' }
    const { got, asked } = await tell(line, { ...answers, 'profiles.updateImpact': impact }, { body })
    expect([got.json.dry_run, asked[0]![0], asked[0]![1], asked[1]]).toEqual([
      true,
      'profiles.find',
      A,
      ['profiles.updateImpact', 'the caller', A, { ...change, description: 'd' }, 'r'],
    ])
  })
  test.each([
    ['PATCH /v2/device_profiles/n', { description: 'd', reason: 'r' }],
    ['GET /v2/device_profiles/n/versions', undefined],
    ['POST /v2/device_profiles/n/check', undefined],
  ])('or a question about one that is not there is 404: %s', async (line, body) => {
    const gone = async () => ({ ok: false, fault: { kind: 'not_found', resource: 'device_profile', id: 'n' } })
    const { got, asked } = await tell(line, { 'profiles.find': gone }, body === undefined ? {} : { body })
    expect([got.status, asked.length]).toEqual([404, 1])
  })
  test.each([
    ['uuid', 500],
    ['name', 409],
  ])('that is made with a %s that is taken is %i', async (field, status) => {
    const taken = async () => ({ ok: false, fault: { kind: 'exists', resource: 'device_profile', field, value: 'x' } })
    const body = [{ name: 'n', groups: [{ 'resources:FPGA': '1' }] }]
    const { got } = await tell('POST /v2/device_profiles', { 'profiles.create': taken }, { body })
    expect([got.status, got.json.errors[0].code, got.fault]).toEqual([
      status,
      'accelerator.exists',
      `A device profile with the ${field} x already exists.`,
    ])
  })
})

test('a support bundle is made with the headers that say who calls, and sent as a file', async () => {
  const asked: unknown[] = []
  const supportBundle = async (identity: unknown) => {
    asked.push(identity)
    return done({ name: 'b.tar.gz', type: 'application/gzip', content: new TextEncoder().encode('bytes') })
  }
  const headers = {
    'X-Auth-Token': 't',
    'X-Service-Token': 's',
    'X-Domain-Id': 'd',
    'OpenStack-System-Scope': '',
    'X-Other': 'o',
  }
  const { got } = await tell('GET /v2/system/support_bundle', {}, { headers }, { system: { supportBundle } as never })
  expect(asked).toEqual([
    {
      'x-auth-token': 't',
      'x-service-token': 's',
      'x-service-roles': 'service',
      'x-roles': 'admin',
      'x-user-id': 'op-7',
      'x-project-id': 'p1',
      'x-domain-id': 'd',
      'openstack-system-scope': '',
    },
  ])
  const sent = ['content-type', 'content-disposition', 'cache-control'].map((name) => got.headers.get(name))
  expect([got.text, ...sent]).toEqual(['bytes', 'application/gzip', 'attachment; filename="b.tar.gz"', 'no-store'])
})

describe('without an identity service', () => {
  const read = (headers: Readonly<Record<string, string>>) =>
    noauth((name) => (headers as Readonly<Record<string, string | undefined>>)[name], { method: 'GET', path: '/' })
  test('a request that says nothing of its caller is that of one administrator', () => {
    expect(read({ 'x-service-roles': ' Service ,, x' })).toEqual({
      userId: '0d9b1f0e-7d57-4a8e-8f6d-3c5f0c8b9a11',
      projectId: '5e0b4c6a-0a2a-4f0e-9d0c-6f2a5f2d7c10',
      roles: ['admin', 'manager', 'member', 'reader'],
      serviceRoles: ['service', 'x'],
    })
  })
  const nobody = { userId: '', projectId: null, roles: [], serviceRoles: [] }
  test.each([
    [{ 'x-roles': '' }, nobody],
    [{ 'x-user-id': ' u ' }, { ...nobody, userId: 'u' }],
    [{ 'x-user-id': ` ${'u'.repeat(255)} ` }, { ...nobody, userId: 'u'.repeat(255) }],
    [
      { 'x-project-id': ' p ', 'x-roles': 'A, b' },
      { ...nobody, projectId: 'p', roles: ['a', 'b'] },
    ],
    [
      { 'x-project-id': 'p', 'x-domain-id': 'd' },
      { ...nobody, projectId: 'p' },
    ],
    [
      { 'x-project-id': 'p', 'openstack-system-scope': '' },
      { ...nobody, projectId: 'p' },
    ],
    [{ 'x-project-id': 'p', 'openstack-system-scope': 'all' }, nobody],
    [{ 'x-domain-id': '' }, nobody],
    [{ 'openstack-system-scope': '' }, nobody],
  ])('one that says %j is that of who it says', (headers, identity) => expect(read(headers)).toEqual(identity))
  test.each(['x-roles', 'x-service-roles'])('roles have up to 8192 bytes: %s', (name) => {
    expect(read({ [name]: 'r'.repeat(8192) })).not.toHaveProperty('fault')
    const rule = 'it must not be longer than 8192 bytes'
    expect(read({ [name]: 'r'.repeat(8193) })).toEqual({ ok: false, fault: { kind: 'invalid', field: name, rule } })
  })
})

describe('a caller whose stream is open', () => {
  const began = { userId: 'u', projectId: 'p', isAdmin: false, isService: false, requestId: 'r' }
  const identity = { userId: 'u', projectId: 'p', roles: [], serviceRoles: [] }
  const again = (found: unknown, caller: unknown = began) =>
    identifyAgainAs(began, { identify: async () => found as never, callerFor: () => caller as never })()
  test('goes on as long as it sees the same, and is told why it does not', async () => {
    expect(await again(identity)).toBe(null)
    expect(await again(identity, { ...began, isService: true, requestId: 'other' })).toBe(null)
    for (const more of [{ userId: 'v' }, { projectId: 'q' }, { isAdmin: true }])
      expect(await again(identity, { ...began, ...more })).toBe('rights')
    expect(await again(identity, null)).toBe('rights')
    expect(await again(refused({ kind: 'unauthenticated', challenge: '' }))).toBe('expired')
    expect(await again(refused({ kind: 'unavailable', reason: '', retryAfterSeconds: 1 }))).toBe('failed')
  })
})

describe('filters of the older form', () => {
  const args = {
    name: text(''),
    id: uuidArg(''),
    count: integer(0, ''),
    limit: integer(1, ''),
    on: flag(''),
    way: oneOf(['a', 'b'], ''),
    names: list(''),
  }
  test('are described by what each of their fields takes', () => {
    const { anyOf } = createFilters(args).schema as { readonly anyOf: readonly unknown[] }
    const [items, pair, map] = anyOf
    const free = { type: ['string', 'number'], pattern: '^[^\\u0000]*$' }
    const shapes = {
      parent_uuid: free,
      root_uuid: free,
      board: free,
      availability: free,
      interface_type: free,
      instance_uuid: free,
      limit: { anyOf: [args.limit.schema, intText(1)] },
      marker: free,
      sort_key: free,
      sort_dir: free,
      name: { anyOf: [args.name.schema, { type: 'number' }, { const: '' }] },
      id: { anyOf: [UUID_SHAPE] },
      count: { anyOf: [args.count.schema, intText(0)] },
      on: { type: 'string', pattern: '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])?$' },
      way: { anyOf: [args.way.schema, { const: '' }] },
      names: { anyOf: [args.names.schema, { type: 'number' }, { const: '' }] },
    }
    expect(map).toEqual({ type: 'object', properties: shapes, additionalProperties: false })
    expect(pair).toEqual({
      type: 'object',
      required: ['field', 'value'],
      anyOf: Object.entries(shapes).map(([field, value]) => ({ properties: { field: { const: field }, value } })),
    })
    expect(items).toEqual({ type: 'array', items: pair, maxItems: 100 })
  })
  const merged = (sent: string, query: object = {}) => {
    const split = pairsOf(sent)
    if (!split.ok) throw new Error(sent)
    const got = withFilters(args, query, split.pairs)
    return got.ok ? got.query : got.fault
  }
  test('are merged in order, and a plain argument counts more', () => {
    const two = 'filters.field=count&filters.value=1&filters.field=name&filters.value=n'
    expect(merged(two)).toEqual({ count: 1, name: 'n' })
    expect(merged(two, { name: 'plain', way: 'a' })).toEqual({ count: 1, name: 'plain', way: 'a' })
    expect(merged('filters[0].field=on&filters[0].value=true&filters[1].field=board&filters[1].value=x')).toEqual({
      on: true,
    })
    expect(merged('', { filters: [{ field: 'count', value: '2' }] })).toMatchObject({ count: 2 })
    expect(merged('name=x', { name: 'x' })).toEqual({ name: 'x' })
    expect(merged('filters.field=constructor&filters.value=x')).toMatchObject({
      rule: 'there is no field "constructor"',
    })
  })
  const read = (json: string) => {
    const got = createFilters(args).read(['{}', json], 'filters')
    return got.ok ? got.value : got.fault
  }
  test('are read from pairs, one pair or a map, of which the last that was sent counts', () => {
    const pair = (field: string, value: unknown) => ({ field, value })
    expect(read(JSON.stringify([pair('a', 1), pair('b', 'x')]))).toEqual([pair('a', '1'), pair('b', 'x')])
    expect(read(JSON.stringify(pair('a', 1.5)))).toEqual([pair('a', '1.5')])
    expect(read('{"a": "x", "b": 2}')).toEqual([pair('a', 'x'), pair('b', '2')])
    expect(read(JSON.stringify(Array.from({ length: 100 }, () => pair('a', ''))))).toHaveLength(100)
    const form = { kind: 'invalid', field: 'filters', rule: 'it must be JSON that pairs each field with a value' }
    for (const bad of ['{"a": true}', '{"a": null}', '5', '', '{']) expect(read(bad), bad).toEqual(form)
    expect(read('{"__proto__": "x"}')).toMatchObject({ rule: 'there is no field "__proto__"' })
    expect(read('{"constructor": "x", "prototype": "x"}')).toMatchObject({ rule: 'there is no field "prototype"' })
    expect(read('{"a": "\\u0000"}')).toEqual({ kind: 'invalid', field: 'a', rule: 'it holds a NUL character' })
  })
})
