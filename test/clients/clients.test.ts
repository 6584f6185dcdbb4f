/** Existing clients against the running program: rest-api 13, lines 13 to 15 (line 16's event is in test/e2e). */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embeddedStoreIn } from '../support/embedded.ts'
import { describeWith } from '../support/needs.ts'
import { type Service, startService, tempFolder } from '../support/program.ts'
import { INSTALL_MS, here, installPython, runPython } from './python.ts'

const IMAGE = '11111111-2222-4333-8444-555555555555'
const SCRIPT_MS = 120_000

describeWith('pip', 'existing clients', (python) => {
  const data = tempFolder('clients')
  let service: Service
  beforeAll(async () => {
    installPython(python, 'clients')
    writeFileSync(join(data.path, `${IMAGE}.bin`), 'a bitstream')
    await embeddedStoreIn(join(data.path, 'data/store'))
    const flags = ['--demo', '--data', join(data.path, 'data'), '--images', data.path]
    service = await startService({
      args: ['start', ...flags, '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'],
    })
  }, INSTALL_MS * 2)
  afterAll(async () => {
    await service?.end('SIGTERM')
    data.remove()
  })
  const well = async (script: string, ...args: readonly string[]) => {
    const said = await runPython('clients', 'python', ['-W', 'ignore', here(script), ...args], { timeout: SCRIPT_MS })
    expect(said.split('\n').filter((line) => line.startsWith('failed'))).toEqual([])
    expect(said).toMatch(/exit 0$/)
  }

  test(
    'openstacksdk: every row works, the three that fail upstream included, and errors tell why',
    () => well('sdk.py', service.base, IMAGE),
    SCRIPT_MS,
  )
  test('openstack accelerator: every command works', () => well('cli.py', service.base, IMAGE), 120_000)
  describe("Nova's adapter walks create, evacuate and a failed build", () => {
    test('with a versioned catalogue URL', () => well('nova.py', service.base), 60_000)
    test('with a version-less one', () => well('nova.py', service.origin), 60_000)
    test('with the mount prefix', () => well('nova.py', `${service.origin}/accelerator/v2`), 60_000)
  })
})
