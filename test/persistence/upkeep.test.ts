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
