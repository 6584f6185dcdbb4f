/**
 * A store whose database is replaced by an older copy of it, as by a replica that had not received the last commits.
 */
import { viewRowsOf } from '../../src/actors/entities.ts'
import type { FeedRow } from '../../src/actors/runtime/ports.ts'
import { memoryStores } from './memoryStore/memory.ts'
import type { Store } from '../../src/persistence/store.ts'

const ROWS_MAX = 100_000

/** Each call of `open` stands for a process. `goBack` leaves only the first `count` rows, in all of them. */
export const replacedStores = () => {
  let open = memoryStores({ exclusive: false })
  let current = open()
  let incarnation = 1
  const rows = (): Promise<readonly FeedRow[]> => current.journal.feed('', ROWS_MAX)
  const goBack = async (count: number) => {
    const kept = (await rows()).slice(0, count)
    open = memoryStores({ exclusive: false })
    current = open()
    incarnation++
    await current.bulkLoad(kept.map((row) => ({ rows: [row], changes: [] })))
    await current.rebuildViews(viewRowsOf)
  }
  /** Calls reach whichever database there is now. */
  const journal = (): Store['journal'] => ({
    append: (append) => current.journal.append(append),
    recall: (keys) => current.journal.recall(keys),
    history: (keys, limit) => current.journal.history(keys, limit),
    feed: (after, limit) => current.journal.feed(after, limit),
    checkpoint: (reader) => current.journal.checkpoint(reader),
    saveCheckpoint: (reader, position) => current.journal.saveCheckpoint(reader, position),
    onAppended: (listener) => current.journal.onAppended(listener),
    exclusive: false,
    get incarnation() {
      return incarnation
    },
    close: async () => {},
  })
  const store = (): Store => ({
    ...current,
    journal: journal(),
    landmarks: {
      newest: () => current.landmarks.newest(),
      at: (position) => current.landmarks.at(position),
      horizon: () => current.landmarks.horizon(),
      isBefore: (one, other) => current.landmarks.isBefore(one, other),
    },
    reads: {
      page: (query) => current.reads.page(query),
      dueBefore: (now, limit) => current.reads.dueBefore(now, limit),
      tally: (view, by) => current.reads.tally(view, by),
    },
  })
  return { open: store, rows, goBack }
}
