/** The largest inventory, over the store in memory and over the embedded database. */
import { afterAll, describe } from 'vitest'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { pglitePool } from '../support/storePools.ts'
import { hugeHostSuite } from './hugeHostSuite.ts'

describe('in memory', () => hugeHostSuite(async () => memoryStore({ now: Date.now })))
describe('PGlite', () => {
  const pool = pglitePool()
  afterAll(pool.end)
  hugeHostSuite(() => pool.take(Date.now))
})
