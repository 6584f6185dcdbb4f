/** The contracts of the store over PostgreSQL in a container. */
import { afterAll, beforeAll } from 'vitest'
import { openStore } from '../../src/persistence/open.ts'
import { journalContract } from '../contracts/journal.contract.ts'
import { sharingContract } from '../contracts/sharing.contract.ts'
import { wholeTablesContract } from '../contracts/tables.contract.ts'
import { type Contained, databaseOn, postgresContainer } from '../support/containers.ts'
import { describeWith } from '../support/needs.ts'

describeWith('docker', 'PostgreSQL in a container', () => {
  let server: Contained & { readonly url: string }
  beforeAll(async () => {
    server = await postgresContainer()
  })
  afterAll(async () => server?.stop())

  const open = async (count: number) => {
    const database = await databaseOn(server.url)
    const stores = await Promise.all(
      Array.from({ length: count }, () => openStore({ kind: 'postgres', url: database.url })),
    )
    const dispose = async () => {
      await Promise.all(stores.map((store) => store.close()))
      await database.drop()
    }
    return { stores, dispose }
  }
  const one = async () => {
    const { stores, dispose } = await open(1)
    return { store: stores[0]!, dispose }
  }
  journalContract(one)
  wholeTablesContract(one)
  sharingContract(async () => {
    const { stores, dispose } = await open(2)
    return { stores: [stores[0]!, stores[1]!], dispose }
  })
})
