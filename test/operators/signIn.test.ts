/** How commands show who they are: with the variables of OpenStack's own command line. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signIn } from '../../src/cli/operators/signIn.ts'
import { type KeystoneDouble, keystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'

describe('signing in', () => {
  const folder = mkdtempSync(join(tmpdir(), 'accelerando-clouds-'))
  const clouds = join(folder, 'clouds.yaml')
  let keystone: KeystoneDouble
  beforeAll(async () => {
    keystone = await keystoneDouble()
    keystone.services = { accelerator: 'http://accelerator.example.org/v2/' }
    const auth = { auth_url: keystone.authUrl, username: 'alpha-member', password: 'rig-secret', project_name: 'alpha' }
    writeFileSync(
      clouds,
      JSON.stringify({ clouds: { mine: { auth }, poor: { auth: { auth_url: keystone.authUrl } } } }),
    )
  })
  afterAll(async () => {
    await keystone.close()
    rmSync(folder, { recursive: true })
  })
  const user = () => ({
    OS_AUTH_URL: keystone.authUrl.replace(/\/v3$/, ''),
    OS_USERNAME: 'alpha-member',
    OS_PASSWORD: 'rig-secret',
    OS_PROJECT_NAME: 'alpha',
  })
  const ENTERED = {
    headers: { 'x-auth-token': expect.stringMatching(/^gAAAA/) },
    api: 'http://accelerator.example.org/v2',
    ca: null,
  }

  test('without any variable shows nothing; empty ones are none', async () => {
    const nothing = { headers: {}, api: null, ca: null }
    expect(await signIn({})).toEqual(nothing)
    expect(await signIn({ OS_TOKEN: '', OS_CLOUD: '', OS_AUTH_URL: '' })).toEqual(nothing)
  })
  test('a token is shown as it is, and nobody is asked', async () => {
    const asked = keystone.asked.length
    expect(await signIn({ ...user(), OS_TOKEN: 't' })).toEqual({
      headers: { 'x-auth-token': 't' },
      api: null,
      ca: null,
    })
    expect(keystone.asked.length).toBe(asked)
  })
  test('with user, password and project; the API is the one in the catalogue', async () => {
    expect(await signIn(user())).toEqual(ENTERED)
    expect(await signIn({ ...user(), OS_REGION_NAME: 'RegionOne', OS_INTERFACE: 'admin' })).toEqual(ENTERED)
  })
  test('with an entry of a clouds.yaml, which variables override', async () => {
    const cloud = { OS_CLOUD: 'mine', OS_CLIENT_CONFIG_FILE: clouds }
    expect(await signIn(cloud)).toEqual(ENTERED)
    await expect(signIn({ ...cloud, OS_PASSWORD: 'wrong' })).rejects.toThrow('it refuses the credentials')
    const poor = { OS_CLOUD: 'poor', OS_CLIENT_CONFIG_FILE: clouds }
    await expect(signIn(poor)).rejects.toThrow('that is not enough to sign in: set OS_AUTH_URL with OS_USERNAME')
    expect(await signIn({ ...user(), ...poor })).toEqual(ENTERED)
  })
  test.each([
    ['OS_USERNAME', 'that is not enough to sign in'],
    ['OS_PASSWORD', 'that is not enough to sign in'],
    ['OS_PROJECT_NAME', 'that is not enough to sign in'],
  ])('without %s says what is wanted', async (name, text) => {
    await expect(signIn({ ...user(), [name]: undefined })).rejects.toThrow(text)
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
    const where = { OS_AUTH_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
    const who = { OS_USERNAME: 'the user', OS_PASSWORD: 'the password', OS_PROJECT_NAME: 'the project' }
    const domains = { OS_USER_DOMAIN_NAME: 'of users', OS_PROJECT_DOMAIN_NAME: 'of projects' }
    const credential = { OS_APPLICATION_CREDENTIAL_ID: 'the id', OS_APPLICATION_CREDENTIAL_SECRET: 'the secret' }
    // as Horizon writes them
    const ids = { ...who, OS_PROJECT_ID: 'p1', OS_PROJECT_DOMAIN_ID: 'd1', OS_USER_DOMAIN_ID: 'd2' }
    const onlyIds = { OS_USER_ID: 'u1', OS_PASSWORD: 'the password', OS_PROJECT_ID: 'p1' }
    for (const given of [who, { ...who, ...domains }, credential, ids, onlyIds])
      await expect(signIn({ ...where, ...given })).rejects.toThrow('it refuses the credentials')
    server.close()
    const user = (of: string) => ({ name: 'the user', domain: { name: of }, password: 'the password' })
    const bodies = asked.map((one) => (JSON.parse(one) as { readonly auth: object }).auth)
    expect(bodies).toMatchObject([
      { identity: { password: { user: user('Default') } }, scope: { project: { domain: { name: 'Default' } } } },
      { identity: { password: { user: user('of users') } }, scope: { project: { domain: { name: 'of projects' } } } },
      { identity: { application_credential: { id: 'the id', secret: 'the secret' } } },
      {
        identity: { password: { user: { name: 'the user', domain: { id: 'd2' } } } },
        scope: { project: { id: 'p1' } },
      },
      { identity: { password: { user: { id: 'u1', password: 'the password' } } }, scope: { project: { id: 'p1' } } },
    ])
    await expect(signIn({ ...where, ...who, OS_CACERT: join(folder, 'none.pem') })).rejects.toThrow(/ENOENT.*none\.pem/)
  })
  test('an entry is looked for where the command line of OpenStack looks for it', async () => {
    const home = process.env['HOME']
    process.env['HOME'] = folder
    try {
      await expect(signIn({ OS_CLOUD: 'mine' })).rejects.toThrow(
        `OS_CLOUD: none of clouds.yaml, ${folder}/.config/openstack/clouds.yaml, /etc/openstack/clouds.yaml can be read`,
      )
      mkdirSync(join(folder, '.config/openstack'), { recursive: true })
      copyFileSync(clouds, join(folder, '.config/openstack/clouds.yaml'))
      expect(await signIn({ OS_CLOUD: 'mine' })).toEqual(ENTERED)
    } finally {
      process.env['HOME'] = home
    }
  })
  test('an entry of today, with an alias, a secret in a file of its own and an address of the API', async () => {
    const own = join(folder, 'own.yaml')
    const secure = join(folder, 'secure.yaml')
    writeFileSync(
      own,
      `base: &base\n  auth: &auth {auth_url: "${keystone.authUrl}", username: alpha-member, tenant_name: alpha}\n` +
        'clouds:\n  mine:\n    <<: *base\n    interface: publicURL\n    accelerator_endpoint_override: http://here:6666/v2\n    odd-key: 1\n' +
        '  open: {auth_type: none, endpoint: "http://open:6666/v2/"}\n  broken: {auth: {auth_url: x, pasword: planted}}\n',
    )
    writeFileSync(secure, 'clouds: {mine: {auth: {password: rig-secret}}}')
    const env = { OS_CLIENT_CONFIG_FILE: own, OS_CLIENT_SECURE_FILE: secure }
    const warned: string[] = []
    const entered = await signIn({ ...env, OS_CLOUD: 'mine' }, (line) => warned.push(line))
    expect(entered).toEqual({ ...ENTERED, api: 'http://here:6666/v2' })
    expect(warned).toEqual([`${own}: clouds.mine.odd_key is not used`])
    expect(await signIn({ ...env, OS_CLOUD: 'open' })).toEqual({ headers: {}, api: 'http://open:6666/v2', ca: null })
    const broken = signIn({ ...env, OS_CLOUD: 'broken' })
    await expect(broken).rejects.toThrow(`OS_CLOUD: ${own}: clouds.broken.auth.pasword is not known here`)
    await expect(broken).rejects.not.toThrow('planted')
  })
  test('a cloud of that name is what the variables say', async () => {
    expect(await signIn({ ...user(), OS_CLOUD: 'envvars' })).toEqual(ENTERED)
    expect(await signIn({ ...user(), OS_CLOUD: 'own', OS_CLOUD_NAME: 'own' })).toEqual(ENTERED)
    const { OS_PROJECT_NAME: project, ...rest } = user()
    expect(await signIn({ ...rest, OS_TENANT_NAME: project, OS_ENDPOINT_TYPE: 'publicURL' })).toEqual(ENTERED)
  })
  test('a file that is not there, and a cloud that is not in it, are named', async () => {
    await expect(signIn({ OS_CLOUD: 'mine', OS_CLIENT_CONFIG_FILE: join(folder, 'none.yaml') })).rejects.toThrow(
      /^OS_CLOUD: none of .*none\.yaml can be read$/,
    )
    await expect(signIn({ OS_CLOUD: 'other', OS_CLIENT_CONFIG_FILE: clouds })).rejects.toThrow(
      `OS_CLOUD: ${clouds}: has no cloud other`,
    )
  })
  test('an interface is that of the variable', async () => {
    await expect(signIn({ ...user(), OS_REGION_NAME: 'Elsewhere', OS_INTERFACE: 'internal' })).rejects.toThrow(
      'with the interface internal in the region Elsewhere',
    )
  })
  test.each([
    [401, 'denied'],
    [499, 'denied'],
    [500, 'unreached'],
    [503, 'unreached'],
  ])('after the status %i of Keystone the command ends as %s', async (status, exit) => {
    const server = createServer((_, response) => response.writeHead(status).end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const where = { OS_AUTH_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
    await expect(signIn({ ...user(), ...where })).rejects.toMatchObject({ exit, cause: expect.any(Error) })
    server.close()
  })
  test('the command ends as unreached, denied or misused, by what is missing', async () => {
    await expect(signIn({ ...user(), OS_AUTH_URL: 'http://127.0.0.1:1' })).rejects.toMatchObject({ exit: 'unreached' })
    await expect(signIn({ ...user(), OS_USERNAME: undefined })).rejects.toMatchObject({ exit: 'denied' })
    await expect(signIn({ OS_CLOUD: 'other', OS_CLIENT_CONFIG_FILE: clouds })).rejects.toMatchObject({ exit: 'usage' })
    const none = join(folder, 'none.yaml')
    await expect(signIn({ OS_CLOUD: 'mine', OS_CLIENT_CONFIG_FILE: none })).rejects.toMatchObject({ exit: 'usage' })
  })
  test('a region or an interface without the API is named, and so is a Keystone that does not answer', async () => {
    await expect(signIn({ ...user(), OS_REGION_NAME: 'Elsewhere' })).rejects.toThrow(
      `Keystone at ${keystone.authUrl}: the catalogue has no endpoint of accelerator with the interface public in the region Elsewhere`,
    )
    await expect(signIn({ ...user(), OS_AUTH_URL: 'http://127.0.0.1:1' })).rejects.toThrow(
      'Keystone at http://127.0.0.1:1/v3: connect ECONNREFUSED',
    )
  })
})
