/** Anything at every door, over the store in memory and over the embedded database. */
import { afterAll, describe } from 'vitest'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { pglitePool } from '../support/storePools.ts'
import { hostileSuite } from './hostileSuite.ts'

describe('in memory', () => hostileSuite(async () => memoryStore({ now: Date.now })))
describe('PGlite', () => {
  const pool = pglitePool()
  afterAll(pool.end)
  hostileSuite(() => pool.take(Date.now))
})
