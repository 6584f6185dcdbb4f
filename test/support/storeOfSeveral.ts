/** Tests on each kind of store that several controls may use. */
import { describe } from 'vitest'
import { memoryStores } from './memoryStore/memory.ts'
import { openStore } from '../../src/persistence/open.ts'
import type { Store } from '../../src/persistence/store.ts'
import { describeWith } from './needs.ts'
import { freshDatabase } from './postgres.ts'

/** Does something with new rows; each call of `open` opens one more store over them. */
type With = <Value>(work: (open: () => Promise<Store>) => Promise<Value>) => Promise<Value>
export const onStoresOfSeveral = (tests: (withStores: With) => void): void => {
  describe('in memory', () =>
    tests((work) => {
      const stores = memoryStores({ exclusive: false })
      return work(async () => stores())
    }))
  describeWith('postgres', 'on PostgreSQL', (bin) =>
    tests(async (work) => {
      const database = await freshDatabase(bin)
      try {
        return await work(() => openStore({ kind: 'postgres', url: database.url }))
      } finally {
        await database.drop()
      }
    }),
  )
}
