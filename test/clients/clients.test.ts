/**
 * Existing clients against the running program: rest-api 13, lines 3 and 4 (the event of line 4 is in test/e2e). Beside
 * real neighbours: Nova's own module and the commands that ask Nova in `test/nova/clients.ts`, those that ask Glance in
 * `test/cloud/program.test.ts`.
 */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { embeddedStoreIn } from '../support/embedded.ts'
import { type LoadBalancer, openLoadBalancer } from '../support/loadBalancer.ts'
import { describeWith } from '../support/needs.ts'
import { freePort } from '../support/port.ts'
import { type Service, startService, tempFolder } from '../support/program.ts'
import { INSTALL_MS, here, installPython, runPython } from './python.ts'
import { expectAllRun, expectWell } from './ran.ts'

const IMAGE = randomUUID()
/** A command takes half a second of a core, and there are more than sixty. */
const SCRIPT_MS = 300_000
const COMMANDS = 21
const METHODS = 35

describeWith('pip', 'existing clients', (python) => {
  const data = tempFolder('clients')
  let service: Service
  let trusted: LoadBalancer
  let trustedBase: string
  beforeAll(async () => {
    for (const set of ['clients', 'cyborgclient'] as const) installPython(python, set)
    writeFileSync(join(data.path, `${IMAGE}.bin`), 'a bitstream')
    await embeddedStoreIn(join(data.path, 'data/store'))
    const flags = ['--demo', '--data', join(data.path, 'data'), '--images', data.path]
    service = await startService({
      args: ['start', ...flags, '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'],
    })
    // no command can send a service token: without authentication a proxy says that the caller has one
    const port = await freePort()
    trusted = await openLoadBalancer(port, () => [service.origin])
    trusted.before(() => ({ 'x-service-roles': 'service' }))
    trustedBase = `http://127.0.0.1:${port}/v2`
  }, INSTALL_MS * 3)
  afterAll(async () => {
    await trusted?.close()
    await service?.end('SIGTERM')
    data.remove()
  })
  const run = (set: 'clients' | 'cyborgclient', script: string, ...args: readonly string[]) =>
    runPython(set, 'python', ['-W', 'ignore', here(script), ...args], { timeout: SCRIPT_MS })

  test(
    'openstacksdk: every method works, the three that fail upstream included, and errors tell why',
    async () => expectAllRun(await run('clients', 'sdk.py', service.base, IMAGE), METHODS),
    SCRIPT_MS,
  )
  describe('openstack accelerator: every command works', () => {
    test.each([
      ['of python-openstackclient itself', 'clients', 'openstackclient'],
      ['of python-cyborgclient, under a release that has none of its own', 'cyborgclient', 'cyborgclient'],
    ] as const)(
      '%s',
      async (_, set, module) => {
        expectAllRun(await run(set, 'cli.py', module, service.base, trustedBase, IMAGE), COMMANDS)
      },
      SCRIPT_MS,
    )
  })
  describe("Nova's adapter walks create, evacuate and a failed build", () => {
    const walks = async (url: string) => expectWell(await run('clients', 'nova_adapter.py', url))
    test('with a versioned catalogue URL', () => walks(service.base), 60_000)
    test('with a version-less one', () => walks(service.origin), 60_000)
    test('with the mount prefix', () => walks(`${service.origin}/accelerator/v2`), 60_000)
  })
})
