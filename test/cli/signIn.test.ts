/** How commands sign in, with the variables and files of OpenStack's command line, and how they end if they cannot. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type KeystoneDouble, keystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'
import { commandHere } from '../support/commandHere.ts'
import { describeWith } from '../support/needs.ts'
import { tempFolder } from '../support/program.ts'
import { certificates, OPENSSL, tlsProxy } from '../support/tls.ts'

const folder = tempFolder('sign-in')
const file = (name: string, content: string): string => {
  writeFileSync(join(folder.path, name), content)
  return join(folder.path, name)
}
let keystone: KeystoneDouble
let clouds: string
/** The tokens that the API was shown. */
let tokens: (string | undefined)[] = []
const api = createServer((request, response) => {
  tokens.push(request.headers['x-auth-token'] as string | undefined)
  response.end(request.url!.includes('readyz') ? '{}' : '{"hosts":[]}')
})
const apiUrl = () => `http://127.0.0.1:${(api.address() as AddressInfo).port}/v2`
beforeAll(async () => {
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
  keystone = await keystoneDouble()
  keystone.services = { accelerator: `${apiUrl()}/` }
  const auth = { auth_url: keystone.authUrl, username: 'alpha-member', password: 'rig-secret', project_name: 'alpha' }
  const all = {
    mine: { auth },
    poor: { auth: { auth_url: keystone.authUrl } },
    broken: { auth: { pasword: 'planted' } },
  }
  clouds = file('clouds.yaml', JSON.stringify({ clouds: all }))
})
afterAll(async () => {
  await keystone.close()
  api.close()
  folder.remove()
})
const user = (): Readonly<Record<string, string>> => ({
  OS_AUTH_URL: keystone.authUrl.replace(/\/v3$/, ''),
  OS_USERNAME: 'alpha-member',
  OS_PASSWORD: 'rig-secret',
  OS_PROJECT_NAME: 'alpha',
})
const listed = async (env: Readonly<Record<string, string>>, ...more: readonly string[]) => {
  tokens = []
  const { code, err } = await commandHere(['host', 'list', ...more], env)
  return { code, err, token: tokens[0] }
}
const SIGNED_IN = { code: 0, err: '', token: expect.stringMatching(/^gAAAA/) }

describe('the API of the catalogue is shown a token', () => {
  test('with user, password and project, also under the names of old clients', async () => {
    const { OS_PROJECT_NAME: project, ...rest } = user()
    for (const env of [
      user(),
      { ...user(), OS_REGION_NAME: 'RegionOne', OS_INTERFACE: 'admin' },
      { ...user(), OS_CLOUD: 'envvars' },
      { ...rest, OS_TENANT_NAME: project!, OS_ENDPOINT_TYPE: 'publicURL' },
    ])
      expect(await listed(env)).toEqual(SIGNED_IN)
  })
  test('with a token that is given, and Keystone is not asked', async () => {
    const asked = keystone.asked.length
    expect(await listed({ OS_TOKEN: 't' }, '--api', apiUrl())).toEqual({ code: 0, err: '', token: 't' })
    expect((await listed({ OS_TOKEN: '', OS_CLOUD: '' }, '--api', apiUrl())).token).toBeUndefined()
    expect(keystone.asked.length).toBe(asked)
  })
  test('with an entry of a clouds.yaml, which variables override', async () => {
    const mine = { OS_CLOUD: 'mine', OS_CLIENT_CONFIG_FILE: clouds }
    expect(await listed(mine)).toEqual(SIGNED_IN)
    expect((await listed({ ...mine, OS_PASSWORD: 'wrong' })).code).toBe(4)
    expect(await listed({ ...user(), OS_CLOUD: 'poor', OS_CLIENT_CONFIG_FILE: clouds })).toEqual(SIGNED_IN)
  })
  test('with an entry with an alias, a secret in a file of its own, and an address of the API', async () => {
    const own = file(
      'own.yaml',
      `base: &base\n  auth: &auth {auth_url: "${keystone.authUrl}", username: alpha-member, tenant_name: alpha}\n` +
        `clouds:\n  mine:\n    <<: *base\n    interface: publicURL\n    accelerator_endpoint_override: ${apiUrl()}\n    odd-key: 1\n` +
        `  open: {auth_type: none, endpoint: "${apiUrl()}/"}\n`,
    )
    const secure = file('secure.yaml', 'clouds: {mine: {auth: {password: rig-secret}}}')
    const env = { OS_CLIENT_CONFIG_FILE: own, OS_CLIENT_SECURE_FILE: secure }
    const entered = await listed({ ...env, OS_CLOUD: 'mine' })
    expect(entered).toMatchObject({ code: 0, token: expect.stringMatching(/^gAAAA/) })
    expect(entered.err).toContain(`${own}: clouds.mine.odd_key is not used`)
    expect(await listed({ ...env, OS_CLOUD: 'open' })).toEqual({ code: 0, err: '', token: undefined })
  })
  test('of an entry in the home folder, where the command line of OpenStack looks as well', async () => {
    const home = process.env['HOME']
    process.env['HOME'] = folder.path
    try {
      const places = `clouds.yaml, ${folder.path}/.config/openstack/clouds.yaml, /etc/openstack/clouds.yaml can be read`
      expect(await listed({ OS_CLOUD: 'mine' })).toMatchObject({ code: 2, err: expect.stringContaining(places) })
      mkdirSync(join(folder.path, '.config/openstack'), { recursive: true })
      file('.config/openstack/clouds.yml', '')
      const auth = {
        auth_url: keystone.authUrl,
        username: 'alpha-member',
        password: 'rig-secret',
        project_name: 'alpha',
      }
      file('.config/openstack/clouds.yaml', JSON.stringify({ clouds: { mine: { auth } } }))
      expect(await listed({ OS_CLOUD: 'mine' })).toEqual(SIGNED_IN)
    } finally {
      process.env['HOME'] = home
    }
  })
})

