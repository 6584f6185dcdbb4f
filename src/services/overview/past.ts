/**
 * The answers that the service would have given at an earlier moment, folded from the journal by the same deciders.
 *
 * PAST-1 an entity is in the state after its last row decided at or before that moment, by the clock of the control
 *    that decided the row;
 * PAST-2 a caller sees what this caller was allowed to see at that moment: the same rules are applied to the rows of
 *    that moment;
 * PAST-3 nothing is guessed: if the journal is too long to be folded, or some of its rows are in the archive, the
 *    question is refused;
 * PAST-4 of what belongs to projects, a project that asks has only its own folded.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { done, type Outcome, refuse } from '../../vocabulary/fault.ts'
import type { EntityKey, ProjectId } from '../../vocabulary/identifiers.ts'
import { type Asker, NOBODY_WAITS, SHARES, createPlaces } from '../../vocabulary/shares.ts'
import { createTurns } from '../../vocabulary/waiting.ts'
import { projectGiven } from '../../actors/eventAudience.ts'
import type { Control, Past } from '../../actors/control.ts'
import { arq } from '../../actors/arq/decider.ts'
import { deployable } from '../../actors/deployable/decider.ts'
import { device } from '../../actors/device/decider.ts'
import { deciderOf } from '../../actors/entities.ts'
import { host } from '../../actors/host/decider.ts'
import { profile } from '../../actors/profile/decider.ts'
import { blank, type Memory, memoryOf, recallInto } from '../../actors/runtime/memory.ts'
import type { JournalRow, PageCursor, Reads } from '../../actors/runtime/ports.ts'
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
const noRows = (): Folding => ({ memories: new Map(), ended: new Set() })

/** What is asked for. `project` null: for the entities of all projects, or of none. */
type Asked = {
  readonly kind: PastKind
  readonly at: number
  readonly project: ProjectId | null
  /** Gives other work a turn when it is due; true: nobody waits for the answer any more. */
  readonly isOver: () => Promise<boolean>
}
/**
 * Whether a row is the first that has its entity belong to the project (PAST-4). Later rows are absorbed because the
 * entity is known then.
 */
const takesIn = ({ project }: Asked, { events }: JournalRow): boolean =>
  project === null || events.some((event) => projectGiven(event) === project)

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
  async ({ kind, at, project, isOver }: Asked, folding: Folding): Promise<Outcome<null>> => {
    const view = MAIN_VIEW[kind]
    const present: EntityKey[] = []
    const where: object = project === null ? {} : { project_id: project }
    for (let after: PageCursor | undefined; ;) {
      const listed = await readers.list(view, where, { limit: ROWS_AT_ONCE, ...(after && { after }) })
      if (!listed.ok) return listed
      for (const row of listed.value.items) present.push(`${kind}/${keyOfRow(view, row)}`)
      if (await isOver()) return NOBODY_WAITS
      if (listed.value.next === null) break
      after = listed.value.next
    }
    const keys = [...new Set([...folding.memories.keys(), ...present])].filter((key) => !folding.ended.has(key))
    for (let from = 0; from < keys.length; from += ROWS_AT_ONCE) {
      const some = keys.slice(from, from + ROWS_AT_ONCE)
      const wishes = some.map((key) => ({ key, after: folding.memories.get(key)?.version ?? 0 }))
      for (const [key, { snapshot, rows, ...more }] of await journal.recall(wishes)) {
        const isWhole = snapshot !== null || more.void === true
        if (isWhole) folding.memories.delete(key)
        for (const row of isWhole ? await journal.history([key], ENTITY_ROWS_MAX) : rows) absorb(folding, row, at)
        if (await isOver()) return NOBODY_WAITS
      }
    }
    return done(null)
  }

/** The states of all entities of a kind at that moment. */
const createFold = (stored: Stored) => {
  const { journal, landmarks } = stored
  const addTail = createTail(stored)
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
  /** An entity that came to the project after its first row is read from its own rows. */
  const absorbOwn = async (asked: Asked, folding: Folding, row: JournalRow): Promise<void> => {
    const { memories, ended } = folding
    if (memories.has(row.key) || ended.has(row.key)) return absorb(folding, row, asked.at)
    if (!takesIn(asked, row)) return
    const rows = row.version === 1 ? [row] : await journal.history([row.key], ENTITY_ROWS_MAX)
    for (const each of rows) if (each.version <= row.version) absorb(folding, each, asked.at)
  }
  const folded = async (asked: Asked): Promise<Outcome<Entities>> => {
    const folding = noRows()
    const prefix = `${asked.kind}/`
    let after = ''
    for (let count = 0; count <= JOURNAL_ROWS_MAX; count += ROWS_AT_ONCE) {
      const rows = await journal.feed(after, ROWS_AT_ONCE)
      for (const row of rows) if (row.key.startsWith(prefix)) await absorbOwn(asked, folding, row)
      if (rows.length > 0 && rows.every((row) => row.at > asked.at + SKEW_MS)) return done(folding.memories)
      if (rows.length < ROWS_AT_ONCE) {
        const tail = await addTail(asked, folding)
        return tail.ok ? done(folding.memories) : tail
      }
      after = rows.at(-1)!.position
      if (await asked.isOver()) return NOBODY_WAITS
    }
    return tooLong
  }
  return async (asked: Asked): Promise<Outcome<Entities>> => (await archived(asked.kind, asked.at)) ?? folded(asked)
}

