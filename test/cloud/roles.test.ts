/**
 * The program with `auth = keystone` beside a real Keystone: who may do what (rest-api 9.3) with real tokens, service
 * tokens, and Keystone away.
 */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embeddedStoreIn } from '../support/embedded.ts'
import { describeWith } from '../support/needs.ts'
import { runProgram, type Service, startService, tempFolder } from '../support/program.ts'
import {
  type Held,
  type Scope,
  giveDomainRole,
  limitedCredential,
  signIn,
  signInWith,
  trusting,
} from '../support/signIn.ts'
import { CLOUD, type RiggedCloud, START_MS, startCloud } from './rig.ts'

const COLUMNS = ['admin', 'manager', 'member', 'reader', 'service', 'other'] as const
type Column = (typeof COLUMNS)[number]
/** Who holds exactly the roles of a column, implied ones included. */
const WHO: Readonly<Record<Column, readonly [user: string, project: string]>> = {
  admin: ['alpha-admin', 'alpha'],
  manager: ['alpha-manager', 'alpha'],
  member: ['alpha-member', 'alpha'],
  reader: ['alpha-reader', 'alpha'],
  service: ['plain-service', 'service'],
  other: ['alpha-bare', 'alpha'],
}
const inProject = (project: string) => ({ project })
const ofProject = (project: string): Readonly<Record<string, readonly [Scope, Column]>> => ({
  [`${project}-manager`]: [inProject(project), 'manager'],
  [`${project}-member`]: [inProject(project), 'member'],
  [`${project}-reader`]: [inProject(project), 'reader'],
  [`${project}-bare`]: [inProject(project), 'other'],
})
/**
 * All users of the rig: where they have roles, and the column that these make; null: no token for a project, which
 * opens nothing.
 */
const USERS: Readonly<Record<string, readonly [Scope, Column | null]>> = {
  admin: [inProject('admin'), 'admin'],
  nova: [inProject('service'), 'admin'],
  cyborg: [inProject('service'), 'admin'],
  placement: [inProject('service'), 'admin'],
  glance: [inProject('service'), 'admin'],
  'plain-service': [inProject('service'), 'service'],
  'alpha-admin': [inProject('alpha'), 'admin'],
  ...ofProject('alpha'),
  ...ofProject('beta'),
  'system-reader': ['system', null],
  nobody: ['none', null],
}
const NOWHERE = randomUUID()
const PATCH = {
  [NOWHERE]: Object.entries({ hostname: 'h', device_rp_uuid: NOWHERE, instance_uuid: NOWHERE }).map(
    ([name, value]) => ({
      op: 'add',
      path: `/${name}`,
      value,
    }),
  ),
}
type Asked = readonly [method: string, path: string, body?: unknown, service?: string]
/**
 * An operation is allowed when it is answered with anything but 403: what it is asked for does not exist. The last:
 * whose service token is beside.
 */
const OPERATIONS = {
  'read profiles': [
    ['GET', '/device_profiles'],
    ['GET', `/device_profiles/${NOWHERE}`],
  ],
  'write profiles': [
    ['POST', '/device_profiles', []],
    ['DELETE', `/device_profiles/${NOWHERE}`],
    ['DELETE', `/device_profiles?value=${NOWHERE}`],
  ],
  'check profiles': [['POST', `/device_profiles/${NOWHERE}/check`]],
  'read usage': [['GET', '/usage']],
  'read events': [['GET', '/events?limit=1']],
  'read ARQs': [
    ['GET', '/accelerator_requests'],
    ['GET', `/accelerator_requests/${NOWHERE}`],
  ],
  'write ARQs': [
    ['POST', '/accelerator_requests', { device_profile_name: 'none' }],
    ['DELETE', `/accelerator_requests?arqs=${NOWHERE}`],
    // with a service token beside it; without one it is refused whatever the policy says
    ['PATCH', '/accelerator_requests', PATCH, 'nova'],
    ['DELETE', `/accelerator_requests?instance=${NOWHERE}`, undefined, 'nova'],
  ],
  'read inventory': [
    ['GET', '/devices'],
    ['GET', `/devices/${NOWHERE}`],
    ['GET', '/deployables'],
    ['GET', `/deployables/${NOWHERE}`],
    ['GET', '/attributes'],
    ['GET', `/attributes/${NOWHERE}`],
  ],
  'change hardware': [
    ['POST', `/devices/${NOWHERE}/disable`],
    ['POST', `/devices/${NOWHERE}/enable`],
    ['DELETE', `/attributes/${NOWHERE}`],
    ['PATCH', `/deployables/${NOWHERE}/program`, []],
    ['POST', '/attributes', {}],
  ],
} as const satisfies Record<string, readonly Asked[]>
type Operation = keyof typeof OPERATIONS