test('each variable says what it stands for', async () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      asked.push(body)
      response.writeHead(401).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const where = { OS_AUTH_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  const who = { OS_USERNAME: 'the user', OS_PASSWORD: 'the password', OS_PROJECT_NAME: 'the project' }
  for (const given of [
    who,
    { ...who, OS_USER_DOMAIN_NAME: 'of users', OS_PROJECT_DOMAIN_NAME: 'of projects' },
    { OS_APPLICATION_CREDENTIAL_ID: 'the id', OS_APPLICATION_CREDENTIAL_SECRET: 'the secret' },
    // as Horizon writes them
    { ...who, OS_PROJECT_ID: 'p1', OS_PROJECT_DOMAIN_ID: 'd1', OS_USER_DOMAIN_ID: 'd2' },
    { OS_USER_ID: 'u1', OS_PASSWORD: 'the password', OS_PROJECT_ID: 'p1' },
  ])
    expect((await listed({ ...where, ...given })).code).toBe(4)
  const named = (of: string) => ({ name: 'the user', domain: { name: of }, password: 'the password' })
  expect(asked.map((one) => (JSON.parse(one) as { readonly auth: object }).auth)).toMatchObject([
    { identity: { password: { user: named('Default') } }, scope: { project: { domain: { name: 'Default' } } } },
    { identity: { password: { user: named('of users') } }, scope: { project: { domain: { name: 'of projects' } } } },
    { identity: { application_credential: { id: 'the id', secret: 'the secret' } } },
    { identity: { password: { user: { name: 'the user', domain: { id: 'd2' } } } }, scope: { project: { id: 'p1' } } },
    { identity: { password: { user: { id: 'u1', password: 'the password' } } }, scope: { project: { id: 'p1' } } },
  ])
})

test.each<readonly [string, () => Readonly<Record<string, string>>, number, string]>([
  ['Keystone refuses the credentials', () => ({ ...user(), OS_PASSWORD: 'wrong' }), 4, 'it refuses the credentials'],
  [
    'so does one at an address that names v2.0',
    () => ({ ...user(), OS_PASSWORD: 'wrong', OS_AUTH_URL: keystone.authUrl.replace(/v3$/, 'v2.0/') }),
    4,
    'it refuses the credentials',
  ],
  [
    'nobody answers',
    () => ({ ...user(), OS_AUTH_URL: 'http://127.0.0.1:1/v3' }),
    8,
    'Keystone at http://127.0.0.1:1/v3: ',
  ],
  ...['OS_USERNAME', 'OS_PASSWORD', 'OS_PROJECT_NAME'].map(
    (name) =>
      [
        `${name} is not set`,
        () => ({ ...user(), [name]: '' }),
        4,
        'not enough to sign in: set OS_AUTH_URL with',
      ] as const,
  ),
  ['the entry lacks a user', () => ({ OS_CLOUD: 'poor', OS_CLIENT_CONFIG_FILE: clouds }), 4, 'not enough to sign in'],
  ['there is no such entry', () => ({ OS_CLOUD: 'other', OS_CLIENT_CONFIG_FILE: clouds }), 2, 'has no cloud other'],
  [
    'the entry has a key that is none',
    () => ({ OS_CLOUD: 'broken', OS_CLIENT_CONFIG_FILE: clouds }),
    2,
    'clouds.broken.auth.pasword is not known here',
  ],
  [
    'its file is not there',
    () => ({ OS_CLOUD: 'mine', OS_CLIENT_CONFIG_FILE: '/none.yaml' }),
    2,
    '/none.yaml can be read',
  ],
  [
    'the region has no such service',
    () => ({ ...user(), OS_REGION_NAME: 'Elsewhere', OS_INTERFACE: 'internal' }),
    8,
    'with the interface internal in the region Elsewhere',
  ],
  [
    'the file of the CA cannot be read',
    () => ({ OS_CACERT: '/nowhere/ca.pem' }),
    2,
    'OS_CACERT: /nowhere/ca.pem: ENOENT',
  ],
])('where %s the command says so', async (_, env, code, says) => {
  const refused = await listed(env())
  expect(refused).toMatchObject({ code, err: expect.stringContaining(says), token: undefined })
  expect(refused.err).not.toContain('planted')
})

describeWith(OPENSSL, 'an API behind the certificate of a private CA', (openssl) => {
  test('is trusted where OS_CACERT or the entry of clouds.yaml names the CA, by doctor too', async () => {
    const tls = certificates(openssl)
    const { url, close } = await tlsProxy(new URL(apiUrl()).origin, tls)
    onTestFinished(close)
    const ca = file('ca.pem', tls.ca)
    const mine = `clouds: {mine: {auth_type: none, auth: {endpoint: "${url}/v2"}, cacert: "${ca}"}}`
    const cloud = { OS_CLOUD: 'mine', OS_CLIENT_CONFIG_FILE: file('tls.yaml', mine) }
    expect((await listed({}, '--api', `${url}/v2`)).code).toBe(8)
    expect((await listed({ OS_CACERT: ca }, '--api', `${url}/v2`)).code).toBe(0)
    expect((await listed(cloud)).code).toBe(0)
    expect((await commandHere(['doctor', '--api', url], { OS_CACERT: ca })).code).toBe(0)
  })
})
