/** Callers who show tokens: rest-api 9.1, 9.2 and 9.4. */
import { describe, expect, test } from 'vitest'
import { type Identity, callerOf } from '../../src/http/identity.ts'
import { tokenIdentity } from '../../src/http/tokenIdentity.ts'
import type { AccessRule, Token, Tokens } from '../../src/vocabulary/token.ts'
import { strictApp } from './app.ts'

const token = (roles: readonly string[], more: Partial<Token> = {}): Token => ({
  userId: 'u',
  projectId: 'p',
  roles,
  accessRules: null,
  ...more,
})
const limited = (...rules: readonly AccessRule[]): Token => token(['member'], { accessRules: rules })
const rule = (method: string, path: string, service = 'accelerator'): AccessRule => ({ service, method, path })
const HELD: Readonly<Record<string, Token>> = {
  member: token(['member']),
  service: token(['service']),
  unscoped: token([], { projectId: null }),
  one: limited(rule('GET', '/v2/devices/*')),
  named: limited(rule('GET', '/accelerator/v2/devices/{uuid}')),
  below: limited(rule('GET', '/v2/devices/**')),
  dots: limited(rule('GET', '/v2/device.profiles')),
  hostile: limited(rule('GET', `/v2/${'**a'.repeat(40)}`)),
  odd: limited(rule('GET', '/v2/a{b'), rule('GET', '/v2/c}d'), rule('GET', '/v2/x*y')),
  titled: token(['member'], { names: { user: 'Ann', project: 'blue' } }),
  operator: token(['operator', 'member']),
  elsewhere: limited(rule('GET', '/v2/devices/**', 'compute')),
  nothing: limited(),
}
/** `old-NAME`: the token has expired. */
const tokens: Tokens = {
  validate: async (text, { allowExpired }) => {
    if (text === 'unknown')
      return { kind: 'unavailable', reason: 'the identity service does not answer', retryAfterSeconds: 1 }
    const name = allowExpired ? text.replace(/^old-/, '') : text
    return Object.hasOwn(HELD, name) ? { kind: 'valid', token: HELD[name]! } : { kind: 'invalid' }
  },
}
const identify = tokenIdentity(tokens, {
  authUrl: 'http://keystone/v3',
  serviceType: 'accelerator',
  serviceTokenRoles: ['service', 'operator'],
})
const read = (headers: Record<string, string>, method = 'GET', path = '/v2/devices') =>
  identify((name) => headers[name], { method, path })
const UNAUTHENTICATED = {
  ok: false,
  fault: { kind: 'unauthenticated', challenge: 'Keystone uri="http://keystone/v3"' },
}

describe('TOKEN-1', () => {
  test.each([{}, { 'x-auth-token': '' }, { 'x-auth-token': 'invented' }, { 'x-auth-token': 'old-member' }])(
    '%j is not authenticated',
    async (headers) => expect(await read(headers)).toEqual(UNAUTHENTICATED),
  )
  test('identity headers are not believed', async () => {
    expect(await read({ 'x-roles': 'admin', 'x-project-id': 'p', 'x-service-roles': 'service' })).toEqual(
      UNAUTHENTICATED,
    )
    const headers = { 'x-auth-token': 'member', 'x-roles': 'admin', 'x-project-id': 'q', 'x-service-roles': 'service' }
    expect(await read(headers)).toEqual({ userId: 'u', projectId: 'p', roles: ['member'], serviceRoles: [] })
  })
  test('nobody can tell: 503', async () => {
    expect(await read({ 'x-auth-token': 'unknown' })).toMatchObject({
      fault: { kind: 'unavailable', retryAfterSeconds: 1 },
    })
  })
  test('names of the user and the project are passed on where the token has them', async () => {
    const known = { userId: 'u', projectId: 'p', roles: ['member'], serviceRoles: [] }
    expect(await read({ 'x-auth-token': 'titled' })).toStrictEqual({
      ...known,
      names: { user: 'Ann', project: 'blue' },
    })
    expect(await read({ 'x-auth-token': 'member' })).toStrictEqual(known)
  })
  test('a token without scope has no project', async () => {
    expect(await read({ 'x-auth-token': 'unscoped' })).toMatchObject({ projectId: null })
  })
})

