/**
 * The commands of `docs/operators/joining.md`, as they stand there, beside a real cloud: an operator joins it by them,
 * and boots a server.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PASSWORD } from '../cloud/settings.ts'
import { freePort } from '../support/port.ts'
import { runProgram, tempFolder } from '../support/program.ts'
import { shell } from '../support/shell.ts'
import { blocksIn, filledIn } from './commands.ts'
import { CONFIG, DOCUMENT, type Operator, openOperator, registerService, untilReady } from './operator.ts'
import type { NovaService } from './service.ts'

/** The account of the service beside that of the running one. */
const ACCOUNT = 'cyborg-joining'
const RUN_MS = 300_000

export const joining = (given: () => NovaService): void => {
  let service: NovaService
  let operator: Operator
  let env: NodeJS.ProcessEnv
  let api: string
  let own: Readonly<Record<string, string>>
  const folder = tempFolder('joining')

  beforeAll(async () => {
    service = given()
    api = `http://127.0.0.1:${service.cloud.acceleratorPort}`
    mkdirSync(join(folder.path, 'nova.conf.d'))
    operator = await openOperator(service, folder.path, { ACCELERANDO_KAFKA_PREFIX: service.testCluster.prefix })
    env = operator.env
  })
  afterAll(() => folder.remove())

  test('1: an account with both roles', { timeout: RUN_MS }, async () => {
    const [account] = blocksIn(DOCUMENT, '1. An account with both roles')
    // it is asked for on a terminal only
    const given = { cyborg: ACCOUNT, '--password-prompt': `--password ${PASSWORD}` }
    await shell(filledIn(account!, given), env)
    const held = await shell(
      `openstack role assignment list --user ${ACCOUNT} --project service --names -f value -c Role`,
      env,
    )
    expect(held.trim().split('\n').toSorted()).toEqual(['admin', 'service'])
  })

  test('2: the service and its endpoints', { timeout: RUN_MS }, async () => {
    await registerService(env, api)
    const found = await shell('openstack endpoint list --service accelerator -f value -c Interface -c URL', env)
    const url = `${api}/v2`
    expect(found.trim().split('\n').toSorted()).toEqual([`admin ${url}`, `internal ${url}`, `public ${url}`])
  })

  test('3: a control with this configuration', { timeout: RUN_MS }, async () => {
    const [, commands] = blocksIn(DOCUMENT, '3. The controls')
    const { testCluster } = service
    const adminListen = `127.0.0.1:${await freePort()}`
    own = { [CONFIG]: await operator.configure(ACCOUNT, testCluster.database) }
    const lines = commands!.split('\n')
    const starts = lines.filter((line) => line.startsWith('accelerando control'))
    const said = await shell(filledIn(lines.filter((line) => !starts.includes(line)).join('\n'), own), env)
    expect(said).toContain('0 problems')
    for (const check of ['keystone', 'roles of the account', 'placement', 'nova', 'events to nova', 'own endpoint'])
      expect(said).toMatch(new RegExp(`^ok +${check} `, 'm'))
    const args = filledIn(starts[0]!, own).split(/ +/).slice(1)
    const settings = { ACCELERANDO_KAFKA_PREFIX: testCluster.prefix, ACCELERANDO_ADMIN_LISTEN: adminListen }
    const control = runProgram({ args, env: settings })
    try {
      await untilReady(adminListen)
    } finally {
      expect((await control.end('SIGTERM')).code).toBe(0)
    }
  })

  test('3: the same with an entry of a clouds.yaml', { timeout: RUN_MS }, async () => {
    const [, , entry] = blocksIn(DOCUMENT, '3. The controls')
    const file = join(folder.path, 'clouds.yaml')
    const auth = {
      auth_url: service.cloud.authUrl,
      username: ACCOUNT,
      password: PASSWORD,
      project_name: 'service',
    }
    writeFileSync(file, JSON.stringify({ clouds: { accelerator: { auth, region_name: 'RegionOne' } } }))
    const text = readFileSync(own[CONFIG]!, 'utf8')
    const section = '[keystone_authtoken]\n'
    const kept = text.slice(0, text.indexOf(section) + section.length)
    const config = join(folder.path, 'with-clouds.toml')
    writeFileSync(config, `${kept}${filledIn(entry!, { '/etc/openstack/clouds.yaml': file })}\n`)
    const said = await shell(`accelerando doctor --config ${config}`, env)
    expect(said).toContain('0 problems')
    expect(said).toMatch(/^ok +placement +it answers/m)
  })

  test('4: what the hosts show; none of their devices is offered by Nova as well', { timeout: RUN_MS }, async () => {
    const [names, host, overlap, lists] = blocksIn(DOCUMENT, '4. The hosts')
    expect(await shell(names!, env)).toMatch(/\| compute-1 /)
    // the hosts of this cloud run already, with simulated devices
    expect(host).toMatch(/^accelerando host --name compute-1 /)
    const files = {
      '/etc/nova/nova.conf.d': join(folder.path, 'nova.conf.d'),
      '/etc/nova/nova.conf': operator.novaConf,
    }
    expect(await shell(filledIn(overlap!, { ...files, ...own }), env)).toContain('0 problems')
    const said = await shell(lists!, env)
    expect(said).toMatch(/compute-1\s+up/)
    expect(said).toContain('compute-2')
  })

  test('5: it is schedulable', { timeout: RUN_MS }, async () => {
    const [drift, trees] = blocksIn(DOCUMENT, '5. See that it is schedulable')
    expect(await shell(drift!, env)).toContain('nothing differs')
    const node = await shell('openstack resource provider list --name compute-1 -f value -c uuid', env)
    const said = await shell(filledIn(trees!, { COMPUTE_NODE_UUID: node.trim() }), env)
    expect(said).toContain('compute-1_')
    expect(said).toContain('COMPUTE_ACCELERATORS')
  })

  test('6: a profile, a flavor, a server with its accelerator', { timeout: RUN_MS }, async () => {
    const [boot] = blocksIn(DOCUMENT, '6. A profile, a flavor, a server')
    try {
      // this cloud has no networks
      await shell(filledIn(boot!, { IMAGE: 'rig', '--network NETWORK': '--nic none' }), env)
      const server = (await shell('openstack server show first -f value -c id', env)).trim()
      const [arq] = await service.users.arqsOf(server)
      expect(await shell('openstack accelerator arq list', env)).toMatch(new RegExp(`${arq!.uuid}.*Bound`))
      expect(await shell(`accelerando arq show ${arq!.uuid} --timeline`, env)).toMatch(/\tbound\t.*delivered/s)
    } finally {
      await shell(
        'openstack server delete --wait first; openstack flavor delete fpga.small; openstack accelerator device profile delete fpga',
        env,
      )
    }
    expect(
      await shell('accelerando orphan; accelerando orphan collect --apply --yes; accelerando drift', env),
    ).toContain('nothing differs')
  })
}
