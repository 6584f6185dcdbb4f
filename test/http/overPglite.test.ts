/** The API over the embedded database: the tests of this room that open a control plane, once more. */
import { afterAll, describe } from 'vitest'
import { describeHttpOn, pglitePool } from '../support/storePools.ts'

describe('PGlite', () => {
  const pool = pglitePool()
  afterAll(pool.end)
  describeHttpOn(pool)
})
