/** How an operator says where the cloud is, and who this service is there. */
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/cli/config/config.ts'
import { keystoneOf, overridden, type Keystone } from '../../src/cli/config/keystone.ts'
import { authRequest } from '../../src/neighbours/openstack/credentials.ts'
import { WHOLE_ENTRY } from './wholeEntry.ts'

const CLOUDS = `
clouds:
  mine:
    region_name: RegionTwo
    interface: public
    cacert: ca.pem
    auth:
      auth_url: https://keystone.example.org:5000
      username: cyborg
      password: from-clouds
      project_name: service
      user_domain_name: People
  ids:
    auth:
      auth_url: https://keystone.example.org:5000
      username: cyborg
      password: from-clouds
      user_domain_id: 8f1b
      project_id: 77aa
      project_domain_id: 9c2d
  limited:
    auth:
      auth_url: https://keystone.example.org:5000/v3/
      application_credential_id: id-1
      application_credential_secret: secret-1
  pem:
    cacert: none.pem
    auth:
      auth_url: https://keystone.example.org:5000/v3
      application_credential_id: id-1
      application_credential_secret: secret-1
  odd:
    auth:
      auth_url: [1]
`
const PEM = '-----BEGIN CERTIFICATE-----\n'
const FILES: Readonly<Record<string, string>> = {
  'clouds.yaml': CLOUDS,
  'ca.pem': PEM,
  'not.pem': 'x',
  'bad.yaml': 'a: [',
}
const load = (toml: string, env: Readonly<Record<string, string>> = {}) =>
  loadConfig({
    env: { ACCELERANDO_CONFIG: 'c.toml', ...env },
    osHostname: 'h',
    readFile: (path) => {
      const text = path === 'c.toml' ? toml : FILES[path]
      if (text === undefined) throw new Error('ENOENT: not there')
      return text
    },
  })
const problems = (toml: string): readonly string[] => {
  const loaded = load(toml)
  return loaded.ok ? [] : loaded.problems
}
const keystone = (toml: string, env?: Readonly<Record<string, string>>) => {
  const loaded = load(toml, env)
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
  return loaded.config.keystone
}
const section = (...lines: readonly string[]): string =>
  ['auth = "keystone"', '[keystone_authtoken]', ...lines].join('\n')
const fromClouds = (cloud: string, ...more: readonly string[]) =>
  section(`cloud = "${cloud}"`, 'clouds_file = "clouds.yaml"', ...more)
const URL = 'auth_url = "http://keystone:5000"'

