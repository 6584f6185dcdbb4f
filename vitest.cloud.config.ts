/** Tests beside real services of a cloud, which the first run installs. `npm run test:neighbours` */
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/cloud/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
    // the first run installs the services, for all files
    maxWorkers: 1,
    reporters: ['default', './test/support/summary.ts'],
  },
})
