/** An entry of a `clouds.yaml`, as openstacksdk reads it. */
import { describe, expect, test } from 'vitest'
import { type CloudChoice, type CloudFiles, cloudEntryIn } from '../../src/cli/config/clouds.ts'
import { type Keystone, keystoneOf } from '../../src/cli/config/keystone.ts'
import { authRequest } from '../../src/neighbours/openstack/credentials.ts'
import { WHOLE_ENTRY } from './wholeEntry.ts'

const read = (entry: unknown, files: Partial<CloudFiles> = {}, choice: Partial<CloudChoice> = {}) =>
  cloudEntryIn({ clouds: JSON.stringify({ clouds: { one: entry, other: 7 } }), ...files }, { name: 'one', ...choice })
const valueOf = (...given: Parameters<typeof read>) => {
  const { value, problems } = read(...given)
  expect(problems).toEqual([])
  return value
}
const ofYaml = (clouds: string) => cloudEntryIn({ clouds }, { name: 'one' })

const AUTH = {
  auth_url: 'http://a',
  username: 'u',
  password: 'p',
  project_name: 'n',
  user_domain_name: 'ud',
  project_domain_name: 'pd',
  user_id: 'ui',
  user_domain_id: 'udi',
  project_id: 'pi',
  project_domain_id: 'pdi',
  application_credential_id: 'i',
  application_credential_name: 'in',
  application_credential_secret: 's',
}

describe('an entry', () => {
  test('sets what it holds; what nobody uses is named, and what others use is not', () => {
    const others = { image_format: 'raw', compute_api_version: 2, floating_ip_source: 'none', identity_api_version: 3 }
    const whole = { auth: AUTH, region_name: 'r', interface: 'admin', cacert: 'ca', regionname: 7, ...others }
    expect(read(whole)).toEqual({ value: WHOLE_ENTRY, problems: [], warnings: ['clouds.one.regionname is not used'] })
    expect(read({ auth: {} })).toEqual({ value: {}, problems: [], warnings: [] })
  })
  test('may stand beside files that are empty', () => {
    expect(valueOf({ auth: AUTH }, { secure: '', public: '' })).toMatchObject({ password: 'p' })
  })
  test('may have aliases and merge keys, and texts of digits stay as they are written', () => {
    const text = [
      'defaults: &defaults',
      '  region_name: r',
      '  auth: &auth',
      '    auth_url: http://a',
      '    project-name: 0123',
      'clouds:',
      '  one:',
      '    <<: *defaults',
      '    auth:',
      '      <<: *auth',
      '      username: 1e3',
      '      password: 007',
      '      user_id:',
      '      project_id: ~',
    ].join('\n')
    expect(ofYaml(text)).toMatchObject({
      value: { region: 'r', authUrl: 'http://a', project: '0123', username: '1e3', password: '007' },
      problems: [],
    })
    expect(Object.keys(ofYaml(text).value)).toHaveLength(5)
  })
  test('that grows without end by its aliases is refused', () => {
    const rows = Array.from(
      { length: 12 },
      (_, at) => `l${at + 1}: &l${at + 1} [${Array(9).fill(`*l${at}`).join(', ')}]`,
    )
    const said = ofYaml(['l0: &l0 x', ...rows, 'clouds: {one: {auth: {auth_url: *l12}}}'].join('\n'))
    expect(said.problems).toEqual([expect.stringContaining('Excessive alias count')])
  })
  test('may hold its keys beside auth, which then count, and under their former names', () => {
    expect(valueOf({ auth: { ...AUTH, username: 'x' }, username: 'u' })).toMatchObject({ username: 'u' })
    expect(valueOf({ auth: { 'auth-url': 'a', tenant_name: 't', tenant_id: 'i', user_name: 'u' } })).toEqual({
      ...{ authUrl: 'a', project: 't', projectId: 'i', username: 'u' },
    })
    expect(valueOf({ endpoint_type: 'internalURL' })).toEqual({ interfaces: ['internal'] })
    expect(valueOf({ interface: ['internal', 'publicURL'] })).toEqual({ interfaces: ['internal', 'public'] })
  })
  test('may name one domain for user and project', () => {
    const auth = { username: 'u', project_name: 'p' }
    for (const key of ['domain_name', 'default_domain_name'])
      expect(valueOf({ auth: { ...auth, [key]: 'd' } })).toMatchObject({ userDomain: 'd', projectDomain: 'd' })
    expect(valueOf({ auth: { ...auth, domain_id: 'd', user_domain_name: 'own' } })).toEqual({
      ...{ username: 'u', project: 'p', userDomain: 'own', projectDomainId: 'd' },
    })
  })
  test('may have several regions, of which the first or the chosen one counts', () => {
    const regions = ['r1', { name: 'r2', values: { auth: { auth_url: 'http://r2' }, interface: 'internal' } }]
    const entry = { auth: { auth_url: 'http://{region_name}.example/{none}' }, regions }
    expect(valueOf(entry)).toEqual({ region: 'r1', authUrl: 'http://r1.example/{none}' })
    const second = { region: 'r2', authUrl: 'http://r2', interfaces: ['internal'] }
    expect(valueOf(entry, {}, { region: 'r2' })).toEqual(second)
    for (const names of ['r1, r2', ['r1', 'r2']]) expect(valueOf({ region_name: names })).toEqual({ region: 'r1' })
  })
  test('is put over its profile, and what is secret over it', () => {
    const files = {
      secure: 'clouds: {one: {auth: {password: secret}}, two: {auth: {username: x}}}',
      public: 'public-clouds: {base: {region_name: r, auth: {auth_url: http://base, username: x}}}',
    }
    for (const key of ['profile', 'cloud'])
      expect(valueOf({ [key]: 'base', auth: { username: 'u', password: 'x' } }, files)).toEqual({
        ...{ region: 'r', authUrl: 'http://base', username: 'u', password: 'secret' },
      })
    expect(valueOf({ auth: { username: 'u' } }, { secure: '', public: '# nothing' })).toEqual({ username: 'u' })
    expect(read({ profile: 'ovh' }, files).problems).toEqual([
      'clouds.one.profile: no clouds-public.yaml has ovh, and the profiles of openstacksdk are not used here: write auth_url into auth of the entry (openstack configuration show prints it)',
    ])
    expect(valueOf({ profile: 'ovh', auth: { auth_url: 'http://a' } })).toEqual({ authUrl: 'http://a' })
  })
  test('may name services that are not looked up, and a CA in the folder of the user', () => {
    const entry = { placement_endpoint_override: 'http://p', compute_endpoint: 'http://c', cacert: '~/ca.pem' }
    expect(valueOf(entry, {}, { home: '/home/ann' })).toEqual({
      endpoints: { placement: 'http://p', compute: 'http://c' },
      caFile: '/home/ann/ca.pem',
    })
  })
  test('without authentication names the API', () => {
    expect(valueOf({ auth_type: 'none', auth: { endpoint: 'http://x' } })).toMatchObject({ openApi: 'http://x' })
    const overridden = { auth_type: 'none', accelerator_endpoint_override: 'http://y' }
    expect(valueOf(overridden)).toMatchObject({ openApi: 'http://y' })
  })
})

