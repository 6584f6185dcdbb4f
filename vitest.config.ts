import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LONG } from './test/long.ts'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** These take longest, the first of them most of its time waiting: begun last they would keep one core busy alone at the end. */
const FIRST = [/\/clients\//, /\/overPglite\./, /\/pglite\./, /\/e2e\//, /\/stores\./]
const rank = ({ moduleId }: TestSpecification) => {
  const at = FIRST.findIndex((pattern) => pattern.test(moduleId))
  return at < 0 ? FIRST.length : at
}
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rank(one) - rank(other))
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // They have commands of their own.
    exclude: ['test/cluster/**', 'test/upgrade/**', 'test/containers/**', ...LONG, '**/node_modules/**'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 10_000,
    // One more than there are cores: many tests wait for a process, a clock or a server. The default would leave one core idle.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/support/summary.ts'],
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary', 'html'] },
  },
})
