/** Servers booted by a real Nova, which the first run installs. `npm run e2e:nova` */
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/nova/**/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    // one cloud at a time: a Nova takes a gigabyte of memory
    maxWorkers: 1,
    reporters: ['default', './test/support/summary.ts'],
  },
})
