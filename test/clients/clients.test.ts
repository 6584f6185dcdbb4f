/** Existing clients against the running program: rest-api 13, lines 13 to 15 (line 16's event is in test/e2e). */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embeddedStoreIn } from '../support/embedded.ts'
import { describeWith } from '../support/needs.ts'
import { type Service, startService, tempFolder } from '../support/program.ts'

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))
/** Kept between runs beside the packages; installed anew when the list of clients changes. */
const VENV = here('../../node_modules/.cache/clients')
const IMAGE = '11111111-2222-4333-8444-555555555555'
const INSTALL_MS = 300_000
/** Half a minute of one core; much more beside other tests. */
const SCHEMATHESIS_MS = 600_000

const must = (program: string, ...args: readonly string[]) => {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: INSTALL_MS })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`)
}

const installClients = (python: string) => {
  const wanted = here('requirements.txt')
  const same = spawnSync('cmp', ['-s', wanted, join(VENV, 'requirements.txt')]).status === 0
  if (same && existsSync(join(VENV, 'bin/python'))) return
  must(python, '-m', 'venv', '--clear', VENV)
  must(join(VENV, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', '-r', wanted)
  must('cp', wanted, VENV)
}

const run = (
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
) =>
  new Promise<string>((resolve) => {
    const child = spawn(join(VENV, 'bin', program), args, { timeout: SCHEMATHESIS_MS, ...options })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => (said += part))
    child.stderr.setEncoding('utf8').on('data', (part: string) => (said += part))
    child.on('close', (code) => resolve(`${said}\nexit ${code}`))
  })

const runClient = (script: string, ...args: readonly string[]) => run('python', ['-W', 'ignore', here(script), ...args])

/** All checks over all operations of the description, from a fixed seed; few examples each, so that it takes half a minute. */
const SCHEMATHESIS = [
  ...['--checks', 'all', '--continue-on-failure', '--seed', '1', '--max-examples', '3', '--no-color'],
  // How hard it is to find examples is no matter of the service.
  ...['--generation-database', 'none', '--suppress-health-check', 'all'],
]

describeWith('pip', 'existing clients', (python) => {
  const data = tempFolder('clients')
  let service: Service
  beforeAll(async () => {
    installClients(python)
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
    const said = await runClient(script, ...args)
    expect(said.split('\n').filter((line) => line.startsWith('failed'))).toEqual([])
    expect(said).toMatch(/exit 0$/)
  }

  test(
    'openstacksdk: every row works, the three that fail upstream included, and errors tell why',
    () => well('sdk.py', service.base, IMAGE),
    120_000,
  )
  test('openstack accelerator: every command works', () => well('cli.py', service.base, IMAGE), 120_000)
  describe("Nova's adapter walks create, evacuate and a failed build", () => {
    test('with a versioned catalogue URL', () => well('nova.py', service.base), 60_000)
    test('with a version-less one', () => well('nova.py', service.origin), 60_000)
    test('with the mount prefix', () => well('nova.py', `${service.origin}/accelerator/v2`), 60_000)
  })

  test(
    'Schemathesis finds nothing in which the service and its description of itself disagree',
    async () => {
      // It removes what it finds, so it has a service of its own.
      const other = await startService({
        args: [
          'start',
          '--demo',
          '--data',
          join(data.path, 'other'),
          '--listen',
          '127.0.0.1:0',
          '--admin-listen',
          '127.0.0.1:0',
        ],
        env: { ACCELERANDO_COMPAT_TEMPEST_SERVER_FAULTS: 'false' },
      })
      const env = {
        ...process.env,
        PYTHONDONTWRITEBYTECODE: '1',
        PYTHONPATH: here('.'),
        SCHEMATHESIS_HOOKS: 'schemathesis_hooks',
      }
      const said = await run('schemathesis', ['run', `${other.origin}/openapi.json`, ...SCHEMATHESIS], {
        cwd: data.path,
        env,
      })
      await other.end('SIGTERM')
      expect(said).toMatch(/exit 0$/)
      const [, generated, passed] = /(\d+) generated, (\d+) passed/.exec(said) ?? []
      expect(Number(generated)).toBeGreaterThan(2000)
      expect(passed).toBe(generated)
    },
    SCHEMATHESIS_MS,
  )
})
