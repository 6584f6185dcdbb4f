/** The one way to a store. What a store is made of is loaded only when it is asked for. */
import { memoryStore } from './memory.ts'
import type { MemoryOptions } from './memory.ts'
import type { Store } from './store.ts'

export type StoreConfig = { readonly kind: 'memory'; readonly options?: MemoryOptions }

export const openStore = async (config: StoreConfig): Promise<Store> => memoryStore(config.options)
