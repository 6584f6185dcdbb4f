/** The store that the control planes of a test use: memory, unless a test file selects another. */
import { memoryStore } from './memoryStore/memory.ts'
import type { Store } from '../../src/persistence/store.ts'

/** `now`: the clock for a store that has none of its own. */
export type Source = (now: () => number) => Promise<Store>
const inMemory: Source = async (now) => memoryStore({ now })
let source = inMemory

export const openTestStore: Source = (now) => source(now)
/** Sets the store of all control planes that this test file opens from now on. */
export const openStoresBy = (other: Source): void => void (source = other)
/** For tests that ask nothing of a store, and need not run once more over each. */
export const isUsualStore = (): boolean => source === inMemory
