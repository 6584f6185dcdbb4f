/** Tests that need no cluster, and so long that they run with `npm run test:cluster` instead of `npm test`. */
export const LONG: readonly string[] = [
  'test/clients/schemathesis.test.ts',
  'test/mutation/mutation.test.ts',
  'test/persistence/failover.test.ts',
  'test/sim/bites.test.ts',
]
