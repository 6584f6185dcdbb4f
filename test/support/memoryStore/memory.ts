/**
 * Journal and views in memory: the store of simulations and of tests. It has no timers and waits only for its hooks.
 */
import { randomUUID } from 'node:crypto'
import type {
  Append,
  FeedRow,
  Journal,
  JournalRow,
  Landmarks,
  Reads,
  Recalled,
  RowMark,
  Verdict,
  Wish,
  Scalar,
} from '../../../src/actors/runtime/ports.ts'
import { noHints } from '../../../src/actors/runtime/hints.ts'
import { Unreadable } from '../../../src/actors/runtime/unreadable.ts'
import { snapshotSchemaOf } from '../../../src/actors/runtime/snapshots.ts'
import { NEVER_DUE } from '../../../src/actors/runtime/dueKinds.ts'
import type { Row } from '../../../src/actors/runtime/views.ts'
import { archiveMemory } from './archive.ts'
import { memoryHints } from './hints.ts'
import type { Kept } from './kept.ts'
import { endAllOthers, memorySharing, noSharedWork } from './sharing.ts'
import { standbyOf } from './standby.ts'
import { memoryTables } from './tables.ts'
import { misfitOf } from '../../../src/persistence/misfit.ts'
import { dumpedViews, dumpLine, lastChanges } from '../../../src/persistence/rules.ts'
import type { Fold, Loaded, Store, Stream } from '../../../src/persistence/store.ts'

export type MemoryOptions = {
  readonly exclusive?: boolean
  /** The UUID of the cloud; a new one by default. */
  readonly cloudUuid?: string
  /** The store's own clock for leases, claims and the silence of hosts; ms. */
  readonly now?: () => number
  /** Awaited before an append is checked. If it rejects, nothing is written and the verdict is `unknown`. */
  readonly beforeCommit?: (append: Append) => Promise<void>
  /** Awaited after an append is written. If it rejects, the rows stay written and the verdict is `unknown`. */
  readonly afterCommit?: (append: Append) => Promise<void>
  /** Awaited before each read of the journal. If it rejects, the read fails. */
  readonly beforeRead?: () => Promise<void>
}
const isRow = (row: JournalRow | undefined, { commandId, at }: RowMark): boolean =>
  row?.commandId === commandId && (at === null || row.at === at)
const commandOf = ({ key, commandId }: JournalRow): string => `${key} ${commandId}`

const write = ({ log, byKey, commands, tables }: Kept, { rows, changes }: Append): Verdict => {
  if (rows.some((row) => commands.has(commandOf(row)))) return 'seen'
  const next = new Map<string, number>()
  for (const { key, version, follows } of rows) {
    const expected = next.get(key) ?? (byKey.get(key)?.at(-1)?.version ?? 0) + 1
    if (version !== expected) return 'stale'
    if (follows !== undefined && !next.has(key) && !isRow(byKey.get(key)?.at(-1), follows)) return 'stale'
    next.set(key, version + 1)
  }
  const refused = misfitOf({ rows, changes })
  if (refused !== null) return { refused }
  const conflict = tables.write(changes)
  if (conflict !== null) return { conflict }
  for (const row of rows) {
    const { follows: _, ...stored } = row
    const fed: FeedRow = { ...(JSON.parse(JSON.stringify(stored)) as JournalRow), position: String(log.length + 1) }
    log.push(fed)
    const ofKey = byKey.get(row.key)
    if (ofKey === undefined) byKey.set(row.key, [fed])
    else ofKey.push(fed)
    commands.add(commandOf(row))
  }
  return 'appended'
}

const tail = ({ byKey, tables }: Kept, { key, after: known, last }: Wish): Recalled => {
  const all = byKey.get(key) ?? []
  const isVoid = last !== undefined && !isRow(all[known - 1], last)
  const after = isVoid ? 0 : known
  const kept = tables.row('snapshots', key) as Row<'snapshots'> | undefined
  const snapshot =
    kept === undefined || kept.version <= after || kept.schema !== snapshotSchemaOf(key)
      ? null
      : { version: kept.version, memory: kept.memory }
  const from = snapshot?.version ?? after
  const rows = all.filter(({ version }) => version > from)
  return { ...(isVoid ? { void: true } : {}), snapshot, rows }
}

const fed = ({ log, archived }: Kept, after: number, limit: number): readonly FeedRow[] => {
  if (archived.size === 0) return log.slice(after, after + limit)
  const left = log.slice(after).filter(({ position }) => !archived.has(position))
  return left.slice(0, limit)
}

/** Reads after the hook `beforeRead`; if the hook rejects, the read fails. */
const readerOf =
  (options: MemoryOptions) =>
  async <T>(look: () => T): Promise<T> => {
    await options.beforeRead?.().catch((cause: unknown) => {
      throw cause instanceof Unreadable
        ? cause
        : new Unreadable(`the journal cannot be read: ${String(cause)}`, { cause })
    })
    return look()
  }

const landmarksOf = ({ log, archived }: Kept, options: MemoryOptions): Landmarks => {
  const read = readerOf(options)
  return {
    newest: () => read(() => log.at(-1) ?? null),
    at: (position) => read(() => (/^\d{1,15}$/.test(position) ? (log[Number(position) - 1] ?? null) : null)),
    horizon: () =>
      read(() => (archived.size === 0 ? '' : String([...archived].reduce((a, b) => Math.max(a, Number(b)), 0)))),
    isBefore: (one, other) => Number(one) < Number(other),
  }
}