describe('keystone_authtoken', () => {
  test('user, password and project; domains are Default, /v3 is added', () => {
    const read = keystone(section(URL, 'username = "u"', 'project_name = "p"'), {
      ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: 'w',
    })
    expect(read).toEqual({
      session: {
        authUrl: 'http://keystone:5000/v3',
        credentials: {
          kind: 'password',
          username: 'u',
          password: 'w',
          userDomain: 'Default',
          project: 'p',
          projectDomain: 'Default',
        },
        region: null,
        interfaces: ['internal', 'public'],
        timeoutMs: 5000,
      },
      cache: { cacheMs: 60_000, entries: 10_000 },
      challengeUrl: 'http://keystone:5000/v3',
      ca: null,
    })
  })
  test('an entry of a clouds.yaml, which what is set overrides', () => {
    const read = keystone(fromClouds('mine', 'password = "set"', 'interfaces = ["admin"]'))
    expect(read).toMatchObject({
      session: {
        authUrl: 'https://keystone.example.org:5000/v3',
        credentials: { username: 'cyborg', password: 'set', userDomain: 'People', projectDomain: 'Default' },
        region: 'RegionTwo',
        interfaces: ['admin'],
      },
      ca: PEM,
    })
    expect(keystone(fromClouds('mine'))).toMatchObject({
      session: { interfaces: ['public'], credentials: { password: 'from-clouds' } },
    })
  })
  test('an entry with ids, and what is set by name in their place', () => {
    const of = (...more: readonly string[]) => keystone(fromClouds('ids', ...more))!.session.credentials
    expect(authRequest(of())).toMatchObject({
      auth: {
        identity: { password: { user: { name: 'cyborg', domain: { id: '8f1b' } } } },
        scope: { project: { id: '77aa' } },
      },
    })
    expect(authRequest(of('project_name = "p"', 'user_id = "u1"'))).toMatchObject({
      auth: {
        identity: { password: { user: { id: 'u1', password: 'from-clouds' } } },
        scope: { project: { name: 'p', domain: { id: '9c2d' } } },
      },
    })
    expect(authRequest(of('project_name = "p"', 'project_domain_name = "d"', 'user_domain_name = "e"'))).toMatchObject({
      auth: {
        identity: { password: { user: { name: 'cyborg', domain: { name: 'e' } } } },
        scope: { project: { name: 'p', domain: { name: 'd' } } },
      },
    })
  })
  test('an entry with what stands in the files beside it, and with what nobody uses named', () => {
    const beside: Readonly<Record<string, string>> = {
      '/c/clouds.yaml': 'clouds: {mine: {profile: base, auth: {username: u, project_name: p}, odd_key: x}}',
      '/c/secure.yml': 'clouds: {mine: {auth: {password: from-secure}}}',
      '/c/clouds-public.yaml': 'public-clouds: {base: {auth: {auth_url: "http://base:5000"}}}',
    }
    const readFile = (path: string): string => {
      if (path === 'c.toml') return section('cloud = "mine"', 'clouds_file = "/c/clouds.yaml"')
      if (beside[path] === undefined) throw new Error('ENOENT: not there')
      return beside[path]
    }
    expect(loadConfig({ env: { ACCELERANDO_CONFIG: 'c.toml' }, osHostname: 'h', readFile })).toMatchObject({
      config: { keystone: { session: { authUrl: 'http://base:5000/v3', credentials: { password: 'from-secure' } } } },
      warnings: [expect.stringContaining('/c/clouds.yaml: clouds.mine.odd_key is not used')],
    })
    const unreadable = (path: string): string => {
      if (path === '/c/secure.yaml') throw new Error('EACCES: permission denied')
      return readFile(path)
    }
    expect(loadConfig({ env: { ACCELERANDO_CONFIG: 'c.toml' }, osHostname: 'h', readFile: unreadable })).toMatchObject({
      problems: [expect.stringContaining('/c/secure.yaml: EACCES')],
    })
  })
  test('an application credential', () => {
    expect(keystone(fromClouds('limited'))).toMatchObject({
      session: {
        authUrl: 'https://keystone.example.org:5000/v3',
        credentials: { kind: 'application_credential', id: 'id-1', secret: 'secret-1' },
      },
    })
  })
  test('the identity service as callers reach it', () => {
    expect(keystone(fromClouds('limited', 'www_authenticate_uri = "https://public/v3"'))?.challengeUrl).toBe(
      'https://public/v3',
    )
  })
  const LACKS =
    'auth: keystone needs keystone_authtoken.auth_url, and username, password and project_name or an application credential there'
  test.each([
    ['nothing', section(), LACKS],
    ['no password', section(URL, 'username = "u"', 'project_name = "p"'), LACKS],
    ['half an application credential', section(URL, 'application_credential_id = "i"'), LACKS],
    ['no such cloud', fromClouds('other'), 'clouds_file: clouds.yaml: has no cloud other'],
    [
      'a cloud that an object inherits',
      fromClouds('constructor'),
      'clouds_file: clouds.yaml: has no cloud constructor',
    ],
    ['an entry of another shape', fromClouds('odd'), 'clouds_file: clouds.yaml: clouds.odd.auth.auth_url must be text'],
    [
      'a file that is not there',
      section('cloud = "x"', 'clouds_file = "none.yaml"'),
      'clouds_file: none.yaml: cannot be read: ENOENT',
    ],
    [
      'a file that is not YAML',
      section('cloud = "x"', 'clouds_file = "bad.yaml"'),
      'clouds_file: bad.yaml: cannot be read: ',
    ],
    [
      'a usual file that is not there',
      section('cloud = "x"'),
      'clouds_file: /etc/openstack/clouds.yaml: cannot be read: ENOENT: not there (from default)',
    ],
    [
      'certificates of an entry that are not there',
      section('cloud = "pem"', 'clouds_file = "clouds.yaml"'),
      'cafile: none.pem: cannot be read: ENOENT: not there (from default)',
    ],
    ['no certificates', fromClouds('limited', 'cafile = "not.pem"'), 'cafile: not.pem: must hold certificates in PEM'],
  ])('%s is a problem that says what to do', (_, toml, problem) => {
    const found = problems(toml)
    expect(found.join('\n')).toContain(problem)
    expect(found).toHaveLength(1)
  })
  test('secrets are not shown', () => {
    expect(problems(section(URL, 'password = 5')).join('\n')).not.toContain('5,')
  })
  test('with it the API may listen anywhere, under any name; the tour has no token', () => {
    const loaded = load(`listen = "0.0.0.0:6666"\n${fromClouds('limited')}`)
    expect(loaded).toMatchObject({ ok: true, config: { http: { anyHost: true } } })
    expect(problems(`tour = true\n${fromClouds('limited')}`)).toEqual([
      'tour: is not possible with auth keystone: it has no token (from c.toml)',
    ])
  })
})

