/**
 * The answers that the service would have given at an earlier moment, folded from the journal by the same deciders.
 *
 * PAST-1 an entity is in the state after its last row decided at or before that moment, by the clock of the control
 *    that decided the row;
 * PAST-2 a caller sees what this caller was allowed to see at that moment: the same rules are applied to the rows of
 *    that moment;
 * PAST-3 nothing is guessed: if the journal is too long to be folded, or some of its rows are in the archive, the
 *    question is refused.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { done, type Outcome, refuse } from '../../fault.ts'
import type { EntityKey } from '../../identifiers.ts'
import type { Past } from '../../actors/control.ts'
import { arq } from '../../actors/arq/decider.ts'
import { deployable } from '../../actors/deployable/decider.ts'
import { device } from '../../actors/device/decider.ts'
import { deciderOf } from '../../actors/entities.ts'
import { host } from '../../actors/host/decider.ts'
import { profile } from '../../actors/profile/decider.ts'
import { blank, type Memory, memoryOf, recallInto } from '../../actors/runtime/memory.ts'
import type { JournalRow, Reads } from '../../actors/runtime/ports.ts'
import { Unreadable } from '../../actors/runtime/unreadable.ts'
import { type Row, type ViewName, keyOfRow } from '../../actors/runtime/views.ts'
import { type Cells, cellsOf, viewPage } from '../../actors/runtime/viewPage.ts'
import type { Read } from '../../actors/runtime/region.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { openReaders, type Readers } from '../kernel/readers.ts'

/** The most journal rows that are read for a list. */
const JOURNAL_ROWS_MAX = 500_000
/** The most journal rows that are read for one entity. */
const ENTITY_ROWS_MAX = 20_000
const ROWS_AT_ONCE = 1000
/** How many lists one process folds at once. */
const RUNNING_MAX = 2
/**
 * Rows come in commit order. A row may be this much older, by its moment of decision, than a row before it, but not
 * more.
 */
const SKEW_MS = 600_000

/** The kind of entity that writes the rows of a view. */
const WRITTEN_BY = {
  arqs: arq.kind,
  profiles: profile.kind,
  devices: device.kind,
  deployables: deployable.kind,
  attributes: deployable.kind,
  handles: deployable.kind,
  hosts: host.kind,
} as const satisfies Partial<Record<ViewName, string>>
type PastView = keyof typeof WRITTEN_BY
const isPastView = (view: string): view is PastView => Object.hasOwn(WRITTEN_BY, view)

type Entities = ReadonlyMap<EntityKey, Memory>
type Folding = { readonly memories: Map<EntityKey, Memory>; readonly ended: Set<EntityKey> }

/** Adds one row to its entity; the fold of an entity ends at its first row later than the moment (PAST-1). */
const absorb = ({ memories, ended }: Folding, row: JournalRow, at: number): void => {
  const { key } = row
  if (ended.has(key)) return
  if (row.at > at) return void ended.add(key)
  const decider = deciderOf(key)
  memories.set(key, recallInto(decider, memories.get(key) ?? blank(key, decider), { snapshot: null, rows: [row] }))
}

const tooLong = refuse({
  kind: 'conflict',
  reason: `the journal has more than ${JOURNAL_ROWS_MAX} rows up to that moment, which is too many for a list; ask for one object by its UUID`,
})
const busy = refuse({ kind: 'unavailable', reason: 'other lists of the past are being folded', retryAfterSeconds: 2 })

/** The view that has one row for each entity of the kind. */
const MAIN_VIEW = {
  [arq.kind]: 'arqs',
  [profile.kind]: 'profiles',
  [device.kind]: 'devices',
  [deployable.kind]: 'deployables',
  [host.kind]: 'hosts',
} as const satisfies Readonly<Record<string, PastView>>
type PastKind = keyof typeof MAIN_VIEW

type Stored = Pick<Kernel, 'journal' | 'landmarks' | 'readers'>
/** Adds stored rows that the feed does not show yet, because an older transaction is still open on the server. */
const createTail =
  ({ journal, readers }: Stored) =>
  async (kind: PastKind, at: number, folding: Folding): Promise<Outcome<null>> => {
    const view = MAIN_VIEW[kind]
    const listed = await readers.list(view, {}, {})
    if (!listed.ok) return listed
    const present = listed.value.items.map((row): EntityKey => `${kind}/${keyOfRow(view, row)}`)
    const keys = [...new Set([...folding.memories.keys(), ...present])].filter((key) => !folding.ended.has(key))
    for (let from = 0; from < keys.length; from += ROWS_AT_ONCE) {
      const some = keys.slice(from, from + ROWS_AT_ONCE)
      const wishes = some.map((key) => ({ key, after: folding.memories.get(key)?.version ?? 0 }))
      for (const [key, { snapshot, rows, ...more }] of await journal.recall(wishes)) {
        const isWhole = snapshot !== null || more.void === true
        if (isWhole) folding.memories.delete(key)
        for (const row of isWhole ? await journal.history([key], ENTITY_ROWS_MAX) : rows) absorb(folding, row, at)
      }
      await turn()
    }
    return done(null)
  }

