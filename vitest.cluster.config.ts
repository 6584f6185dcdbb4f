/** Tests on real parts of several processes: a broker, a database, programs. `npm run test:cluster` */
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/cluster/**/*.test.ts'],
    testTimeout: 90_000,
    hookTimeout: 120_000,
    teardownTimeout: 10_000,
    maxWorkers: availableParallelism(),
    reporters: ['default', './test/support/summary.ts'],
  },
})
