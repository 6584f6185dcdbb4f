/**
 * Schemathesis compares the running program with `/openapi.json`. It needs more than a minute of one core, so it
 * belongs to `npm run test:cluster`.
 */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { startService, tempFolder } from '../support/program.ts'
import { INSTALL_MS, here, installPython, runPython } from './python.ts'

const LIMIT_MS = 600_000
/** All checks over all operations of the description, from a fixed seed, with few examples each. */
const ARGUMENTS = [
  ...['--checks', 'all', '--continue-on-failure', '--seed', '1', '--max-examples', '3', '--no-color'],
  // How hard it is to find examples is no matter of the service.
  ...['--generation-database', 'none', '--suppress-health-check', 'all'],
]

describeWith('pip', 'Schemathesis', (python) => {
  test(
    'finds nothing in which the service and its description of itself disagree',
    async () => {
      installPython(python, 'schemathesis')
      const data = tempFolder('schemathesis')
      const flags = [
        '--demo',
        '--data',
        join(data.path, 'data'),
        '--listen',
        '127.0.0.1:0',
        '--admin-listen',
        '127.0.0.1:0',
      ]
      const service = await startService({
        args: ['start', ...flags],
        env: { ACCELERANDO_COMPAT_TEMPEST_SERVER_FAULTS: 'false', ACCELERANDO_API_ADDITIVE_MICROVERSION: 'true' },
      })
      const printed = await runPython(
        'schemathesis',
        'schemathesis',
        ['run', `${service.origin}/openapi.json`, ...ARGUMENTS],
        {
          cwd: data.path,
          env: {
            ...process.env,
            PYTHONDONTWRITEBYTECODE: '1',
            PYTHONPATH: here('.'),
            SCHEMATHESIS_HOOKS: 'schemathesis_hooks',
          },
          timeout: LIMIT_MS,
        },
      )
      await service.end('SIGTERM')
      data.remove()
      expect(printed).toMatch(/exit 0$/)
      const [, generated, passed] = /(\d+) generated, (\d+) passed/.exec(printed) ?? []
      expect(Number(generated)).toBeGreaterThan(2000)
      expect(passed).toBe(generated)
    },
    LIMIT_MS + INSTALL_MS,
  )
})
