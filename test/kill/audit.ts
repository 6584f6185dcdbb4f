/** Checks the store after the program has ended: the invariants hold, and the views equal a fold of the journal. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { viewRowsOf } from '../../src/actors/entities.ts'
import { isMark } from '../../src/actors/placement/marks.ts'
import { recordedPart } from '../../src/actors/recordedPart.ts'
import { check } from '../../src/audit/check.ts'
import type { FeedRow } from '../../src/actors/runtime/ports.ts'
import type { ViewName } from '../../src/actors/runtime/views.ts'
import { effectsPath, readEffects } from '../../src/drivers/simulated/effects.ts'
import { openStore } from '../../src/persistence/open.ts'
import type { Store } from '../../src/persistence/store.ts'
import type { Account } from './account.ts'

const PAGE = 1000

const rowsOf = async ({ journal }: Store): Promise<readonly FeedRow[]> => {
  const rows: FeedRow[] = []
  for (;;) {
    const page = await journal.feed(rows.at(-1)?.position ?? '', PAGE)
    if (page.length === 0) return rows
    rows.push(...page)
  }
}

/** What the journal folds to: without what is set directly, and without rows that no journal makes. */
export const comparable = (line: string): readonly string[] => {
  const end = line.indexOf(' ')
  const [view, row] = [line.slice(0, end) as ViewName, JSON.parse(line.slice(end)) as Readonly<Record<string, unknown>>]
  const { entity } = row
  const made = typeof entity !== 'string' || !isMark(entity)
  return made ? [`${view} ${JSON.stringify(recordedPart(view, row))}`] : []
}
const linesOf = async (store: Store): Promise<readonly string[]> => {
  const lines: string[] = []
  for await (const line of store.dumpViews()) lines.push(...comparable(line))
  return lines
}
export const viewsDiffer = async (store: Store): Promise<readonly string[]> => {
  const before = await linesOf(store)
  await store.rebuildViews(viewRowsOf)
  const after = await linesOf(store)
  const only = (some: readonly string[], others: readonly string[]) => {
    const known = new Set(others)
    return some.filter((line) => !known.has(line))
  }
  return [
    ...only(before, after).map((line) => `a view has ${line}, which its journal does not fold to`),
    ...only(after, before).map((line) => `a view lacks ${line}, which its journal folds to`),
  ]
}

/** Periods in which the service was down, for which no deadline applies. */
const pausesOf = ({ served }: Account) => served.slice(1).map(({ from }, n) => ({ from: served[n]!.to, to: from }))

const preparedOn = (data: string, name: string): readonly string[] => {
  const path = effectsPath(join(data, 'hosts', name, 'drivers'), 'simulated_driver')
  return Object.keys(readEffects(readFileSync(path, 'utf8')).prepared)
}

/** `able`: hosts whose hardware is looked at; `unable`: those that never do what they are told. */
export const audit = async (
  data: string,
  account: Account,
  { able, unable }: { readonly able: readonly string[]; readonly unable: readonly string[] },
): Promise<readonly string[]> => {
  const store = await openStore({ kind: 'pglite', dir: join(data, 'store') })
  try {
    const found = check({
      journal: await rowsOf(store),
      now: account.served.at(-1)!.to,
      pauses: pausesOf(account),
      quiet: true,
      unable,
      hosts: able.map((name) => ({ name, steps: [], prepared: preparedOn(data, name) })),
    })
    return [
      ...found.map(({ invariant, found: what }) => `journal, ${invariant}: ${what}`),
      ...(await viewsDiffer(store)),
    ]
  } finally {
    await store.close()
  }
}
