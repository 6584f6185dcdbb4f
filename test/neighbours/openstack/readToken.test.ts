/**
 * What is read of Keystone's answer about a token, for each kind of token that Keystone issues (Identity API v3, `GET
 * /v3/auth/tokens`).
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isRecord } from '../../../src/vocabulary/record.ts'
import type { Token } from '../../../src/vocabulary/token.ts'
import { silent } from '../../../src/vocabulary/log.ts'
import { createTokens } from '../../../src/neighbours/openstack/tokens.ts'
import { handClock } from '../../support/lab.ts'
import { hostileText, hostileValue, jsonOf, spoilt } from '../../http/hostileInput.ts'

const DOMAIN = { id: 'default', name: 'Default' }
const USER = { domain: DOMAIN, id: 'u1', name: 'alice', password_expires_at: null }
const PROJECT = { domain: DOMAIN, id: 'p1', name: 'demo' }
const role = (name: string) => ({ id: `id of ${name}`, name })
const RULES = [
  { id: 'r1', service: 'accelerator', method: 'GET', path: '/v2/devices' },
  { id: 'r2', service: 'compute', method: 'POST', path: '/v2.1/servers' },
]
const CATALOG = [
  {
    id: 's1',
    type: 'accelerator',
    name: 'cyborg',
    endpoints: [{ id: 'e1', interface: 'public', region: 'RegionOne', region_id: 'RegionOne', url: 'http://a/v2' }],
  },
]
/** What each kind has; an unscoped token has no more than this. */
const BASE = {
  methods: ['password'],
  user: USER,
  audit_ids: ['3T2dc1CGQxyJsHdDu1xkcw'],
  expires_at: '2026-11-25T18:00:00.000000Z',
  issued_at: '2026-11-25T17:00:00.000000Z',
}
const scoped = {
  ...BASE,
  project: PROJECT,
  is_domain: false,
  roles: [role('member'), role('reader')],
  catalog: CATALOG,
}
const credential = (more: object) => ({
  ...scoped,
  methods: ['application_credential'],
  application_credential: { id: 'c1', name: 'ci', restricted: true, ...more },
})

type Kind = readonly [name: string, token: object, read: Partial<Token>]
const plain = { userId: 'u1', projectId: 'p1', roles: ['member', 'reader'], accessRules: null }
const KINDS: readonly Kind[] = [
  ['of a project', scoped, { ...plain, names: { user: 'alice', project: 'demo' } }],
  ['of a project, validated without the catalogue', { ...scoped, catalog: undefined }, plain],
  [
    'of a project that acts as a domain',
    { ...scoped, project: { ...PROJECT, id: 'd1' }, is_domain: true },
    { projectId: 'd1' },
  ],
  [
    'unscoped',
    BASE,
    { userId: 'u1', projectId: null, roles: [], accessRules: null, names: { user: 'alice', project: null } },
  ],
  [
    'of a domain',
    { ...BASE, domain: DOMAIN, roles: [role('admin')], catalog: CATALOG },
    { projectId: null, roles: ['admin'] },
  ],
  [
    'of the system',
    { ...BASE, system: { all: true }, roles: [role('admin'), role('reader')], catalog: [] },
    { projectId: null, roles: ['admin', 'reader'] },
  ],
  [
    'of a trust with impersonation: it is the token of who trusts',
    {
      ...scoped,
      user: { ...USER, id: 'trustor', name: 'bob' },
      'OS-TRUST:trust': { id: 't1', trustor_user: { id: 'trustor' }, trustee_user: { id: 'u1' }, impersonation: true },
    },
    { userId: 'trustor', roles: ['member', 'reader'] },
  ],
  [
    'of a trust without impersonation: it is the token of who is trusted',
    {
      ...scoped,
      'OS-TRUST:trust': { id: 't1', trustor_user: { id: 'trustor' }, trustee_user: { id: 'u1' }, impersonation: false },
    },
    { userId: 'u1' },
  ],
  ['of an application credential', credential({}), plain],
  [
    'of an application credential with access rules: it is limited to them',
    credential({ access_rules: RULES }),
    { ...plain, accessRules: RULES.map(({ service, method, path }) => ({ service, method, path })) },
  ],
  [
    'of an application credential whose list of rules is empty: it may do nothing',
    credential({ access_rules: [] }),
    { accessRules: [] },
  ],
  [
    'of an application credential that says null of its rules',
    credential({ access_rules: null }),
    { accessRules: null },
  ],
  [
    'of a federated user',
    {
      ...scoped,
      methods: ['mapped'],
      user: {
        domain: { id: 'Federated', name: 'Federated' },
        id: 'f1',
        name: 'carol@example.org',
        'OS-FEDERATION': { groups: [{ id: 'g1' }], identity_provider: { id: 'idp' }, protocol: { id: 'openid' } },
      },
    },
    { userId: 'f1', names: { user: 'carol@example.org', project: 'demo' }, roles: ['member', 'reader'] },
  ],
  [
    'of a federated user, unscoped: groups are no roles',
    {
      ...BASE,
      methods: ['mapped'],
      user: {
        ...USER,
        'OS-FEDERATION': {
          groups: [{ id: 'g1', name: 'admin' }],
          identity_provider: { id: 'idp' },
          protocol: { id: 'saml2' },
        },
      },
    },
    { roles: [], projectId: null },
  ],
  [
    'of a service',
    {
      ...scoped,
      user: { ...USER, id: 'nova', name: 'nova' },
      project: { ...PROJECT, id: 's', name: 'service' },
      roles: [role('admin'), role('service')],
    },
    { userId: 'nova', projectId: 's', roles: ['admin', 'service'] },
  ],
  ['of the admin project: only its roles count', { ...scoped, is_admin_project: true }, plain],
  ['of OAuth1', { ...scoped, 'OS-OAUTH1': { access_token_id: 'a', consumer_id: 'c' } }, plain],
  [
    'of a cloud with service providers',
    { ...scoped, service_providers: [{ id: 'sp', auth_url: 'http://x', sp_url: 'http://x' }] },
    plain,
  ],
  [
    'whose roles are written in capitals',
    { ...scoped, roles: [role('Admin'), role('MEMBER')] },
    { roles: ['admin', 'member'] },
  ],
]

