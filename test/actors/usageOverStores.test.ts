/** Reports of usage over the SQL stores: what is asked of the tables there. */
import { afterAll, beforeAll, describe } from 'vitest'
import { usageContract } from '../contracts/usage.contract.ts'
import { describeWith } from '../support/needs.ts'
import { type Pool, ownPostgresPool, pglitePool } from '../support/storePools.ts'

const over = (pool: Pool): void => {
  // the first one takes longer than a test may
  beforeAll(async () => (await pool.take(Date.now)).close())
  afterAll(pool.end)
  usageContract(pool.take, 4)
}

describe('PGlite', () => over(pglitePool()))
describeWith('postgres', 'PostgreSQL', (bin) => over(ownPostgresPool(bin)))