/** The table of rest-api 9.3, project-scoped tokens. */
const MAY: Readonly<Record<'new' | 'legacy', Readonly<Record<Operation, readonly Column[]>>>> = {
  new: {
    'read profiles': ['admin', 'manager', 'member', 'reader'],
    'write profiles': ['admin'],
    'check profiles': ['admin', 'manager'],
    'read usage': ['admin', 'manager', 'member', 'reader'],
    'read events': ['admin', 'manager', 'member', 'reader'],
    'read ARQs': ['admin', 'manager', 'member', 'reader'],
    'write ARQs': ['admin', 'manager', 'member', 'service'],
    'read inventory': ['admin', 'manager'],
    'change hardware': ['admin'],
  },
  legacy: {
    'read profiles': COLUMNS,
    'write profiles': ['admin'],
    'check profiles': ['admin', 'manager'],
    'read usage': COLUMNS,
    'read events': COLUMNS,
    'read ARQs': COLUMNS,
    // stricter than upstream: who only reads changes nothing
    'write ARQs': COLUMNS.filter((column) => column !== 'reader'),
    // stricter than upstream: administrators and managers only, in both modes
    'read inventory': ['admin', 'manager'],
    'change hardware': ['admin'],
  },
}

describeWith(CLOUD, 'tokens of a real Keystone', (rig) => {
  const folder = tempFolder('roles')
  let cloud: RiggedCloud
  let held: Readonly<Record<string, Held>>
  beforeAll(async () => {
    cloud = await startCloud(rig, 3600)
    const { authUrl } = cloud
    const entries = Object.values(WHO).map(
      async ([user, project]) => [user, await signIn(authUrl, user, { project })] as const,
    )
    held = {
      ...Object.fromEntries(await Promise.all(entries)),
      'beta-member': await signIn(authUrl, 'beta-member', { project: 'beta' }),
      nova: await signIn(authUrl, 'nova', { project: 'service' }),
      'system-reader': await signIn(authUrl, 'system-reader', 'system'),
      nobody: await signIn(authUrl, 'nobody', 'none'),
    }
  }, START_MS)
  afterAll(async () => {
    await cloud?.stop()
    folder.remove()
  })

  const serve = async (mode: 'new' | 'legacy', more = ''): Promise<Service> => {
    const data = join(folder.path, mode)
    await embeddedStoreIn(join(data, 'store'))
    const config = join(folder.path, `${mode}.toml`)
    writeFileSync(
      config,
      `[keystone_authtoken]
auth_url = "${cloud.authUrl.replace(/\/v3$/, '')}"
username = "cyborg"
project_name = "service"
${more}
[oslo_policy]
enforce_new_defaults = ${mode === 'new'}
`,
    )
    return startService({
      args: [
        'start',
        '--auth',
        'keystone',
        '--config',
        config,
        '--demo',
        '--data',
        data,
        '--listen',
        '127.0.0.1:0',
        '--admin-listen',
        '127.0.0.1:0',
      ],
      env: { ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: 'rig-secret' },
    })
  }
  type Given = { readonly user?: string; readonly token?: string; readonly service?: string; readonly body?: unknown }
  const ask = async (at: Service, method: string, path: string, { user, token, service, body }: Given) => {
    const shown = token ?? (user === undefined ? undefined : held[user]!.token)
    const response = await fetch(`${at.base}${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(shown !== undefined && { 'x-auth-token': shown }),
        ...(service !== undefined && { 'x-service-token': held[service]!.token }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    })
    return { status: response.status, text: await response.text(), headers: response.headers }
  }

  describe.each(['new', 'legacy'] as const)('with %s defaults', (mode) => {
    let service: Service
    beforeAll(async () => {
      service = await serve(mode)
    }, 120_000)
    afterAll(() => service?.end('SIGTERM'))

    test.each(Object.keys(OPERATIONS) as Operation[])('%s', async (operation) => {
      for (const column of COLUMNS)
        for (const [method, path, body, by] of OPERATIONS[operation] as readonly Asked[]) {
          const { status } = await ask(service, method, path, {
            user: WHO[column][0],
            body,
            ...(by && { service: by }),
          })
          const allowed = MAY[mode][operation].includes(column)
          expect(`${column} ${method} ${path}: ${status === 403 ? 'denied' : 'allowed'}`).toBe(
            `${column} ${method} ${path}: ${allowed ? 'allowed' : 'denied'}`,
          )
          expect(status).not.toBe(401)
        }
    })
    test('every user of the cloud, by the roles that it has', async () => {
      for (const [user, [scope, column]] of Object.entries(USERS)) {
        const { token } = await signIn(cloud.authUrl, user, scope)
        for (const operation of Object.keys(OPERATIONS) as Operation[])
          for (const [method, path, body, by] of OPERATIONS[operation] as readonly Asked[]) {
            const { status } = await ask(service, method, path, { token, body, ...(by && { service: by }) })
            const allowed = column !== null && MAY[mode][operation].includes(column)
            const line = `${user} ${method} ${path}`
            expect(`${line}: ${status === 403 ? 'denied' : 'allowed'}`).toBe(
              `${line}: ${allowed ? 'allowed' : 'denied'}`,
            )
            expect([line, status]).not.toEqual([line, 401])
          }
      }
    }, 120_000)
    test('tokens for the system, and tokens without scope: 403 everywhere', async () => {
      for (const user of ['system-reader', 'nobody'])
        for (const path of ['/devices', '/device_profiles', '/accelerator_requests'])
          expect([user, path, (await ask(service, 'GET', path, { user })).status]).toEqual([user, path, 403])
    })
    test('a token for a domain: 403 everywhere', async () => {
      const admin = await signIn(cloud.authUrl, 'admin', { project: 'admin' })
      await giveDomainRole(cloud.authUrl, admin, 'admin', held['alpha-admin']!)
      const { token } = await signIn(cloud.authUrl, 'alpha-admin', { domain: 'Default' })
      for (const path of ['/devices', '/device_profiles', '/accelerator_requests'])
        expect([path, (await ask(service, 'GET', path, { token })).status]).toEqual([path, 403])
    })
    test('a token of a trust has the project and the roles that were trusted, and no more', async () => {
      const [trustor, trustee] = [held['alpha-admin']!, held['beta-member']!]
      const trust = await trusting(cloud.authUrl, trustor, trustee, 'reader')
      const { token, projectId } = await signIn(cloud.authUrl, 'beta-member', { trust })
      expect(projectId).toBe(trustor.projectId)
      for (const [method, path, body, by] of Object.values(OPERATIONS).flat() as readonly Asked[]) {
        const [trusted, reader] = [{ token }, { user: 'alpha-reader' }].map((who) =>
          ask(service, method, path, { ...who, body, ...(by && { service: by }) }),
        )
        expect([method, path, (await trusted!).status]).toEqual([method, path, (await reader!).status])
      }
    })
    test('a bind needs a service token: the role on the user is not one', async () => {
      const bare = await ask(service, 'PATCH', '/accelerator_requests', { user: 'nova', body: PATCH })
      expect([bare.status, /requires a service token/i.test(bare.text)]).toEqual([403, true])
      const by = await ask(service, 'PATCH', '/accelerator_requests', {
        user: 'alpha-member',
        service: 'nova',
        body: PATCH,
      })
      expect(by.status).toBe(404)
    })
    test('a token that is no service token in its place: 401, also for reads', async () => {
      const { status } = await ask(service, 'GET', '/device_profiles', {
        user: 'alpha-member',
        service: 'alpha-member',
      })
      expect(status).toBe(401)
    })
    test('no token, an invented one: 401 that says where to sign in', async () => {
      for (const token of [undefined, 'gAAAAAinvented']) {
        const { status, headers } = await ask(service, 'GET', '/devices', { ...(token && { token }) })
        expect([status, headers.get('www-authenticate')]).toEqual([401, `Keystone uri="${cloud.authUrl}"`])
      }
      expect((await ask(service, 'GET', '', {})).status).toBe(200)
    })
    test('a limited application credential is good for what its rules name', async () => {
      const rules = [{ service: 'accelerator', method: 'GET', path: '/v2/device_profiles' }]
      const credential = await limitedCredential(cloud.authUrl, held['alpha-member']!, rules)
      const { token } = await signInWith(cloud.authUrl, credential)
      expect((await ask(service, 'GET', '/device_profiles', { token })).status).toBe(200)
      expect((await ask(service, 'GET', '/accelerator_requests', { token })).status).toBe(401)
    })
    test('nobody sees requests of another project', async () => {
      const profile = `p-${randomUUID()}`
      const groups = [{ 'resources:FPGA': '1' }]
      expect(
        (await ask(service, 'POST', '/device_profiles', { user: 'alpha-admin', body: [{ name: profile, groups }] }))
          .status,
      ).toBe(201)
      const made = await ask(service, 'POST', '/accelerator_requests', {
        user: 'alpha-member',
        body: { device_profile_name: profile },
      })
      expect(made.status).toBe(201)
      const { uuid } = (JSON.parse(made.text) as { arqs: { uuid: string }[] }).arqs[0]!
      expect((await ask(service, 'GET', `/accelerator_requests/${uuid}`, { user: 'alpha-member' })).status).toBe(200)
      expect((await ask(service, 'GET', `/accelerator_requests/${uuid}`, { user: 'beta-member' })).status).toBe(404)
      expect((await ask(service, 'GET', '/accelerator_requests', { user: 'beta-member' })).text).not.toContain(uuid)
      expect((await ask(service, 'DELETE', `/accelerator_requests?arqs=${uuid}`, { user: 'beta-member' })).status).toBe(
        404,
      )
      expect(
        (await ask(service, 'DELETE', `/accelerator_requests?arqs=${uuid}`, { user: 'alpha-member' })).status,
      ).toBe(204)
    })
    test('the commands of operators sign in as other clients of the cloud do', async () => {
      const run = async (env: Readonly<Record<string, string>>) => {
        const api = env['OS_CLOUD'] === undefined ? ['--api', service.base] : []
        const program = runProgram({ args: ['hosts', 'list', ...api], env })
        const { code } = await program.exited
        return { code, said: `${program.stdout()}${program.stderr()}` }
      }
      const user = {
        OS_AUTH_URL: cloud.authUrl,
        OS_USERNAME: 'alpha-manager',
        OS_PASSWORD: 'rig-secret',
        OS_PROJECT_NAME: 'alpha',
      }
      expect(await run(user)).toMatchObject({ code: 0, said: expect.stringContaining('sim-1') })
      expect(await run({ OS_TOKEN: held['alpha-manager']!.token })).toMatchObject({ code: 0 })
      expect(await run({})).toMatchObject({
        code: 4,
        said: expect.stringContaining('wants a valid token: set OS_AUTH_URL'),
      })
      expect(await run({ ...user, OS_PASSWORD: 'wrong' })).toMatchObject({
        code: 4,
        said: expect.stringContaining('it refuses the credentials'),
      })
      expect(await run({ ...user, OS_USERNAME: 'alpha-member' })).toMatchObject({
        code: 4,
        said: expect.stringContaining('403'),
      })
    }, 60_000)
    test('Keystone is away: known tokens work, others get 503 with Retry-After, and all is well when it is back', async () => {
      // what is known of it is so from this moment on
      const { token } = await signIn(cloud.authUrl, 'alpha-member', { project: 'alpha' })
      expect((await ask(service, 'GET', '/device_profiles', { token })).status).toBe(200)
      const fresh = await signIn(cloud.authUrl, 'alpha-member', { project: 'alpha' })
      await cloud.signalKeystone('STOP')
      try {
        expect((await ask(service, 'GET', '/device_profiles', { token })).status).toBe(200)
        const away = await ask(service, 'GET', '/device_profiles', { token: fresh.token })
        expect([away.status, away.headers.get('retry-after')]).toEqual([503, '1'])
      } finally {
        await cloud.signalKeystone('CONT')
      }
      await expect
        .poll(async () => (await ask(service, 'GET', '/device_profiles', { token: fresh.token })).status, {
          timeout: 30_000,
        })
        .toBe(200)
    }, 60_000)
  })
})