test.each<readonly [entry: object, problem: string]>([
  ...Object.keys(AUTH).map((name) => [{ auth: { [name]: [7] } }, `auth.${name} must be text`] as const),
  ...['region_name', 'cacert', 'username'].map((name) => [{ [name]: { a: 'b' } }, `${name} must be text`] as const),
  [{ auth: 'x' }, 'auth must be a mapping'],
  [{ auth: { system_scope: 'all' } }, 'auth.system_scope is not known here; known are auth_url'],
  [
    { auth_type: 'v3oidcpassword', auth: { identity_provider: 'i' } },
    'auth_type: v3oidcpassword is not supported here; use one of password',
  ],
  [{ cert: 'c.pem' }, 'cert: client certificates are not used here: remove it, and use an address that asks for none'],
  [{ key: 'c.pem' }, 'key: client certificates are not used here'],
  [{ verify: false }, 'verify: certificates are always verified: remove this key, and name the file of the CA'],
  [{ insecure: 'True' }, 'insecure: certificates are always verified: remove this key, and name the file of the CA'],
])('%j is refused by name', (entry, problem) => {
  const { value, problems } = read(entry)
  expect([value, problems]).toEqual([{}, [expect.stringContaining(`clouds.one.${problem}`)]])
})
test('what is verified anyhow is no problem', () => {
  expect(read({ verify: true, insecure: false }).problems).toEqual([])
})
test.each([
  ['7', 'clouds must be a mapping'],
  ['clouds: 7', 'clouds must be a mapping'],
  ['clouds: {one: 7}', 'clouds.one must be a mapping'],
  ['a: b', 'has no cloud one; it has none'],
  ['clouds: {two: {}, three: {}}', 'has no cloud one; it has two, three'],
  ['', 'has no cloud one'],
  ['clouds: [', 'cannot be read: '],
])('a file %j is refused', (text, problem) => {
  expect(ofYaml(text).problems).toEqual([expect.stringContaining(problem)])
})

describe('credentials', () => {
  const NONE = Object.fromEntries(Object.keys(WHOLE_ENTRY).map((name) => [name, null])) as unknown as Keystone
  const asked = (entry: object) => {
    const { credentialName: _, ...none } = NONE as unknown as Record<string, unknown>
    const options = keystoneOf({ ...(none as unknown as Keystone), ...valueOf(entry) }, null)
    return options && authRequest(options.session.credentials)
  }
  const at = { auth_url: 'http://a' }
  test('may be one of an application, named by its user', () => {
    const auth = { ...at, application_credential_name: 'n', application_credential_secret: 's', username: 'u' }
    expect(
      asked({ auth_type: 'v3applicationcredential', auth: { ...auth, password: 'x', project_name: 'p' } }),
    ).toEqual({
      auth: {
        identity: {
          methods: ['application_credential'],
          application_credential: { name: 'n', secret: 's', user: { name: 'u', domain: { name: 'Default' } } },
        },
      },
    })
  })
  test('may be a token, for its own project or another one', () => {
    const identity = { methods: ['token'], token: { id: 't' } }
    expect(asked({ auth_type: 'v3token', auth: { ...at, token: 't' } })).toEqual({ auth: { identity } })
    const auth = { ...at, token: 't', username: 'u', password: 'p', project_id: 'i' }
    expect(asked({ auth_type: 'token', auth })).toEqual({ auth: { identity, scope: { project: { id: 'i' } } } })
  })
})
