/** The console in a real browser. `npm run test:browser`; with SCREENSHOTS=1 the pictures of the documents are taken anew. */
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
    // one browser at a time: what is measured in one test must not be slowed down by another
    maxWorkers: 1,
    reporters: ['default', './test/support/summary.ts'],
  },
})
