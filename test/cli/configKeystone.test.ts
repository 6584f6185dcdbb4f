/** Where the cloud is, and who this service is there: by options, and by an entry of a `clouds.yaml`. */
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/cli/config/config.ts'

const PEM = '-----BEGIN CERTIFICATE-----\n'
const FILES: Readonly<Record<string, string>> = { 'ca.pem': PEM, 'not.pem': 'x', 'bad.yaml': 'a: [' }
const load = (toml: string, files: Readonly<Record<string, string>> = {}, unreadable: string | null = null) =>
  loadConfig({
    env: { ACCELERANDO_CONFIG: 'c.toml' },
    osHostname: 'h',
    readFile: (path) => {
      if (path === unreadable) throw new Error('EACCES: permission denied')
      const text = path === 'c.toml' ? toml : { ...FILES, ...files }[path]
      if (text === undefined) throw new Error('ENOENT: not there')
      return text
    },
  })
const problems = (...given: Parameters<typeof load>): readonly string[] => {
  const loaded = load(...given)
  return loaded.ok ? [] : loaded.problems
}
const keystone = (...given: Parameters<typeof load>) => {
  const loaded = load(...given)
  return loaded.ok ? loaded.config.keystone : expect.fail(loaded.problems.join('\n'))
}
const section = (...lines: readonly string[]): string =>
  ['auth = "keystone"', '[keystone_authtoken]', ...lines].join('\n')
const URL = 'auth_url = "http://keystone:5000"'
const NAMED = ['cloud = "one"', 'clouds_file = "/c/clouds.yaml"']
/** What an entry sets, with what stands in the files beside it. */
type Beside = { readonly secure?: string; readonly public?: string }
const loadEntry = (entry: unknown, beside: Beside = {}, ...lines: readonly string[]) =>
  load(section(...NAMED, ...lines), {
    '/c/clouds.yaml': typeof entry === 'string' ? entry : JSON.stringify({ clouds: { one: entry, other: 7 } }),
    ...(beside.secure !== undefined && { '/c/secure.yaml': beside.secure }),
    ...(beside.public !== undefined && { '/c/clouds-public.yaml': beside.public }),
  })
const ofEntry = (...given: Parameters<typeof loadEntry>) => {
  const loaded = loadEntry(...given)
  return loaded.ok ? loaded.config.keystone!.session : expect.fail(loaded.problems.join('\n'))
}
const AUTH = { auth_url: 'http://a', username: 'u', password: 'p', project_name: 'n' }
const PASSWORD = {
  kind: 'password',
  username: 'u',
  password: 'p',
  userDomain: 'Default',
  project: 'n',
  projectDomain: 'Default',
}

describe('keystone_authtoken', () => {
  test('has user, password and project; domains are Default, /v3 is added', () => {
    expect(keystone(section(URL, 'username = "u"', 'password = "p"', 'project_name = "n"'))).toEqual({
      session: {
        authUrl: 'http://keystone:5000/v3',
        credentials: PASSWORD,
        region: null,
        interfaces: ['internal', 'public'],
        timeoutMs: 5000,
      },
      cache: { cacheMs: 60_000, entries: 10_000 },
      challengeUrl: 'http://keystone:5000/v3',
      ca: null,
    })
  })
  test('has an application credential, and the identity service as callers reach it', () => {
    const credential = ['application_credential_id = "i"', 'application_credential_secret = "s"']
    expect(keystone(section(URL, ...credential, 'www_authenticate_uri = "https://public/v3"'))).toMatchObject({
      session: { credentials: { kind: 'application_credential', id: 'i', secret: 's' } },
      challengeUrl: 'https://public/v3',
    })
  })
  test.each([
    ['http://a', 'http://a/v3'],
    ['http://a//', 'http://a/v3'],
    ['http://a/v3/', 'http://a/v3'],
    ['http://a/v2.0', 'http://a/v3'],
    ['http://a/v3/b', 'http://a/v3/b/v3'],
  ])('has the version once at the end of the address %s', (given, authUrl) => {
    expect(ofEntry({ auth: { ...AUTH, auth_url: given } })).toMatchObject({ authUrl })
  })
  const LACKS =
    'auth: keystone needs keystone_authtoken.auth_url, and username, password and project_name or an application credential there'
  test.each([
    ['nothing', section(), LACKS],
    ['no password', section(URL, 'username = "u"', 'project_name = "p"'), LACKS],
    ['half an application credential', section(URL, 'application_credential_id = "i"'), LACKS],
    [
      'no certificates',
      section(URL, 'cafile = "not.pem"', 'username = "u"', 'password = "p"', 'project_name = "n"'),
      'cafile: not.pem: must hold certificates in PEM',
    ],
    [
      'a file that is not there',
      section('cloud = "x"', 'clouds_file = "none.yaml"'),
      'none.yaml: cannot be read: ENOENT',
    ],
    ['a file that is not YAML', section('cloud = "x"', 'clouds_file = "bad.yaml"'), 'bad.yaml: cannot be read: '],
    [
      'no usual file',
      section('cloud = "x"'),
      'clouds_file: /etc/openstack/clouds.yaml: cannot be read: ENOENT: not there (from default)',
    ],
  ])('%s is a problem that says what to do', (_, toml, problem) => {
    expect(problems(toml)).toEqual([expect.stringContaining(problem)])
  })
  test('shows no secret, lets the API listen anywhere under any name, and allows no tour', () => {
    expect(problems(section(URL, 'password = 5')).join('\n')).not.toContain('5,')
    const account = section(URL, 'username = "u"', 'password = "p"', 'project_name = "n"')
    expect(load(`listen = "0.0.0.0:6666"\n${account}`)).toMatchObject({ ok: true, config: { http: { anyHost: true } } })
    expect(problems(`tour = true\n${account}`)).toEqual([
      'tour: is not possible with auth keystone: it has no token (from c.toml)',
    ])
  })
})

