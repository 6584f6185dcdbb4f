/**
 * Tests that need no cluster, and take so long (about ten seconds or more) that they run with `npm run test:cluster`
 * instead of `npm test`: real clients that have to be installed, programs and databases that are started, killed and
 * waited for, the largest inventories, suites once more over the databases.
 */
export const LONG: readonly string[] = [
  'test/actors/hugeHost.test.ts',
  'test/audit/adopted.test.ts',
  'test/audit/audit.test.ts',
  'test/audit/lastAudit.test.ts',
  'test/cli/completion.test.ts',
  'test/cli/devices.test.ts',
  'test/clients/clients.test.ts',
  'test/clients/schemathesis.test.ts',
  'test/docs/fiveMinutes.test.ts',
  'test/e2e/archive.test.ts',
  'test/e2e/cleaning.test.ts',
  'test/e2e/stopped.test.ts',
  'test/e2e/waiting.test.ts',
  'test/kafka/lookupWaits.test.ts',
  'test/mutation/mutation.test.ts',
  'test/neighbours/openstack/driftOverStores.test.ts',
  'test/persistence/failover.test.ts',
  'test/persistence/migrate.test.ts',
  'test/persistence/outage.test.ts',
  'test/persistence/pglite.test.ts',
  'test/persistence/roles.test.ts',
  'test/persistence/soleWriter.test.ts',
  'test/persistence/template.test.ts',
  'test/shipping/helm.test.ts',
  'test/shipping/pack.test.ts',
  'test/shipping/systemdRuns.test.ts',
  'test/sim/bites.test.ts',
]
