/** What a server does in the background, and the embedded database does between two statements. */
import { PGlite } from '@electric-sql/pglite'
import { expect, test } from 'vitest'
import { upkeepOf } from '../../src/persistence/pglite/upkeep.ts'

/** As many bytes as make a checkpoint due. */
const ENOUGH = 'x'.repeat(8_000_000)
const BRISK = ['due', 'pending_orders', 'snapshots', 'checkpoints', 'hosts']

test(
  'rows that were removed from a brisk table take no room after the next checkpoint',
  { timeout: 60_000 },
  async () => {
    const db = await PGlite.create()
    try {
      for (const table of BRISK) await db.exec(`create table ${table} (id int)`)
      await db.exec('insert into due select * from generate_series(1, 10000); delete from due')
      const size = async () =>
        (await db.query<{ size: number }>(`select pg_relation_size('due')::int as size`)).rows[0]!.size
      const upkeep = upkeepOf(db)
      upkeep.wrote(['a little'])
      await upkeep.whenDue()
      expect(await size()).toBeGreaterThan(0)
      upkeep.wrote([ENOUGH])
      await upkeep.whenDue()
      expect(await size()).toBe(0)
    } finally {
      await db.close()
    }
  },
)

test('a checkpoint is due with eight million characters, and each sixteenth one vacuums all tables', async () => {
  const said: string[] = []
  const query = async (text: string) => {
    said.push(text)
    // as at the first start, when there are no tables yet
    if (text.startsWith('vacuum')) throw new Error('no such table')
  }
  const upkeep = upkeepOf({ query } as unknown as PGlite)
  const wrote = async (...params: readonly unknown[]) => {
    upkeep.wrote(params)
    await upkeep.whenDue()
    return said.splice(0)
  }
  // of what is no text eight are counted
  expect(await wrote(ENOUGH.slice(9), 1)).toEqual([])
  expect(await wrote('x')).toEqual([`vacuum ${BRISK.join(', ')}`, 'checkpoint'])
  expect(await wrote('x')).toEqual([])
  const more = [await wrote(ENOUGH)]
  while (more.length < 32) more.push(await wrote(ENOUGH))
  const all = more.flatMap(([vacuum], at) => (vacuum === 'vacuum (analyze)' ? [at + 2] : []))
  expect(all).toEqual([16, 32])
  expect(new Set(more.map(([, last]) => last))).toEqual(new Set(['checkpoint']))
})
