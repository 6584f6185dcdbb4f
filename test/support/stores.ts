/** The store that the control planes of a test use: memory, unless a test file selects another. */
import { memoryStore } from './memoryStore/memory.ts'
import type { Store } from '../../src/persistence/store.ts'

/** `now`: the clock for a store that has none of its own. */
export type Source = (now: () => number) => Promise<Store>
let source: Source = async (now) => memoryStore({ now })

export const openTestStore: Source = (now) => source(now)
/** Sets the store of all control planes that this test file opens from now on. */
export const openStoresBy = (other: Source): void => void (source = other)
