/** Versions of device profiles, over the memory and over PGlite. */
import { afterAll, describe } from 'vitest'
import { profileVersionsContract } from '../contracts/profileVersions.contract.ts'
import { pglitePool } from '../support/storePools.ts'
import { openTestStore } from '../support/stores.ts'

describe('in memory', () => profileVersionsContract(openTestStore))
describe('PGlite', () => {
  const pool = pglitePool()
  afterAll(pool.end)
  profileVersionsContract(pool.take)
})
