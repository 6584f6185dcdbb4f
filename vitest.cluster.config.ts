/** Tests on real parts of several processes (a broker, a database, programs), and those that take long. `npm run test:cluster` */
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LONG } from './test/long.ts'

/** Where a Docker engine answers, the contracts run over parts in containers as well. */
const hasDocker = spawnSync('docker', ['info'], { stdio: 'ignore', timeout: 10_000 }).status === 0
const contained = ['test/containers/database.test.ts', 'test/containers/bus.test.ts']

export default defineConfig({
  test: {
    include: ['test/cluster/**/*.test.ts', 'test/upgrade/**/*.test.ts', ...LONG, ...(hasDocker ? contained : [])],
    testTimeout: 90_000,
    hookTimeout: 120_000,
    teardownTimeout: 10_000,
    maxWorkers: availableParallelism(),
    reporters: ['default', './test/support/summary.ts'],
  },
})
