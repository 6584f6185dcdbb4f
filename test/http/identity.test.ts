/** Without an identity service the headers say who calls; a caller without a project is nobody. */
import { describe, expect, test } from 'vitest'
import { callerOf, noauth, NOAUTH_PROJECT } from '../../src/http/identity.ts'
import type { Identity } from '../../src/http/identity.ts'
import { ROUTES } from '../../src/http/routes/all.ts'
import { strictApp } from './app.ts'
import { as, expectRefusal, send } from './steps.ts'

const read = (headers: Record<string, string>) =>
  noauth((name) => headers[name], { method: 'GET', path: '/v2' }) as Identity

describe('who is calling', () => {
  test('no identity header: an administrator of a fixed project', () => {
    expect(read({})).toMatchObject({ projectId: NOAUTH_PROJECT, roles: ['admin', 'manager', 'member', 'reader'] })
  })
  test('also beside a service token', () => {
    const identity = read({ 'x-service-roles': 'service' })
    expect(identity).toMatchObject({ projectId: NOAUTH_PROJECT, serviceRoles: ['service'] })
    expect(callerOf(identity, NOAUTH_PROJECT, 'r', ['service'])).toMatchObject({ isAdmin: true, isService: true })
  })
  test('roles are read without blanks and in lower case', () => {
    expect(read({ 'x-roles': ' Admin, ,member ', 'x-project-id': 'p' }).roles).toEqual(['admin', 'member'])
  })
  test('the role service on the user is not a service token', () => {
    expect(callerOf(read({ 'x-roles': 'service', 'x-project-id': 'p' }), 'p', 'r', ['service']).isService).toBe(false)
  })
  test('a service token counts only with the right role', () => {
    const identity = read({ 'x-service-roles': 'reader' })
    expect(callerOf(identity, 'p', 'r', ['service']).isService).toBe(false)
    expect(callerOf(identity, 'p', 'r', ['service', 'reader']).isService).toBe(true)
  })
  test.each([
    ['roles alone', { 'x-roles': 'admin' }],
    ['a user alone', { 'x-user-id': 'u' }],
    ['an empty project', { 'x-roles': 'admin', 'x-project-id': ' ' }],
    ['the system', { 'x-roles': 'admin', 'openstack-system-scope': 'all' }],
    ['the system beside a project', { 'x-project-id': 'p', 'openstack-system-scope': 'all' }],
    ['a domain', { 'x-roles': 'admin', 'x-domain-id': 'default' }],
  ])('%s: no project', (_, headers) => expect(read(headers).projectId).toBeNull())
})

const guarded = ROUTES.filter((row) => row.rule !== null)
const lineOf = ({ method, path }: { method: string; path: string }) => `${method} ${path.replace(/:\w+/g, 'x')}`

describe.each(guarded.map((row) => [lineOf(row), row] as const))('%s', (line) => {
  test.each([
    ['without a project', { 'X-Roles': 'admin' }],
    ['for the system', { 'X-Roles': 'admin', 'OpenStack-System-Scope': 'all' }],
    ['for a domain', { 'X-Roles': 'admin', 'X-Domain-Id': 'default' }],
  ])('is refused %s, whatever it holds', async (_, headers) => {
    const { app, asked } = strictApp()
    expectRefusal(await send(app, `${line}?nonsense`, { raw: line.startsWith('GET') ? undefined! : '{', headers }), 403)
    expect(asked).toEqual([])
  })
})

describe('policy is judged before anything that was sent', () => {
  test.each([
    ['POST /v2/device_profiles', 'reader'],
    ['POST /v2/attributes', 'manager'],
    ['PATCH /v2/deployables/x/program', 'member'],
    ['POST /v2/devices/x/enable', 'service'],
  ])('%s for a %s', async (line, roles) => {
    const { app, asked } = strictApp()
    const got = await send(app, `${line}?what=1`, {
      raw: '{broken',
      headers: as(roles, { 'content-type': 'text/plain' }),
    })
    expectRefusal(got, 403)
    expect(got.fault).toMatch(/^Access to cyborg:[a-z_]+:[a-z_]+ is denied\.$/)
    expect(asked).toEqual([])
  })
})

test('a caller that nobody has authenticated gets the answer of identity services', async () => {
  const challenge = 'Keystone uri="https://identity.example/v3"'
  const refusal = { ok: false, fault: { kind: 'unauthenticated', challenge } } as const
  const { app, asked } = strictApp({}, { identify: () => refusal })
  for (const line of [...guarded.map(lineOf), 'GET /v2/nothing', 'PUT /v2/devices']) {
    const got = await send(app, line)
    expect([got.status, got.json]).toEqual([
      401,
      { error: { code: 401, title: 'Unauthorized', message: 'The request needs a valid token.' } },
    ])
    expect(got.headers.get('www-authenticate')).toBe(challenge)
    expect(got.headers.get('x-openstack-request-id')).toMatch(/^req-/)
  }
  for (const line of ['GET /', 'GET /v2', 'GET /healthz']) expect((await send(app, line)).status).toBe(200)
  expect(asked).toEqual([])
})

test('another way to know who calls can be put in its place', async () => {
  const refusal = {
    ok: false,
    fault: { kind: 'unavailable', reason: 'The identity service is away.', retryAfterSeconds: 5 },
  } as const
  const { app } = strictApp({}, { identify: () => Promise.resolve(refusal) })
  for (const line of ['GET /v2/devices', 'GET /v2/nothing']) {
    const got = await send(app, line)
    expectRefusal(got, 503)
    expect(got.headers.get('retry-after')).toBe('5')
  }
  expect((await send(app, 'GET /')).status).toBe(200)
})