const journalOf = (kept: Kept, options: MemoryOptions): Journal => {
  const listeners = new Set<Parameters<Journal['onAppended']>[0]>()
  let closed = false
  const read = readerOf(options)
  const append = async (wanted: Append): Promise<Verdict> => {
    if (closed) return 'busy'
    try {
      await options.beforeCommit?.(wanted)
      const verdict = write(kept, wanted)
      if (verdict !== 'appended') return verdict
      await options.afterCommit?.(wanted)
    } catch {
      return 'unknown'
    }
    for (const listener of listeners) listener([wanted])
    return 'appended'
  }
  return {
    append,
    recall: (keys) => read(() => new Map(keys.map((wish) => [wish.key, tail(kept, wish)]))),
    history: (keys, limit) => {
      const wanted = new Set(keys)
      return read(() => kept.log.filter(({ key }) => wanted.has(key)).slice(0, limit))
    },
    feed: (after, limit) => read(() => fed(kept, Number(after), limit)),
    checkpoint: (reader) => read(() => kept.checkpoints.get(reader) ?? ''),
    saveCheckpoint: async (reader, position) => void kept.checkpoints.set(reader, position),
    onAppended: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    exclusive: options.exclusive ?? true,
    close: async () => void (closed = true),
  }
}

const readsOf = ({ tables }: Kept): Reads => ({
  tally: async (view, by) => {
    const found = new Map<string, number>()
    for (const cells of tables.rows(view)) {
      const cell = cells[by] as Scalar
      const value = String(cell)
      if (cell !== null) found.set(value, (found.get(value) ?? 0) + 1)
    }
    return found
  },
  page: async (query) => tables.page(query),
  dueBefore: async (now, limit) =>
    (tables.page({ view: 'due', where: {}, sort: 'at', limit: Infinity }) ?? [])
      .filter(({ kind, at }) => at <= now && !NEVER_DUE.includes(kind))
      .slice(0, limit),
})

const bulkLoad = async (kept: Kept, appends: Stream<Append>): Promise<Loaded> => {
  let [journalRows, viewRows] = [0, 0]
  for await (const wanted of appends) {
    const verdict = write(kept, wanted)
    if (verdict !== 'appended')
      throw new Error(`bulk load: ${JSON.stringify(verdict)} at ${wanted.rows[0]?.key ?? 'a view row'}`)
    journalRows += wanted.rows.length
    viewRows += wanted.changes.length
  }
  return { journalRows, viewRows }
}

const loadWhole = async (kept: Kept, appends: Stream<Append>): Promise<Loaded> => {
  const putBack = standbyOf(kept, commandOf)
  try {
    return await bulkLoad(kept, appends)
  } catch (error) {
    putBack()
    throw error
  }
}

const rebuildViews = async ({ log, byKey, tables }: Kept, fold: Fold): Promise<Loaded> => {
  // an entity that has no row, or none any more, takes away no row that another one has written
  const changes = [...byKey.keys()]
    .toSorted()
    .flatMap((key) => lastChanges(fold(key, byKey.get(key)!)).filter(({ row }) => row !== null))
  tables.clear()
  const conflict = tables.write(changes)
  if (conflict !== null) throw new Error(`rebuild of the views: the journal breaks ${conflict}`)
  return { journalRows: log.length, viewRows: changes.length }
}

async function* dumpViews({ tables }: Kept): AsyncGenerator<string> {
  for (const view of dumpedViews) for (const cells of tables.rows(view)) yield dumpLine(view, cells)
}

export type Memories = ((monotonic?: () => number) => Store) & {
  /**
   * Copies all present data. The returned function replaces the data with that copy, and returns the rows that are lost
   * thereby.
   */
  readonly standby: () => () => readonly FeedRow[]
}
/**
 * Stores of several processes over the same rows: each call stands for one process, and each store is closed
 * separately.
 */
export const memoryStores = (options: MemoryOptions = {}): Memories => {
  const kept: Kept = {
    log: [],
    byKey: new Map(),
    commands: new Set(),
    tables: memoryTables(),
    checkpoints: new Map(),
    work: noSharedWork(),
    archived: new Set(),
  }
  const id = options.cloudUuid ?? randomUUID()
  const hintsOf = memoryHints()
  let privateKey: string | null = null
  const open = (monotonic = options.now ?? (() => performance.now())): Store => {
    const journal = journalOf(kept, options)
    if (journal.exclusive) endAllOthers(kept.work)
    return {
      kind: 'memory',
      newer: [],
      schema: null,
      journal,
      landmarks: landmarksOf(kept, options),
      reads: readsOf(kept),
      sharing: memorySharing(kept, options.now ?? Date.now, monotonic),
      hints: journal.exclusive ? noHints : hintsOf(),
      expectWriting: async () => {},
      isStopped: async () => false,
      cloud: async (newKey) => ({ id, privateKey: (privateKey ??= newKey()) }),
      bulkLoad: (appends) => bulkLoad(kept, appends),
      loadWhole: (appends) => loadWhole(kept, appends),
      journalEnd: async () => kept.log.at(-1)?.position ?? '',
      rebuildViews: (fold) => rebuildViews(kept, fold),
      archiveEnded: (order) => archiveMemory(kept, order),
      dumpViews: () => dumpViews(kept),
      close: journal.close,
    }
  }
  return Object.assign(open, { standby: () => standbyOf(kept, commandOf) })
}

export const memoryStore = (options: MemoryOptions = {}): Store => memoryStores(options)()
