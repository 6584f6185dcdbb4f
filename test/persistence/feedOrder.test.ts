/** Commit order is the order of numbers, also where they get another digit. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { PGlite } from '@electric-sql/pglite'
import { openStore } from '../../src/persistence/open.ts'
import { embeddedStoreIn, embeddedStoreMade } from '../support/embedded.ts'
import * as sample from './samples.ts'

beforeAll(embeddedStoreMade)
let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'accelerando-order-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Uses up numbers of transactions until the next is about 990; a new folder begins below 800. */
const SPEND = `do $$ begin
  while pg_current_xact_id()::text::bigint < 990 loop commit; end loop;
end $$`
const transactionOf = (position: string) => Number(position.split('.')[0])

test('the feed and the history stay in commit order from transaction 999 to 1000', { timeout: 60_000 }, async () => {
  await embeddedStoreIn(dir)
  const database = await PGlite.create(join(dir, 'pglite'))
  await database.exec(SPEND)
  await database.close()
  const { journal, close } = await openStore({ kind: 'pglite', dir })
  const key = sample.newKey()
  const versions = Array.from({ length: 20 }, (_, n) => n + 1)
  for (const version of versions) expect(await journal.append(sample.one(key, version))).toBe('appended')
  const history = await journal.history([key], 100)
  expect(transactionOf(history[0]!.position)).toBeLessThan(1000)
  expect(transactionOf(history.at(-1)!.position)).toBeGreaterThanOrEqual(1000)
  expect(history.map((row) => row.version)).toEqual(versions)
  const fed: number[] = []
  let page = await journal.feed('', 7)
  while (page.length > 0) {
    fed.push(...page.map((row) => row.version))
    page = await journal.feed(page.at(-1)!.position, 7)
  }
  expect(fed).toEqual(versions)
  await close()
})
