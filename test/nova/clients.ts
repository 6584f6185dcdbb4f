/**
 * Existing clients beside a real Nova: its own module for accelerators (rest-api 10.1) in each spelling of the
 * catalogue, and the command that asks Nova for the server first (10.2). The others: `test/clients/clients.test.ts`.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { here } from '../clients/python.ts'
import { expectAllRun } from '../clients/ran.ts'
import { environmentOf, settingsOf } from '../cloud/settings.ts'
import { signIn } from '../support/signIn.ts'
import { shell } from '../support/shell.ts'
import { tidied } from './boots.ts'
import { NOVA_RIG } from './rig.ts'
import type { NovaService } from './service.ts'

const SCRIPT_MS = 300_000
/** Functions of the module and methods of its client. */
const FUNCTIONS = 16
const HOST = 'compute-1'
const FORMS = ['/v2', '', '/', '/accelerator', '/accelerator/v2']

export const clients = (given: () => NovaService): void => {
  let service: NovaService
  beforeAll(() => {
    service = given()
  })
  afterEach(() => tidied(service))

  const providersOf = async (host: string) =>
    (await service.deployables()).filter(({ name }) => name.startsWith(`${host}_`)).map(({ rp_uuid }) => rp_uuid)

  test(
    "Nova's own module: every function works with each URL of the catalogue, and with an expired user token beside a service token",
    async () => {
      const { users, cloud } = service
      const settings = await settingsOf(NOVA_RIG, ['NOVA_VENV', 'OPENSTACK_RIG_DATA'], { ...process.env, ...cloud.env })
      const { id } = await users.boot(await users.plainFlavor())
      const [provider, other] = await providersOf(HOST)
      const conf = join(settings['OPENSTACK_RIG_DATA']!, 'etc/nova.conf')
      const urls = FORMS.map((path) => `http://127.0.0.1:${cloud.acceleratorPort}${path}`)
      const python = join(settings['NOVA_VENV']!, 'bin/python')
      const words = ['-W', 'ignore', here('nova_module.py'), conf, cloud.authUrl, HOST, provider!, other!, id, ...urls]
      const printed = await finished(python, words)
      expectAllRun(printed, FUNCTIONS)
      expect(printed.match(/^walked /gm)).toHaveLength(FORMS.length + 1)
      expect(await users.arqsOf(id)).toEqual([])
    },
    SCRIPT_MS,
  )

  test('openstack accelerator arq bind finds the server by its name in Nova, and is refused without a service token', async () => {
    const { users, cloud, balancer } = service
    const env = await environmentOf(NOVA_RIG, cloud)
    const { id } = await users.boot(await users.plainFlavor(), HOST)
    const [provider] = await providersOf(HOST)
    const groups = [{ 'resources:FPGA': '1' }]
    await users.admin.get(201, 'POST', `${users.api}/device_profiles`, [{ name: `p-${id}`, groups }])
    const { server } = await users.admin.get(200, 'GET', `${cloud.compute}/servers/${id}`)
    const { name } = server as { readonly name: string }
    const command = (words: string) =>
      shell(`openstack --os-accelerator-api-version 2.3 accelerator arq ${words} -f value -c uuid -c state`, env)
    const bind = (arq: string, to: string) => command(`bind ${arq} ${HOST} ${to} ${provider}`)
    await expect(bind(randomUUID(), name)).rejects.toThrow('requires a service token')
    await expect(bind(randomUUID(), 'no-such-server')).rejects.toThrow('no-such-server')
    // as a client would that could send one
    const { token } = await signIn(cloud.authUrl, 'nova', { project: 'service' })
    balancer.before(() => ({ 'x-service-token': token }))
    // this service deletes a request that nobody binds soon, and a command takes a while
    const made = await users.admin.get(201, 'POST', `${users.api}/accelerator_requests`, {
      device_profile_name: `p-${id}`,
    })
    const [{ uuid: arq }] = made['arqs'] as [{ readonly uuid: string }]
    expect(await bind(arq, name)).toContain(arq)
    expect(await users.arqsOf(id)).toMatchObject([{ uuid: arq, instance_uuid: id, hostname: HOST }])
    expect(await command(`unbind ${arq}`)).toContain('Unbound')
    expect(await users.arqsOf(id)).toEqual([])
    await users.admin.get(204, 'DELETE', `${users.api}/accelerator_requests/${arq}`)
  })
}

/** All that was printed; its last line is `exit CODE`. */
const finished = (program: string, words: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'], timeout: SCRIPT_MS })
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => (printed += part))
    child.once('error', reject).once('close', (code) => resolve(`${printed}\nexit ${code}`))
  })