describe('an entry of a clouds.yaml, as openstacksdk reads it', () => {
  test('is overridden by what is set, a name also its id, and an id its name', () => {
    const entry = {
      auth: { ...AUTH, project_name: undefined, project_id: '77aa', project_domain_id: '9c2d', user_domain_id: '8f1b' },
    }
    const of = (...lines: readonly string[]) => ofEntry(entry, {}, ...lines).credentials
    expect(of()).toMatchObject({ username: 'u', userDomainId: '8f1b', projectId: '77aa', projectDomainId: '9c2d' })
    const both = of('project_name = "p"', 'user_id = "u1"', 'user_domain_name = "e"')
    expect(both).toMatchObject({ userId: 'u1', username: '', userDomain: 'e', project: 'p', projectDomainId: '9c2d' })
    for (const gone of ['projectId', 'userDomainId']) expect(both).not.toHaveProperty(gone)
    expect(
      ofEntry({ auth: AUTH, interface: 'public' }, {}, 'password = "set"', 'interfaces = ["admin"]'),
    ).toMatchObject({
      credentials: { password: 'set' },
      interfaces: ['admin'],
    })
  })
  test('may have aliases and merge keys, and texts of digits stay as they are written', () => {
    const text = `defaults: &defaults
  region_name: r
  auth: &auth
    auth_url: http://a
    project-name: 0123
clouds:
  one:
    <<: *defaults
    auth:
      <<: *auth
      username: 1e3
      password: 007
      user_id:
      project_id: ~`
    expect(ofEntry(text)).toMatchObject({
      region: 'r',
      authUrl: 'http://a/v3',
      credentials: { project: '0123', username: '1e3', password: '007' },
    })
  })
  test('that grows without end by its aliases is refused', () => {
    const rows = Array.from(
      { length: 12 },
      (_, at) => `l${at + 1}: &l${at + 1} [${Array(9).fill(`*l${at}`).join(', ')}]`,
    )
    const loaded = loadEntry(['l0: &l0 x', ...rows, 'clouds: {one: {auth: {auth_url: *l12}}}'].join('\n'))
    expect(loaded).toMatchObject({ ok: false, problems: [expect.stringContaining('Excessive alias count')] })
  })
  const credentials = (entry: object) => ofEntry(entry).credentials
  test('may hold its keys beside auth, which then count, and under their former names', () => {
    expect(credentials({ auth: { ...AUTH, username: 'x' }, username: 'u' })).toEqual(PASSWORD)
    const former = { 'auth-url': 'http://a', tenant_name: 'n', user_name: 'u', password: 'p' }
    expect(credentials({ auth: former })).toEqual(PASSWORD)
    expect(credentials({ auth: { ...AUTH, project_name: undefined, tenant_id: 'i' } })).toMatchObject({
      projectId: 'i',
    })
    expect(ofEntry({ auth: AUTH, endpoint_type: 'internalURL' }).interfaces).toEqual(['internal'])
    expect(ofEntry({ auth: AUTH, interface: ['internal', 'publicURL'] }).interfaces).toEqual(['internal', 'public'])
  })
  test('may name one domain for user and project', () => {
    for (const key of ['domain_name', 'default_domain_name'])
      expect(credentials({ auth: { ...AUTH, [key]: 'd' } })).toMatchObject({ userDomain: 'd', projectDomain: 'd' })
    expect(credentials({ auth: { ...AUTH, domain_id: 'd', user_domain_name: 'own' } })).toMatchObject({
      userDomain: 'own',
      projectDomainId: 'd',
    })
  })
  test('may be one of an application, or a token', () => {
    const auth = {
      auth_url: 'http://a',
      application_credential_name: 'n',
      application_credential_secret: 's',
      username: 'u',
    }
    expect(credentials({ auth_type: 'v3applicationcredential', auth })).toMatchObject({
      kind: 'named_credential',
      name: 'n',
      secret: 's',
    })
    expect(credentials({ auth_type: 'v3token', auth: { auth_url: 'http://a', token: 't' } })).toEqual({
      kind: 'token',
      token: 't',
      scope: null,
    })
    expect(
      credentials({ auth_type: 'token', auth: { auth_url: 'http://a', token: 't', project_id: 'i' } }),
    ).toMatchObject({
      kind: 'token',
      scope: { projectId: 'i' },
    })
  })
  test('may have several regions, of which the first or the chosen one counts', () => {
    const regions = ['r1', { name: 'r2', values: { auth: { auth_url: 'http://r2' }, interface: 'internal' } }]
    const entry = { auth: { ...AUTH, auth_url: 'http://{region_name}.example' }, regions }
    expect(ofEntry(entry)).toMatchObject({ region: 'r1', authUrl: 'http://r1.example/v3' })
    const second = { region: 'r2', authUrl: 'http://r2/v3', interfaces: ['internal'] }
    expect(ofEntry(entry, {}, 'region_name = "r2"')).toMatchObject(second)
    for (const region of ['r1, r2', ['r1', 'r2']])
      expect(ofEntry({ auth: AUTH, region_name: region }).region).toBe('r1')
  })
  test('is put over its profile, and what is secret over it', () => {
    const beside = {
      secure: 'clouds: {one: {auth: {password: secret}}}',
      public: 'public-clouds: {base: {region_name: r, auth: {auth_url: "http://base", username: x}}}',
    }
    const auth = { username: 'u', password: 'x', project_name: 'n' }
    for (const key of ['profile', 'cloud'])
      expect(ofEntry({ [key]: 'base', auth }, beside)).toMatchObject({
        ...{ region: 'r', authUrl: 'http://base/v3', credentials: { ...PASSWORD, password: 'secret' } },
      })
    expect(loadEntry({ profile: 'ovh', auth }, beside)).toMatchObject({
      problems: [
        expect.stringContaining(
          'clouds.one.profile: no clouds-public.yaml has ovh, and the profiles of openstacksdk are not used here',
        ),
      ],
    })
    expect(ofEntry({ profile: 'ovh', auth: AUTH }).authUrl).toBe('http://a/v3')
    const file = { '/c/clouds.yaml': JSON.stringify({ clouds: { one: { auth: AUTH } } }) }
    expect(problems(section(...NAMED), file, '/c/secure.yaml')).toEqual([
      expect.stringContaining('/c/secure.yaml: EACCES'),
    ])
  })
  test('may name services that are not looked up, and a CA; what nobody uses is a warning', () => {
    const entry = {
      auth: AUTH,
      placement_endpoint_override: 'http://p',
      cacert: 'ca.pem',
      regionname: 7,
      image_format: 'raw',
    }
    const loaded = loadEntry(entry)
    expect(loaded).toMatchObject({
      config: { keystone: { ca: PEM, session: { endpoints: { placement: 'http://p' } } } },
      warnings: [expect.stringContaining('clouds.one.regionname is not used')],
    })
    expect(loadEntry({ auth: AUTH, verify: true, insecure: false })).toMatchObject({ ok: true })
  })
  test.each<readonly [entry: object, problem: string]>([
    ...['auth_url', 'password', 'project_id'].map(
      (name) => [{ auth: { [name]: [7] } }, `auth.${name} must be text`] as const,
    ),
    ...['region_name', 'cacert', 'username'].map((name) => [{ [name]: { a: 'b' } }, `${name} must be text`] as const),
    [{ auth: 'x' }, 'auth must be a mapping'],
    [{ auth: { system_scope: 'all' } }, 'auth.system_scope is not known here; known are auth_url'],
    [{ auth_type: 'v3oidcpassword' }, 'auth_type: v3oidcpassword is not supported here; use one of password'],
    [{ cert: 'c.pem' }, 'cert: client certificates are not used here: remove it'],
    [{ verify: false }, 'verify: certificates are always verified: remove this key, and name the file of the CA'],
    [{ insecure: 'True' }, 'insecure: certificates are always verified'],
    [{ auth: AUTH, cacert: 'none.pem' }, 'cafile: none.pem: cannot be read'],
  ])('%j is refused by name', (entry, problem) => {
    const loaded = loadEntry(entry)
    const [found] = loaded.ok ? [] : loaded.problems
    expect(found).toContain(problem.startsWith('cafile') ? problem : `clouds.one.${problem}`)
  })
  test.each([
    ['7', 'clouds must be a mapping'],
    ['clouds: {one: 7}', 'clouds.one must be a mapping'],
    ['a: b', 'has no cloud one; it has none'],
    ['clouds: {two: {}, three: {}}', 'has no cloud one; it has two, three'],
    ['clouds: [', 'cannot be read: '],
  ])('a file %j is refused', (text, problem) => {
    expect(loadEntry(text)).toMatchObject({ ok: false, problems: [expect.stringContaining(problem)] })
  })
})
