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

export const INCLUDE = ['test/**/*.test.ts']
/** They have commands of their own. */
export const EXCLUDE = [
  'test/cluster/**',
  'test/cloud/**',
  'test/nova/**',
  'test/upgrade/**',
  'test/containers/**',
  'test/browser/**',
  '**/node_modules/**',
]
/** The mutation tool asks these as well: they are the nearest to some commands. */
const LATER = process.env['MUTATION_FOLDER'] === undefined ? LONG : []
/**
 * In a process of their own. The first declares the tests of other files once more, over another store. The simulation
 * replaces the timers of its process: what other files have left open, as a connection, would add tasks to a seed.
 */
const APART = ['test/http/overPglite.test.ts', 'test/sim/sim.test.ts', 'test/sim/sagas.test.ts']

export default defineConfig({
  test: {
    // Loading what a test needs takes longer than most tests: the files of a worker share the modules that they load.
    projects: [
      {
        extends: true,
        test: { name: 'together', isolate: false, include: INCLUDE, exclude: [...EXCLUDE, ...LATER, ...APART] },
      },
      { extends: true, test: { name: 'apart', include: APART } },
    ],
    testTimeout: 60_000,
    // what is waited for may be done by another process, on a machine that is busy
    expect: { poll: { timeout: 10_000 } },
    hookTimeout: 120_000,
    teardownTimeout: 10_000,
    // Two more than there are cores: many tests wait for a process, a clock or a server. The default would leave one core idle.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/support/summary.ts'],
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary', 'html'] },
  },
})