/** What a token is taken for of which Keystone answers this; null: it is none. */
const readToken = async (text: string): Promise<Token | null> => {
  const askFor = async () => ({ status: 200, headers: {}, text })
  const cache = { cacheMs: 0, entries: 0 }
  const tokens = createTokens({ session: { askFor }, cache, clock: handClock(), log: silent })
  const read = await tokens.validate('tok', { allowExpired: false })
  return read.kind === 'valid' ? read.token : null
}

describe('a token', () => {
  test.each(KINDS)('%s', async (_, token, read) =>
    expect(await readToken(JSON.stringify({ token }))).toMatchObject(read),
  )
  test('with anything that is no role of it has none: names of other members are not looked at', async () => {
    const roles = { 'OS-TRUST:trust': { roles: [role('admin')] }, project: { ...PROJECT, roles: [role('admin')] } }
    expect((await readToken(JSON.stringify({ token: { ...BASE, ...roles } })))?.roles).toEqual([])
    expect((await readToken(JSON.stringify({ token: BASE, roles: [role('admin')] })))?.roles).toEqual([])
    const text = JSON.stringify({ token: BASE }).replace(
      '{"methods"',
      '{"__proto__":{"roles":[{"name":"admin"}]},"methods"',
    )
    expect(text).toContain('__proto__')
    expect((await readToken(text))?.roles).toEqual([])
  })
  test.each([
    ['no JSON', '<html>'],
    ['an error of Keystone', JSON.stringify({ error: { code: 404, title: 'Not Found', message: 'x' } })],
    ['no user', JSON.stringify({ token: { ...BASE, user: undefined } })],
    ['no end', JSON.stringify({ token: { ...BASE, expires_at: undefined } })],
    [
      'rules that cannot be read: it would not be limited',
      JSON.stringify({ token: credential({ access_rules: 'none' }) }),
    ],
    [
      'a rule that lacks its path',
      JSON.stringify({ token: credential({ access_rules: [{ service: 'a', method: 'GET' }] }) }),
    ],
    ['a role without a name', JSON.stringify({ token: { ...scoped, roles: [{ id: 'x' }] } })],
    [
      'a project without an id: it would count as none',
      JSON.stringify({ token: { ...scoped, project: { name: 'demo' } } }),
    ],
    ['deeper than any reader goes', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
  ])('with %s is no token', async (_, text) => expect(await readToken(text)).toBeNull())
})

describe('whatever Keystone answers', () => {
  const member = (value: unknown, name: string): unknown =>
    isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
  /** What the document itself says, read by hand. */
  const saidIn = (text: string) => {
    const token = member(JSON.parse(text), 'token')
    const [roles, rules] = [member(token, 'roles'), member(member(token, 'application_credential'), 'access_rules')]
    return {
      roles: Array.isArray(roles) ? roles.map((one) => String(member(one, 'name')).toLowerCase()) : [],
      userId: member(member(token, 'user'), 'id'),
      projectId: member(member(token, 'project'), 'id') ?? null,
      rules: rules ?? null,
    }
  }
  const judge = async (text: string): Promise<boolean> => {
    const token = await readToken(text)
    if (token === null) return false
    const said = saidIn(text)
    expect(token.roles).toEqual(said.roles)
    expect([token.userId, token.projectId]).toEqual([said.userId, said.projectId])
    expect(token.accessRules === null).toBe(said.rules === null)
    for (const [at, rule] of (token.accessRules ?? []).entries())
      expect((said.rules as readonly unknown[])[at]).toMatchObject(rule)
    return true
  }
  test('it never throws, and nobody gets a role, a user, a project or freedom from rules that it does not say', async () => {
    let read = 0
    const documents = fc.constantFrom(...KINDS.map(([, token]) => ({ token })))
    await fc.assert(
      fc.asyncProperty(
        documents,
        fc.array(fc.tuple(fc.nat(), hostileValue), { maxLength: 3 }),
        async (document, changes) => {
          const text = changes.reduce((whole, [place, by]) => {
            const value = JSON.parse(whole) as unknown
            return isRecord(value) && Object.keys(value).length > 0 ? jsonOf(spoilt(value, place, by)) : whole
          }, JSON.stringify(document))
          if (await judge(text)) read++
        },
      ),
      { numRuns: 3000 },
    )
    expect(read).toBeGreaterThan(300)
  })
  test('any JSON and any text at all is no token', () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.json(), hostileText, hostileValue.map(jsonOf)),
        async (text) => !(await judge(text)),
      ),
    ))
})
