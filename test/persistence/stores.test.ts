/** The one contract over the three stores. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { memoryStore, memoryStores } from '../support/memoryStore/memory.ts'
import { openStore } from '../../src/persistence/open.ts'
import type { Store } from '../../src/persistence/store.ts'
import { archiveContract } from '../contracts/archive.contract.ts'
import { journalContract } from '../contracts/journal.contract.ts'
import type { Opened } from '../contracts/journal.contract.ts'
import { sharingContract } from '../contracts/sharing.contract.ts'
import { wholeTablesContract } from '../contracts/tables.contract.ts'
import { embeddedStoreIn, embeddedStoreMade } from '../support/embedded.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase } from '../support/postgres.ts'
import { type Pool, pglitePool, postgresPool } from '../support/storePools.ts'

/**
 * `pool`: to open a store takes longer than what the contract does with it, so one is emptied between two of these
 * tests.
 */
const contracts = (open: () => Promise<Opened>, pool: Pool | null = null): void => {
  journalContract(open)
  wholeTablesContract(open)
  archiveContract(pool === null ? open : () => takenFrom(pool))
  afterAll(() => pool?.end())
}
const takenFrom = async (pool: Pool): Promise<Opened> => {
  const store = await pool.take(Date.now)
  return { store, dispose: store.close }
}

const twice = (store: Store): readonly [Store, Store] => [store, store]

describe('memory', () => {
  sharingContract(async () => {
    const process = memoryStores()
    return { stores: [process(), process()], dispose: async () => undefined }
  })
  contracts(async () => {
    const store = memoryStore()
    return { store, dispose: store.close }
  })
})

describe('embedded', () => {
  beforeAll(embeddedStoreMade)
  // there is one process to a folder: here it shares with itself
  sharingContract(async () => {
    const { store, dispose } = await embedded()
    return { stores: twice(store), dispose }
  })
  contracts(embedded, pglitePool())
})

const embedded = async (): Promise<Opened> => {
  const dir = mkdtempSync(join(tmpdir(), 'accelerando-store-'))
  await embeddedStoreIn(dir)
  const store = await openStore({ kind: 'pglite', dir })
  const dispose = async () => {
    await store.close()
    rmSync(dir, { recursive: true })
  }
  return { store, dispose }
}

describeWith('postgres', 'PostgreSQL', (bin) => {
  sharingContract(async () => {
    const database = await freshDatabase(bin)
    const [a, b] = await Promise.all([1, 2].map(() => openStore({ kind: 'postgres', url: database.url })))
    const dispose = async () => {
      await Promise.all([a!.close(), b!.close()])
      await database.drop()
    }
    return { stores: [a!, b!], dispose }
  })
  contracts(async () => {
    const database = await freshDatabase(bin)
    // what answers is judged here, not how soon: a machine may stand still for seconds
    const store = await openStore({ kind: 'postgres', url: database.url, statementTimeoutMs: 30_000 })
    const dispose = async () => {
      await store.close()
      await database.drop()
    }
    return { store, dispose }
  }, postgresPool(bin))
})
