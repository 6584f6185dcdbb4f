/** Streams of events over the three stores. */
import { afterAll, beforeAll, describe } from 'vitest'
import { memoryStores } from '../support/memoryStore/memory.ts'
import { openStore } from '../../src/persistence/open.ts'
import { eventsContract } from '../contracts/events.contract.ts'
import { embeddedStoreMade } from '../support/embedded.ts'
import { describeWith } from '../support/needs.ts'
import { type OwnServer, ownServer } from '../support/postgresOwn.ts'
import { pglitePool } from '../support/storePools.ts'

describe('memory', () => {
  eventsContract(async () => {
    const open = memoryStores({ exclusive: false })
    return { stores: [open(), open()], dispose: async () => undefined }
  })
})

describe('embedded', () => {
  beforeAll(embeddedStoreMade)
  const pool = pglitePool()
  afterAll(pool.end)
  eventsContract(async () => {
    const store = await pool.take(Date.now)
    return { stores: [store, store], dispose: store.close }
  })
})

describeWith('postgres', 'PostgreSQL', (bin) => {
  // of their own: an open transaction of another test on the same server would hide the last rows from the stream
  let server: OwnServer
  beforeAll(async () => {
    server = await ownServer(bin)
  })
  afterAll(() => server.end())
  eventsContract(async () => {
    const database = await server.freshDatabase()
    const [a, b] = await Promise.all([1, 2].map(() => openStore({ kind: 'postgres', url: database.url })))
    const dispose = async () => {
      await Promise.all([a!.close(), b!.close()])
      await database.drop()
    }
    return { stores: [a!, b!], dispose }
  })
})