/** The states of all entities of a kind at that moment. */
const createFold = (stored: Stored) => {
  const { journal, landmarks } = stored
  const addTail = createTail(stored)
  let running = 0
  /**
   * Refuses when requests that existed at that moment may have been deleted and archived since, because no feed shows
   * archived rows.
   */
  const archived = async (kind: string, at: number) => {
    const horizon = kind === arq.kind && landmarks ? await landmarks.horizon() : ''
    const row = horizon === '' ? null : await landmarks!.at(horizon)
    return row && row.at > at
      ? refuse({
          kind: 'conflict',
          reason: `accelerator requests that were deleted before ${new Date(row.at).toISOString()} are in the archive, so there are no lists of earlier moments; ask for one by its UUID`,
        })
      : null
  }
  const folded = async (kind: PastKind, at: number): Promise<Outcome<Entities>> => {
    const folding: Folding = { memories: new Map(), ended: new Set() }
    const prefix = `${kind}/`
    let after = ''
    for (let count = 0; count <= JOURNAL_ROWS_MAX; count += ROWS_AT_ONCE) {
      const rows = await journal.feed(after, ROWS_AT_ONCE)
      for (const row of rows) if (row.key.startsWith(prefix)) absorb(folding, row, at)
      if (rows.length > 0 && rows.every((row) => row.at > at + SKEW_MS)) return done(folding.memories)
      if (rows.length < ROWS_AT_ONCE) {
        const tail = await addTail(kind, at, folding)
        return tail.ok ? done(folding.memories) : tail
      }
      after = rows.at(-1)!.position
      await turn()
    }
    return tooLong
  }
  return async (kind: PastKind, at: number): Promise<Outcome<Entities>> => {
    const gone = await archived(kind, at)
    if (gone) return gone
    if (running >= RUNNING_MAX) return busy
    running++
    try {
      return await folded(kind, at)
    } finally {
      running--
    }
  }
}

const rowsIn = (entities: Entities, view: PastView): ReadonlyMap<string, Cells> => {
  const rows = new Map<string, Cells>()
  for (const { key, state } of entities.values()) {
    const decider = deciderOf(key)
    for (const change of decider.rows(decider.initial, state))
      if (change.view === view && change.row !== null)
        rows.set(change.key, cellsOf(view, JSON.parse(JSON.stringify(change.row)) as object))
  }
  return rows
}

const NOT_ASKED = () => Promise.reject(new Unreadable('this is not known of the past', { permanent: true }))

/** The readers of the views at that moment. Each kind of entity is folded once, for all pages. */
const readersAt = ({ guard }: Kernel, entitiesOf: (kind: PastKind) => Promise<Outcome<Entities>>): Readers => {
  const rows = new Map<string, ReadonlyMap<string, Cells>>()
  const page: Reads['page'] = async (query) =>
    viewPage(rows.get(query.view)!, query) as unknown as readonly Row<typeof query.view>[] | null
  const { list, first } = openReaders({ page, dueBefore: NOT_ASKED, tally: NOT_ASKED }, guard)
  const ready = async (view: ViewName): Promise<Outcome<null>> => {
    if (!isPastView(view)) throw new Error(`the view ${view} is not known of the past`)
    const known = await entitiesOf(WRITTEN_BY[view])
    if (!known.ok) return known
    if (!rows.has(view)) rows.set(view, rowsIn(known.value, view))
    return done(null)
  }
  return {
    list: async (view, ...rest) => {
      const known = await ready(view)
      return known.ok ? list(view, ...rest) : known
    },
    first: async (view, where) => {
      const known = await ready(view)
      return known.ok ? first(view, where) : known
    },
  }
}

/** `over` builds, from a kernel and its moment, the parts of the control port that answer questions. */
export const createPast = (kernel: Kernel, over: (past: Kernel, at: number) => Past): ((at: number) => Past) => {
  const { guard, journal, region, sharing } = kernel
  const fold = createFold(kernel)
  return (at) => {
    const folds = new Map<string, Promise<Outcome<Entities>>>()
    const entitiesOf = (kind: PastKind): Promise<Outcome<Entities>> => {
      const known = folds.get(kind) ?? guard(fold(kind, at), 'journal')
      folds.set(kind, known)
      return known
    }
    const historyOf = async (key: EntityKey) => done(await journal.history([key], ENTITY_ROWS_MAX))
    const read: Read = async (decider, key) => {
      const history = await guard(historyOf(key), 'journal')
      if (!history.ok) return history
      const folding: Folding = { memories: new Map(), ended: new Set() }
      for (const row of history.value) absorb(folding, row, at)
      if (history.value.length === ENTITY_ROWS_MAX && folding.ended.size === 0) return tooLong
      return done(memoryOf(decider, folding.memories.get(key) ?? blank(key, deciderOf(key)))!)
    }
    const past: Kernel = {
      ...kernel,
      readers: readersAt(kernel, entitiesOf),
      region: { ...region, readCurrent: read, readCached: read },
      // measured values and the state in Placement are not kept for earlier moments
      sharing: { ...sharing, measuredOn: async () => [] },
      placement: null,
    }
    return over(past, at)
  }
}
