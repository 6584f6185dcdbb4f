/** Anything at every door, over PostgreSQL. */
import { afterAll } from 'vitest'
import { hostileSuite } from '../http/hostileSuite.ts'
import { describeWith } from '../support/needs.ts'
import { ownPostgresPool } from '../support/storePools.ts'

describeWith('postgres', 'PostgreSQL', (bin) => {
  const pool = ownPostgresPool(bin)
  afterAll(pool.end)
  hostileSuite(() => pool.take(Date.now))
})
