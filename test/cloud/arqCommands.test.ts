/**
 * `accelerando arq bind` and `arq unbind` beside a real Keystone: they show that a service asks, and an account without
 * the role service is refused.
 */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EXITS } from '../../src/cli/exits.ts'
import { commandHere } from '../support/commandHere.ts'
import { embeddedStoreIn } from '../support/embedded.ts'
import { describeWith } from '../support/needs.ts'
import { type Service, startService, tempFolder } from '../support/program.ts'
import { credentialOf, signIn } from '../support/signIn.ts'
import { CLOUD, type RiggedCloud, START_MS, startCloud } from './rig.ts'

type Env = Readonly<Record<string, string>>

describeWith(CLOUD, 'commands that ask as a service', (rig) => {
  const folder = tempFolder('arq-commands')
  let [cloud, service]: [RiggedCloud | null, Service | null] = [null, null]
  let [profile, provider] = ['', '']
  beforeAll(async () => {
    cloud = await startCloud(rig, 3600)
    const data = join(folder.path, 'data')
    await embeddedStoreIn(join(data, 'store'))
    const config = join(folder.path, 'accelerando.toml')
    const account = 'username = "cyborg"\nproject_name = "service"\n'
    writeFileSync(config, `[keystone_authtoken]\nauth_url = "${cloud.authUrl.replace(/\/v3$/, '')}"\n${account}`)
    const listening = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
    service = await startService({
      args: ['start', '--auth', 'keystone', '--config', config, '--demo', '--data', data, ...listening],
      env: { ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: 'rig-secret' },
    })
    profile = `fpga-${randomUUID()}`
    const group = ['--group', 'resources:FPGA=1']
    await said(as('admin', 'admin'), 'profile', 'create', profile, ...group)
    const manager = as('alpha-manager', 'alpha')
    const { devices } = await json<{ readonly devices: readonly { readonly uuid: string }[] }>(
      manager,
      'device',
      'list',
      '--type',
      'FPGA',
    )
    type Row = { readonly kind: string; readonly resource_provider: string | null }
    const rows = await json<readonly Row[]>(manager, 'device', 'tree', devices[0]!.uuid)
    provider = rows.find(({ kind }) => kind === 'deployable')!.resource_provider!
  }, START_MS)
  afterAll(async () => {
    await service?.end('SIGTERM')
    await cloud?.stop()
    folder.remove()
  })

  const as = (user: string, project: string): Env => ({
    OS_AUTH_URL: cloud!.authUrl,
    OS_USERNAME: user,
    OS_PASSWORD: 'rig-secret',
    OS_PROJECT_NAME: project,
    ACCELERANDO_URL: service!.base,
  })
  const run = (env: Env, ...args: readonly string[]) => commandHere(args, env)
  const said = async (env: Env, ...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await run(env, ...args)
    expect([code, err], args.join(' ')).toEqual([0, ''])
    return out
  }
  const json = async <Document>(env: Env, ...args: readonly string[]) =>
    JSON.parse(await said(env, ...args, '--json')) as Document
  const member = () => as('alpha-member', 'alpha')
  const nova = () => as('nova', 'service')

  /** A request of project alpha, and what binds it to a new instance. */
  const asked = async () => {
    const uuid = (await said(member(), 'arq', 'create', profile, '-f', 'value', '-c', 'uuid')).trim()
    const instance = randomUUID()
    return { uuid, instance, target: ['--host', 'sim-1', '--resource-provider', provider, '--instance', instance] }
  }
  const stateOf = async (uuid: string) =>
    (await json<{ readonly state: string; readonly project_id: string }>(member(), 'arq', 'show', uuid)).state
  const done = async (env: Env, ...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await run(env, ...args)
    expect(code, `${args.join(' ')}: ${err}`).toBe(0)
    return out
  }
  const until = (uuid: string, state: string) => expect.poll(() => stateOf(uuid), { timeout: 30_000 }).toBe(state)
  const WAIT = ['--wait', '30']

  /** Bound, unbound, bound again and deleted by who may read it. */
  const wholeLife = async (env: Env) => {
    const { uuid, instance, target } = await asked()
    expect(await done(env, 'arq', 'bind', uuid, ...target, ...WAIT)).toContain(`${uuid}  Bound`)
    expect(await stateOf(uuid)).toBe('Bound')
    expect(await done(env, 'arq', 'unbind', uuid, ...WAIT)).toContain(`${uuid}  Unbound`)
    expect(await done(env, 'arq', 'bind', uuid, ...target, ...WAIT)).toContain(`${uuid}  Bound`)
    await done(env, 'arq', 'delete', '--instance', instance, '--yes')
    expect((await run(member(), 'arq', 'show', uuid)).code).toBe(EXITS.notFound.code)
  }

  test("Nova's account, an administrator with the role service, binds, unbinds and deletes requests of other projects", async () => {
    await wholeLife(nova())
  }, 120_000)
  test('an account that has the role service alone does as well, and is told what was accepted: it may not read them', async () => {
    const { uuid, instance, target } = await asked()
    const plain = as('plain-service', 'service')
    expect((await run(plain, 'arq', 'bind', uuid, ...target, ...WAIT)).code).toBe(EXITS.notFound.code)
    expect(await stateOf(uuid)).toBe('Initial')
    expect(await said(plain, 'arq', 'bind', uuid, ...target)).toBe(`accepted: ${uuid}\n`)
    await until(uuid, 'Bound')
    expect(await said(plain, 'arq', 'unbind', uuid)).toBe(`accepted: ${uuid}\n`)
    await until(uuid, 'Unbound')
    await said(plain, 'arq', 'delete', '--instance', instance, '--yes')
  }, 120_000)
  test('a member binds with the service token of another account in OS_SERVICE_TOKEN; who may not read handles cannot wait for their release', async () => {
    const { token } = await signIn(cloud!.authUrl, 'nova', { project: 'service' })
    const env = { ...member(), OS_SERVICE_TOKEN: token }
    const { uuid, target } = await asked()
    expect(await done(env, 'arq', 'bind', uuid, ...target, ...WAIT)).toContain(`${uuid}  Bound`)
    expect((await run(env, 'arq', 'unbind', uuid, ...WAIT)).code).toBe(EXITS.denied.code)
    expect(await stateOf(uuid)).toBe('Bound')
    expect(await done(env, 'arq', 'unbind', uuid)).toContain(`${uuid}  Unbound`)
    await said(member(), 'arq', 'delete', uuid, '--yes')
  }, 120_000)
  test('a token in OS_TOKEN and an application credential are as good as a password', async () => {
    const held = await signIn(cloud!.authUrl, 'nova', { project: 'service' })
    await wholeLife({ OS_TOKEN: held.token, ACCELERANDO_URL: service!.base })
    const { id, secret } = await credentialOf(cloud!.authUrl, held)
    const credential = { OS_APPLICATION_CREDENTIAL_ID: id, OS_APPLICATION_CREDENTIAL_SECRET: secret }
    await wholeLife({ OS_AUTH_URL: cloud!.authUrl, ACCELERANDO_URL: service!.base, ...credential })
  }, 120_000)
  test.each([
    ['a member', () => as('alpha-member', 'alpha')],
    ['an administrator', () => as('admin', 'admin')],
  ])(
    '%s without the role service is refused, is told what is lacking, and nothing is bound',
    async (_, who) => {
      const { uuid, instance, target } = await asked()
      for (const args of [
        ['arq', 'bind', uuid, ...target],
        ['arq', 'unbind', uuid],
        ['arq', 'delete', '--instance', instance, '--yes'],
        ['arq', 'delete', uuid, '--as-service', '--yes'],
      ])
        expect(await run(who(), ...args)).toMatchObject({
          code: EXITS.denied.code,
          out: '',
          err: expect.stringContaining('sign in with an account that has the role service'),
        })
      expect(await stateOf(uuid)).toBe('Initial')
      await said(member(), 'arq', 'delete', uuid, '--yes')
    },
    60_000,
  )
  test.each([
    ['a wrong service token', 'gAAAAAinvented'],
    ['a service token of an account without the role', null],
  ])(
    '%s is refused whoever signs in',
    async (_, given) => {
      const { uuid, target } = await asked()
      const token = given ?? (await signIn(cloud!.authUrl, 'alpha-member', { project: 'alpha' })).token
      const { code, err } = await run({ ...nova(), OS_SERVICE_TOKEN: token }, 'arq', 'bind', uuid, ...target)
      expect([code, err]).toEqual([EXITS.denied.code, expect.stringContaining('OS_SERVICE_TOKEN')])
      expect(await stateOf(uuid)).toBe('Initial')
    },
    60_000,
  )
  test('no secret is shown with --debug', async () => {
    const { uuid, target } = await asked()
    const held = await signIn(cloud!.authUrl, 'nova', { project: 'service' })
    const { code, err, out } = await run(
      { OS_TOKEN: held.token, ACCELERANDO_URL: service!.base },
      'arq',
      'bind',
      uuid,
      ...target,
      '--debug',
      '--wait',
      '30',
    )
    expect(code).toBe(0)
    expect(err.toLowerCase()).toContain('x-service-token')
    expect(`${err}${out}`).not.toContain(held.token)
  }, 60_000)
})