const rowsIn = async (
  entities: Entities,
  view: PastView,
  isOver: Asked['isOver'],
): Promise<Outcome<ReadonlyMap<string, Cells>>> => {
  const rows = new Map<string, Cells>()
  for (const { key, state } of entities.values()) {
    const decider = deciderOf(key)
    for (const change of decider.rows(decider.initial, state))
      if (change.view === view && change.row !== null)
        rows.set(change.key, cellsOf(view, JSON.parse(JSON.stringify(change.row)) as object))
    if (await isOver()) return NOBODY_WAITS
  }
  return done(rows)
}

const NOT_ASKED = () => Promise.reject(new Unreadable('this is not known of the past', { permanent: true }))

type RowsOf = (view: PastView, project: ProjectId | null) => Promise<Outcome<ReadonlyMap<string, Cells>>>

/** The project to which these conditions restrict the rows of the view; null: none, or of no projects. */
const projectIn = (
  view: ViewName,
  ...conditions: readonly ({ readonly project_id?: unknown } | undefined)[]
): ProjectId | null => {
  const named = conditions.flatMap((where) => where?.project_id ?? [])
  return view === 'arqs' && typeof named[0] === 'string' ? named[0] : null
}

/** The readers of the views at that moment. `rowsOf` gives all rows of a view, or those of one project. */
const readersAt = ({ guard }: Kernel, rowsOf: RowsOf): Readers => {
  const readersOf = async (view: ViewName, project: ProjectId | null): Promise<Outcome<Readers>> => {
    if (!isPastView(view)) throw new Error(`the view ${view} is not known of the past`)
    const rows = await rowsOf(view, project)
    if (!rows.ok) return rows
    const page: Reads['page'] = async (query) => {
      await turn()
      return viewPage(rows.value, query) as unknown as readonly Row<typeof query.view>[] | null
    }
    return done(openReaders({ page, dueBefore: NOT_ASKED, tally: NOT_ASKED }, guard))
  }
  return {
    list: async (view, where, page, visible, keep) => {
      const readers = await readersOf(view, projectIn(view, visible, where))
      return readers.ok ? readers.value.list(view, where, page, visible, keep) : readers
    },
    first: async (view, where) => {
      const readers = await readersOf(view, projectIn(view, where))
      return readers.ok ? readers.value.first(view, where) : readers
    },
  }
}

/** `over` builds, from a kernel and its moment, the parts of the control port that answer questions. */
export const createPast = (kernel: Kernel, over: (past: Kernel, at: number) => Past): Control['asOf'] => {
  const { guard, journal, region, sharing, clock } = kernel
  const fold = createFold(kernel)
  const { inTurn } = createPlaces(SHARES.pastLists)
  return (at, by) => {
    const turns = createTurns(clock)
    const folds = new Map<string, Promise<Outcome<Entities>>>()
    const views = new Map<string, ReturnType<RowsOf>>()
    const isOver = async (): Promise<boolean> => {
      await turns()
      return by?.isOver?.() ?? false
    }
    const rowsNow = async (view: PastView, project: ProjectId | null): ReturnType<RowsOf> => {
      const kind = WRITTEN_BY[view]
      const name = JSON.stringify([kind, project])
      const known = folds.get(name) ?? fold({ kind, at, project, isOver })
      folds.set(name, known)
      const entities = await known
      return entities.ok ? rowsIn(entities.value, view, isOver) : entities
    }
    const rowsOf: RowsOf = (view, project) => {
      const name = JSON.stringify([view, project])
      const asker: Asker = by ?? { projectId: project ?? '', isAdmin: project === null }
      const known =
        views.get(name) ??
        guard(
          inTurn(asker, () => rowsNow(view, project)),
          'journal',
        )
      views.set(name, known)
      return known
    }
    const historyOf = async (key: EntityKey) => done(await journal.history([key], ENTITY_ROWS_MAX))
    const read: Read = async (decider, key) => {
      const history = await guard(historyOf(key), 'journal')
      if (!history.ok) return history
      const folding = noRows()
      for (const row of history.value) absorb(folding, row, at)
      if (history.value.length === ENTITY_ROWS_MAX && folding.ended.size === 0) return tooLong
      return done(memoryOf(decider, folding.memories.get(key) ?? blank(key, deciderOf(key)))!)
    }
    const past: Kernel = {
      ...kernel,
      readers: readersAt(kernel, rowsOf),
      region: { ...region, readCurrent: read, readCached: read },
      // measured values and the state in Placement are not kept for earlier moments
      sharing: { ...sharing, measuredOn: async () => [] },
      placement: null,
    }
    return over(past, at)
  }
}
