import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))

const lastWords = (
  file: string,
  ci: 'true' | '',
): { readonly status: number | null; readonly lines: readonly string[] } => {
  const args = [vitest, 'run', '--config', 'test/support/fixtures/vitest.config.ts', file]
  const run = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', env: { ...process.env, CI: ci } })
  const lines = run.stdout.trimEnd().split('\n')
  return { status: run.status, lines: lines.filter((line) => /^skipped: |^failed in: |^\d+ passed/.test(line)) }
}

const NAME = 'skipped: test/support/fixtures/skips.fixture.ts >'

test('a lacking part is skipped by name with the reason, and the figures come last', () => {
  expect(lastWords('skips', '')).toEqual({
    status: 0,
    lines: [
      `${NAME} on a moon > lands (needs a moon: none in sight)`,
      `${NAME} on a moon > returns (needs a moon: none in sight)`,
      `${NAME} round a moon > circles (needs a moon: none in sight)`,
      `${NAME} changes its mind (too late)`,
      '1 passed, 0 failed, 4 skipped',
    ],
  })
})

test('with CI=true a part that can be installed fails instead', () => {
  expect(lastWords('skips', 'true')).toEqual({
    status: 1,
    lines: [
      `${NAME} round a moon > circles (needs a moon: none in sight)`,
      `${NAME} changes its mind (too late)`,
      'failed in: test/support/fixtures/skips.fixture.ts',
      '1 passed, 1 failed, 2 skipped',
    ],
  })
})

test('a file that does not load counts as failed', () => {
  expect(lastWords('broken', '')).toEqual({
    status: 1,
    lines: ['failed in: test/support/fixtures/broken.fixture.ts', '0 passed, 1 failed, 0 skipped'],
  })
})
