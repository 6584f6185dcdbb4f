/** The patch that binds: everything that can be judged before the record is asked. */
import { describe, expect, test } from 'vitest'
import { patch } from '../../src/http/routes/bindings.ts'
import { strictApp } from './app.ts'
import { as, expectRefusal, send, service, version } from './steps.ts'

const A = 'aaaaaaaa-0000-4000-8000-000000000001'
const B = 'bbbbbbbb-0000-4000-8000-000000000002'
const RP = 'cccccccc-0000-4000-8000-000000000003'
const VM = 'dddddddd-0000-4000-8000-000000000004'

const op = (path: string, value?: unknown, op = 'add') => ({ op, path, ...(value !== undefined && { value }) })
const bind = (more: Record<string, unknown> = {}) =>
  Object.entries({ '/hostname': 'h1', '/device_rp_uuid': RP, '/instance_uuid': VM, ...more }).map(([path, value]) =>
    op(path, value),
  )
const without = (path: string) => bind().filter((each) => each.path !== path)
const unbind = ['/hostname', '/device_rp_uuid', '/instance_uuid'].map((path) => op(path, undefined, 'remove'))

const REFUSED: readonly (readonly [string, unknown, number, string])[] = [
  ['3 a list', [], 400, 'body'],
  ['3 a list of operations', bind(), 400, 'body'],
  ['3 null', null, 400, 'body'],
  ['3 an empty object', {}, 400, 'body'],
  ['3 no operations', { [A]: [] }, 400, A],
  ['3 an object for operations', { [A]: {} }, 400, A],
  ['3 a number among operations', { [A]: [5] }, 400, A],
  ['3 no op', { [A]: [{ path: '/hostname', value: 'h' }] }, 400, `${A}.0.op`],
  ['3 no path', { [A]: [{ op: 'add', value: 'h' }] }, 400, `${A}.0.path`],
  ['3 a number for a path', { [A]: [op(5 as never, 'h')] }, 400, `${A}.0.path`],
  ['3 add without value', { [A]: [...without('/hostname'), op('/hostname')] }, 400, `${A}.hostname`],
  ['3 a key that is not a UUID', { fpga: bind() }, 400, 'fpga'],
  ['3 a key of the language', JSON.parse(`{"__proto__": ${JSON.stringify(bind())}}`), 400, '__proto__'],
  ['3 one request under two spellings', { [A]: unbind, [A.toUpperCase()]: unbind }, 409, 'The body names one'],
  ['4 add and remove', { [A]: [...bind(), op('/hostname', undefined, 'remove')] }, 400, `${A}.op`],
  ['4 replace', { [A]: [op('/hostname', 'h', 'replace')] }, 400, `${A}.op`],
  ['4 test', { [A]: [op('/hostname', 'h', 'test')] }, 400, `${A}.op`],
  ['7 an unknown path', { [A]: [...bind(), op('/state', 'Bound')] }, 400, `${A}.path`],
  ['7 an unknown path to remove', { [A]: [op('/state', undefined, 'remove')] }, 400, `${A}.path`],
  ['7 a path of the language', { [A]: [...bind(), op('constructor', 'x')] }, 400, `${A}.path`],
  ['7 a path given twice', { [A]: [...bind(), op('/hostname', 'h2')] }, 400, `${A}.path`],
  ['7 a path given twice with the same value', { [A]: [...bind(), op('/hostname', 'h1')] }, 400, `${A}.path`],
  ['7 a path given twice in two spellings', { [A]: [...bind(), op('device_rp_uuid', VM)] }, 400, `${A}.path`],
  ['7 a path removed twice', { [A]: [...unbind, ...unbind] }, 400, `${A}.path`],
  ...['/hostname', '/device_rp_uuid', '/instance_uuid'].flatMap((path) => [
    [`8 no ${path}`, { [A]: without(path) }, 400, `${A}.${path.slice(1)}`] as const,
    [`8 ${path} null`, { [A]: bind({ [path]: null }) }, 400, `${A}.${path.slice(1)}`] as const,
    [`9 ${path} a number`, { [A]: bind({ [path]: 5 }) }, 400, `${A}.${path.slice(1)}`] as const,
    [`9 ${path} empty`, { [A]: bind({ [path]: '' }) }, 400, `${A}.${path.slice(1)}`] as const,
  ]),
  ['9 an instance that is not a UUID', { [A]: bind({ '/instance_uuid': 'vm1' }) }, 400, `${A}.instance_uuid`],
  ['9 a provider that is not a UUID', { [A]: bind({ '/device_rp_uuid': 'rp1' }) }, 400, `${A}.device_rp_uuid`],
  ['9 a host name of blanks', { [A]: bind({ '/hostname': '  ' }) }, 400, `${A}.hostname`],
  ['9 a host name without end', { [A]: bind({ '/hostname': 'h'.repeat(256) }) }, 400, `${A}.hostname`],
  ['10 bind and unbind in one', { [A]: bind(), [B]: unbind }, 400, 'op'],
  ['11 two instances', { [A]: bind(), [B]: bind({ '/instance_uuid': RP }) }, 409, 'One request binds'],
]

