/** Records an import in a store, and what the audit says of it. */
import { recordsOf } from '../../src/actors/upstream/appends.ts'
import { type Plan, planImport } from '../../src/actors/upstream/plan.ts'
import type { UpstreamTables } from '../../src/actors/upstream/rows.ts'
import { VIEWS, type ViewName } from '../../src/actors/runtime/views.ts'
import { check } from '../../src/audit/check.ts'
import { systemIds } from '../../src/vocabulary/clock.ts'
import type { Store } from '../../src/persistence/store.ts'

export const NOW = Date.parse('2026-01-01T00:00:00Z')

export const importInto = async (store: Store, tables: UpstreamTables): Promise<Plan> => {
  const plan = planImport(tables)
  await store.bulkLoad(recordsOf(plan, systemIds, NOW))
  return plan
}
/** What breaks an invariant, in words. */
export const violationsIn = async (store: Store, now = NOW): Promise<readonly string[]> => {
  const pages = await Promise.all(
    (Object.keys(VIEWS) as ViewName[]).map(
      async (view) =>
        [view, await store.reads.page({ view, where: {}, sort: VIEWS[view].key as never, limit: 10_000 })] as const,
    ),
  )
  const journal = await store.journal.feed('', 10_000)
  return check({ journal, views: Object.fromEntries(pages), now }).map(
    ({ invariant, found }) => `${invariant}: ${found}`,
  )
}