describe('an entry of a clouds.yaml', () => {
  const { credentialName: _, ...WHOLE } = WHOLE_ENTRY
  test.each<readonly [chosen: Partial<Keystone>, dropped: readonly (keyof typeof WHOLE)[]]>([
    [{ username: 'x' }, ['userId']],
    [{ userId: 'x' }, ['username']],
    [{ userDomain: 'x' }, ['userDomainId']],
    [{ userDomainId: 'x' }, ['userDomain']],
    [{ project: 'x' }, ['projectId']],
    [{ projectId: 'x' }, ['project']],
    [{ projectDomain: 'x' }, ['projectDomainId']],
    [{ projectDomainId: 'x' }, ['projectDomain']],
    [{ password: 'x' }, []],
  ])('gives way to %j', (chosen, dropped) => {
    const kept = Object.entries(WHOLE).filter(([name]) => !dropped.some((one) => one === name))
    expect(overridden(WHOLE, chosen)).toEqual({ ...Object.fromEntries(kept), ...chosen })
  })
  test('has an account if it has a user, a password and a project, or a whole application credential', () => {
    const none = Object.fromEntries(Object.keys(WHOLE).map((name) => [name, null]))
    const kindOf = (...fields: readonly (keyof typeof WHOLE)[]) => {
      const given = Object.fromEntries(['authUrl' as const, ...fields].map((name) => [name, WHOLE[name]]))
      const found = keystoneOf({ ...none, ...given } as unknown as Keystone, null)
      return found && found.session.credentials
    }
    expect(kindOf('username', 'password', 'project')).toEqual({
      kind: 'password',
      username: 'u',
      password: 'p',
      userDomain: 'Default',
      project: 'n',
      projectDomain: 'Default',
    })
    expect(kindOf('userId', 'password', 'projectId', 'userDomainId', 'projectDomainId')).toEqual({
      kind: 'password',
      username: '',
      password: 'p',
      userDomain: 'Default',
      project: '',
      projectDomain: 'Default',
      userId: 'ui',
      userDomainId: 'udi',
      projectId: 'pi',
      projectDomainId: 'pdi',
    })
    expect(kindOf('credentialId', 'credentialSecret', 'username', 'password', 'project')).toEqual({
      kind: 'application_credential',
      id: 'i',
      secret: 's',
    })
    for (const fields of [
      ['password', 'project'],
      ['username', 'project'],
      ['username', 'password'],
      ['credentialId', 'username', 'project'],
      ['credentialSecret'],
    ] as const)
      expect(kindOf(...fields)).toBeNull()
    expect(keystoneOf({ ...none, ...WHOLE, authUrl: null } as unknown as Keystone, null)).toBeNull()
  })
  test('has the version once at the end of its address', () => {
    const urlOf = (authUrl: string) => keystoneOf({ ...WHOLE, authUrl } as unknown as Keystone, null)!.session.authUrl
    expect(['http://a', 'http://a//', 'http://a/v3', 'http://a/v3/', 'http://a/v3/b'].map(urlOf)).toEqual([
      'http://a/v3',
      'http://a/v3',
      'http://a/v3',
      'http://a/v3',
      'http://a/v3/b/v3',
    ])
  })
})
