/** The one contract over the three stores. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { openStore } from '../../src/persistence/open.ts'
import { journalContract } from '../contracts/journal.contract.ts'
import type { Opened } from '../contracts/journal.contract.ts'
import { wholeTablesContract } from '../contracts/tables.contract.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase } from '../support/postgres.ts'

const contracts = (open: () => Promise<Opened>): void => {
  journalContract(open)
  wholeTablesContract(open)
}

describe('memory', () => {
  contracts(async () => {
    const store = await openStore({ kind: 'memory' })
    return { store, dispose: store.close }
  })
})

describe('embedded', () => {
  contracts(async () => {
    const dir = mkdtempSync(join(tmpdir(), 'accelerando-store-'))
    const store = await openStore({ kind: 'pglite', dir })
    const dispose = async () => {
      await store.close()
      rmSync(dir, { recursive: true })
    }
    return { store, dispose }
  })
})

describeWith('postgres', 'PostgreSQL', (bin) => {
  contracts(async () => {
    const database = await freshDatabase(bin)
    const store = await openStore({ kind: 'postgres', url: database.url })
    const dispose = async () => {
      await store.close()
      await database.drop()
    }
    return { store, dispose }
  })
})