describe('TOKEN-2, TOKEN-3 a service token', () => {
  const beside = (user: string, service: string) => read({ 'x-auth-token': user, 'x-service-token': service })
  test('makes a service request', async () => {
    const identity = (await beside('member', 'service')) as Identity
    expect(identity).toMatchObject({ roles: ['member'], serviceRoles: ['service'] })
    expect(callerOf(identity, 'p', 'r', ['service']).isService).toBe(true)
  })
  test('needs one of the roles, and not all of them', async () =>
    expect(await beside('member', 'operator')).toMatchObject({ serviceRoles: ['operator', 'member'] }))
  test.each(['invented', 'member', 'old-service', ''])('%j makes the whole request 401', async (service) =>
    expect(await beside('member', service)).toEqual(UNAUTHENTICATED),
  )
  test('that nobody can judge: 503', async () => {
    expect(await beside('member', 'unknown')).toMatchObject({ fault: { kind: 'unavailable' } })
  })
  test('lets an expired token of the user pass, and no invented one', async () => {
    expect(await beside('old-member', 'service')).toMatchObject({ roles: ['member'] })
    expect(await beside('invented', 'service')).toEqual(UNAUTHENTICATED)
  })
  test('alone is nobody', async () => {
    expect(await read({ 'x-service-token': 'service' })).toEqual(UNAUTHENTICATED)
  })
  test('lets access rules rest', async () => {
    expect(await beside('nothing', 'service')).toMatchObject({ roles: ['member'] })
  })
})

describe('TOKEN-4 access rules', () => {
  const UUID = '/v2/devices/1b4e28ba-2fa1-41d2-883f-0016d3cca427'
  test.each([
    ['one', 'GET', UUID, true],
    ['one', 'GET', '/v2/devices', false],
    ['one', 'GET', `${UUID}/disable`, false],
    ['one', 'POST', UUID, false],
    ['named', 'GET', UUID, true],
    ['named', 'GET', `${UUID}/disable`, false],
    ['below', 'GET', `${UUID}/disable`, true],
    ['below', 'GET', '/v2/devices', false],
    ['below', 'GET', '/x/v2/devices/1', false],
    ['dots', 'GET', '/v2/device_profiles', false],
    ['dots', 'GET', '/v2/device.profiles', true],
    ['hostile', 'GET', `/v2/${'a'.repeat(5000)}b`, false],
    ['hostile', 'GET', `/v2/${'ba'.repeat(41)}`, true],
    ['odd', 'GET', '/v2/a{b', true],
    ['odd', 'GET', '/v2/axb', false],
    ['odd', 'GET', '/v2/c}d', true],
    ['odd', 'GET', '/v2/cxd', false],
    ['odd', 'GET', '/v2/x12y', true],
    ['odd', 'GET', '/v2/xy', false],
    ['odd', 'GET', '/v2/x/y', false],
    ['elsewhere', 'GET', UUID, false],
    ['nothing', 'GET', UUID, false],
  ])('%s: %s %s', async (held, method, path, allowed) => {
    const identity = await read({ 'x-auth-token': held }, method, path)
    if (allowed) expect(identity).toMatchObject({ roles: ['member'] })
    else expect(identity).toEqual(UNAUTHENTICATED)
  })
})

test('without a token the service answers 401 in the shape of identity services, but for the discovery documents', async () => {
  const { app, asked } = strictApp({}, { identify })
  const response = await app.request('http://127.0.0.1/v2/devices')
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([
    401,
    'Keystone uri="http://keystone/v3"',
  ])
  expect(await response.json()).toMatchObject({ error: { code: 401, title: 'Unauthorized' } })
  expect((await app.request('http://127.0.0.1/v2/nowhere')).status).toBe(401)
  for (const path of ['/', '/v2', '/v2/', '/v2.json'])
    expect((await app.request(`http://127.0.0.1${path}`)).status).toBe(200)
  expect(asked).toEqual([])
})
