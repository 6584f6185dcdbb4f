/** The API over PostgreSQL: the tests of `test/http` that open a control plane, once more. */
import { afterAll } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { describeHttpOn, postgresPool } from '../support/storePools.ts'

describeWith('postgres', 'PostgreSQL', (bin) => {
  const pool = postgresPool(bin)
  afterAll(pool.end)
  describeHttpOn(pool)
})
