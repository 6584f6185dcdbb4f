/** The same program, unchanged, under another runtime: it starts, binds one ARQ with work on the host, and stops. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { embeddedStoreIn, embeddedStoreMade } from '../support/embedded.ts'
import { describeWith } from '../support/needs.ts'
import { startService, tempFolder } from '../support/program.ts'
import { clientOf } from './client.ts'

/** What npm puts into the PATH starts the real one as a child, which a kill would not reach. */
const executable = (deno: string): string =>
  spawnSync(deno, ['eval', 'console.log(Deno.execPath())'], { encoding: 'utf8', timeout: 30_000 }).stdout.trim()

describeWith('deno', 'under Deno', (deno) => {
  const folder = tempFolder('deno')
  beforeAll(embeddedStoreMade)
  afterAll(folder.remove)

  test('the program starts, binds an ARQ, and ends in order', { timeout: 120_000 }, async () => {
    await embeddedStoreIn(join(folder.path, 'data/store'))
    const args = [
      'start',
      '--demo',
      '--data',
      join(folder.path, 'data'),
      '--listen',
      '127.0.0.1:0',
      '--admin-listen',
      '127.0.0.1:0',
    ]
    const service = await startService({ args, runtime: [executable(deno), 'run', '-A'] }, 90_000)
    try {
      const client = clientOf(service.base)
      const [device, place] = [(await client.devices())[0]!, (await client.deployables())[0]!]
      expect(await client.bind(place, device.hostname)).toMatchObject({ state: 'Bound', attach_handle_type: 'PCI' })
      expect(await (await fetch(`${service.admin}/metrics`)).text()).toContain('accelerando_')
      const { code } = await service.end('SIGTERM')
      expect(code, service.stderr()).toBe(0)
    } finally {
      await service.end('SIGKILL')
    }
  })
})
