/**
 * Schemathesis compares the running program with `/openapi.json`. It needs more than a minute of one core, so it
 * belongs to `npm run test:cluster`.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { startService, tempFolder } from '../support/program.ts'
import { INSTALL_MS, installPython, runPython } from './python.ts'

const LIMIT_MS = 600_000
/** All checks over all operations of the description, from a fixed seed, with few examples each. */
const ARGUMENTS = [
  ...['--checks', 'all', '--continue-on-failure', '--seed', '1', '--max-examples', '3', '--no-color'],
  // How hard it is to find examples is no matter of the service.
  ...['--generation-database', 'none', '--suppress-health-check', 'all'],
]

type Service = Awaited<ReturnType<typeof startService>>
const withService = async (use: (service: Service, folder: string) => Promise<void>): Promise<void> => {
  const data = tempFolder('schemathesis')
  const listen = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
  const service = await startService({
    args: ['start', '--demo', '--data', join(data.path, 'data'), ...listen],
    env: { ACCELERANDO_COMPAT_TEMPEST_SERVER_FAULTS: 'false', ACCELERANDO_API_ADDITIVE_MICROVERSION: 'true' },
  })
  try {
    await use(service, data.path)
  } finally {
    await service.end('SIGTERM')
    data.remove()
  }
}
const compare = (cwd: string, ...more: readonly string[]): Promise<string> =>
  runPython('schemathesis', 'schemathesis', ['run', ...more, ...ARGUMENTS], {
    cwd,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    timeout: LIMIT_MS,
  })

describeWith('pip', 'Schemathesis', (python) => {
  test(
    'finds nothing in which the service and its description of itself disagree',
    async () => {
      installPython(python, 'schemathesis')
      await withService(async ({ origin }, folder) => {
        const printed = await compare(folder, `${origin}/openapi.json`)
        expect(printed).toMatch(/exit 0$/)
        const [, generated, passed] = /(\d+) generated, (\d+) passed/.exec(printed) ?? []
        expect(Number(generated)).toBeGreaterThan(2000)
        expect(passed).toBe(generated)
      })
    },
    LIMIT_MS + INSTALL_MS,
  )
  test(
    'finds a description that allows too much, and one that forbids too much',
    async () => {
      installPython(python, 'schemathesis')
      await withService(async ({ origin }, folder) => {
        const described = await (await fetch(`${origin}/openapi.json`)).text()
        const path = '/v2/handles'
        for (const [wrong, words] of [
          [{ minimum: 0, maximum: 9 }, 'Schema-valid request rejected'],
          [{ minimum: 1, maximum: 1 }, 'accepted'],
        ] as const) {
          const planted = JSON.parse(described)
          const { get } = planted.paths[path]
          Object.assign(get.parameters.find(({ name }: { readonly name: string }) => name === 'limit').schema, wrong)
          const file = join(folder, 'planted.json')
          writeFileSync(file, JSON.stringify({ ...planted, paths: { [path]: { get } } }))
          const printed = await compare(folder, file, '--url', origin, '--phases', 'coverage')
          expect(printed).toMatch(/exit 1$/)
          expect(printed).toContain(words)
        }
      })
    },
    LIMIT_MS + INSTALL_MS,
  )
})
