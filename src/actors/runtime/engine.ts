/**
 * nact's persistence engine over our journal. Recovery is one read (snapshot and tail together), which the journal
 * combines with other reads of the same moment. Versions come from journal rows; nact's own sequence numbers, which can
 * have gaps, are ignored.
 */
import type { EntityKey } from '../../vocabulary/identifiers.ts'
import type { PersistenceEngine } from 'nact'
import { type AnyDecider, type Memory, recallInto, blank } from './memory.ts'
import type { Append, Journal, Verdict } from './ports.ts'

/**
 * The value that the shell passes to nact's `persist`. The engine writes the verdict into it, because nact returns
 * none.
 */
export type Persisting = { readonly append: Append; verdict: Verdict }

export type Engine = PersistenceEngine & {
  /** The next actor of this key starts with this memory and reads nothing. */
  readonly warm: (memory: Memory) => void
}

export const createEngine = (journal: Journal, deciderOf: (key: EntityKey) => AnyDecider): Engine => {
  const warmed = new Map<EntityKey, Memory>()
  const recover = async (key: EntityKey): Promise<Memory> => {
    const known = warmed.get(key)
    if (known) {
      warmed.delete(key)
      return known
    }
    const recalled = await journal.recall([{ key, after: 0 }])
    return recallInto(deciderOf(key), blank(key, deciderOf(key)), recalled.get(key))
  }
  return {
    warm: (memory) => void warmed.set(memory.key, memory),
    latestSnapshot: async (key) => ({ data: await recover(key), sequenceNumber: 0, key, createdAt: 0 }),
    // everything was read with the snapshot: nothing is left to replay
    events: () => [] as never,
    takeSnapshot: async () => {},
    persist: async (event) => {
      const persisting = event.data as Persisting
      persisting.verdict = await journal.append(persisting.append)
    },
  }
}