describe('refused before the record is asked', () => {
  test.each(REFUSED)('%s', async (_, body, status, field) => {
    const { app, asked } = strictApp()
    const got = await send(app, 'PATCH /v2/accelerator_requests', { body, headers: { ...version(3), ...service } })
    expectRefusal(got, status)
    expect(got.fault).toContain(status === 400 ? `Invalid ${field}` : field)
    expect(asked).toEqual([])
  })

  const project = { [A]: bind({ '/project_id': 'p1' }) }
  test.each([
    ['5 project_id before its version', project, {}, 406],
    ['5 project_id before its version, as anybody', project, as('member'), 406],
    ['6 project_id from somebody else', project, as('member', version(1)), 403],
    ['6 even to remove it', { [A]: [op('/project_id', undefined, 'remove')] }, as('member', version(1)), 403],
    ['9 an empty project_id', { [A]: bind({ '/project_id': '' }) }, version(1), 400],
    ['9 a project_id that is no text', { [A]: bind({ '/project_id': {} }) }, version(1), 400],
  ])('%s', async (_, body, headers, status) => {
    const { app, asked } = strictApp()
    expectRefusal(
      await send(app, 'PATCH /v2/accelerator_requests', { body, headers: { ...headers, ...service } }),
      status,
    )
    expect(asked).toEqual([])
  })

  test.each([
    ['a request that the body does not name', `/v2/accelerator_requests/${B}`],
    ['no UUID', '/v2/accelerator_requests/fpga'],
    ['one segment too many', `/v2/accelerator_requests/${A}/bind`],
  ])('the path names %s', async (_, path) => {
    const { app, asked } = strictApp()
    const got = await send(app, `PATCH ${path}`, { body: { [A]: bind() }, headers: service })
    expect([400, 404, 409]).toContain(got.status)
    expect(asked).toEqual([])
  })
})

describe('what is understood', () => {
  const read = (json: unknown, asked = { minor: 3, isAdmin: true }) => patch.read(json, asked)
  const binding = { hostname: 'h1', deviceRpUuid: RP, instanceUuid: VM }

  test('a bind of two', () => {
    expect(read({ [A]: bind(), [B]: bind() })).toEqual({
      ok: true,
      value: {
        bind: [
          { arq: A, ...binding },
          { arq: B, ...binding },
        ],
      },
    })
  })
  test('as many as 1,024 at once, with all their fields, and no more', async () => {
    const uuids = Array.from({ length: 1025 }, (_, n) => `${String(n).padStart(8, '0')}${A.slice(8)}`)
    const patchOf = (count: number) =>
      Object.fromEntries(uuids.slice(0, count).map((uuid) => [uuid, bind({ '/project_id': 'p'.repeat(255) })]))
    const [most, more] = [patchOf(1024), patchOf(1025)]
    expect(patch.read(most, { minor: 1, isAdmin: true })).toMatchObject({ ok: true })
    expect(patch.read(more, { minor: 1, isAdmin: true })).toMatchObject({
      fault: { field: 'body', rule: 'it names 1025 accelerator requests, more than 1024' },
    })
    const { app, asked } = strictApp()
    const headers = { ...as('admin'), ...version(1), ...service }
    await send(app, 'PATCH /v2/accelerator_requests', { body: most, headers })
    expect(asked).toHaveLength(1)
    expectRefusal(await send(app, 'PATCH /v2/accelerator_requests', { body: more, headers }), 400)
    expect(asked).toHaveLength(1)
  })
  test('any spelling of a UUID, any number of leading slashes', () => {
    const loose = [
      op('hostname', 'h1'),
      op('//device_rp_uuid', RP.toUpperCase()),
      op('instance_uuid', `{${VM.replaceAll('-', '')}}`),
    ]
    expect(read({ [A.toUpperCase()]: loose })).toEqual({ ok: true, value: { bind: [{ arq: A, ...binding }] } })
  })
  test('a project for an administrator', () => {
    expect(read({ [A]: bind({ '/project_id': 'p2' }) })).toEqual({
      ok: true,
      value: { bind: [{ arq: A, ...binding, projectId: 'p2' }] },
    })
  })
  test('an unbind, whatever it removes and whatever stands in value', () => {
    expect(read({ [A]: unbind })).toEqual({ ok: true, value: { unbind: [A] } })
    expect(read({ [A]: [op('/hostname', 5, 'remove')], [B]: unbind })).toEqual({ ok: true, value: { unbind: [A, B] } })
  })
  test('further keys of an operation do not matter', () => {
    expect(read({ [A]: bind().map((each) => ({ ...each, from: '/x' })) }).ok).toBe(true)
  })
})
