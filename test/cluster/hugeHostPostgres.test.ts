/** The largest inventory that a host may show, over PostgreSQL. */
import { afterAll } from 'vitest'
import { hugeHostSuite } from '../actors/hugeHostSuite.ts'
import { describeWith } from '../support/needs.ts'
import { ownPostgresPool } from '../support/storePools.ts'

describeWith('postgres', 'PostgreSQL', (bin) => {
  const pool = ownPostgresPool(bin)
  afterAll(pool.end)
  hugeHostSuite(() => pool.take(Date.now))
})
