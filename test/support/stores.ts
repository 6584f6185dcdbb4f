/** The store that the planes of a test are opened over: memory, unless a file says otherwise. */
import { memoryStore } from '../../src/persistence/memory/memory.ts'
import type { Store } from '../../src/persistence/store.ts'

/** `now`: the clock of a store that has none of its own. */
export type Source = (now: () => number) => Promise<Store>
let source: Source = async (now) => memoryStore({ now })

export const openTestStore: Source = (now) => source(now)
/** For all planes that this file opens from now on. */
export const openStoresBy = (other: Source): void => void (source = other)
