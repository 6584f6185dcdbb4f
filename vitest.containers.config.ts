import { defineConfig } from 'vitest/config'

/** `npm run test:containers`: what runs in containers, one file after another; skipped by name where no Docker engine answers. */
export default defineConfig({
  test: {
    include: ['test/containers/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 300_000,
    fileParallelism: false,
    reporters: ['default', './test/support/summary.ts'],
  },
})
