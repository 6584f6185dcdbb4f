/**
 * Compares data that is recorded twice: view rows with the fold of their journal, a few rows of each view at a time,
 * and handles with the ARQs that hold them. Differences are counted and logged, never repaired silently.
 *
 * CHECKS-1 one process checks at a time, the one that holds the lease `checks`; each round continues where the last one
 *    ended;
 * CHECKS-2 a view row is written in the same append as its journal row, so it is judged only if the last row of the
 *    entity's journal is the same before and after the view row was read.
 */
import type { EntityKey } from '../../vocabulary/identifiers.ts'
import { canonicalJson } from '../../wire/canonical.ts'
import { arq, arqKey } from '../../actors/arq/decider.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import { deviceKey } from '../../actors/device/decider.ts'
import { deciderOf } from '../../actors/entities.ts'
import { hostKey } from '../../actors/host/decider.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { type Memory, blank, recallInto } from '../../actors/runtime/memory.ts'
import type { PageQuery, Reads } from '../../actors/runtime/ports.ts'
import { placementKey } from '../../actors/placement/decider.ts'
import { isMark } from '../../actors/placement/marks.ts'
import { profileKey } from '../../actors/profile/decider.ts'
import { recordedPart } from '../../actors/recordedPart.ts'
import { VIEWS, type ViewName, keyOfRow } from '../../actors/runtime/views.ts'

type Cells = Readonly<Record<string, unknown>>
/** The entity whose journal a row is folded from. Snapshots are not checked: they are caches of a state, not views. */
const OWNERS: Partial<Readonly<Record<ViewName, (row: Cells) => EntityKey>>> = {
  profiles: (row) => profileKey(row['uuid'] as string),
  arqs: (row) => arqKey(row['uuid'] as string),
  devices: (row) => deviceKey(row['uuid'] as string),
  deployables: (row) => deployableKey(row['uuid'] as string),
  attributes: (row) => deployableKey(row['deployable_uuid'] as string),
  handles: (row) => deployableKey(row['deployable_uuid'] as string),
  pending_orders: (row) => deployableKey(row['deployable_uuid'] as string),
  due: (row) => row['entity'] as string,
  hosts: (row) => hostKey(row['name'] as string),
  ignored_drift: (row) => placementKey(row['hostname'] as string),
}
const hasJournal = (row: Cells): boolean => typeof row['entity'] !== 'string' || !isMark(row['entity'])
const SAMPLED = Object.keys(OWNERS) as readonly ViewName[]
const SAMPLE = 10
const HELD = 50
/** The most rows of a view that are compared for one entity. */
const ROWS_MAX = 1000
const LEASE = 'checks'

/** The kind of due work is not compared: a release before 0.3.0 that runs beside this one records other kinds. */
const compared = (view: ViewName, row: Cells): string =>
  canonicalJson({ ...recordedPart(view, row), ...(view === 'due' && { kind: '' }) })

export type Difference = {
  readonly view: ViewName
  readonly row: string
  readonly what: 'missing' | 'spare' | 'differs'
}
/** Pure: the differences between the stored rows and the folded rows. */
export const differencesOf = (
  folded: ReadonlyMap<ViewName, ReadonlyMap<string, Cells>>,
  found: ReadonlyMap<ViewName, ReadonlyMap<string, Cells>>,
): readonly Difference[] =>
  [...new Set([...folded.keys(), ...found.keys()])].flatMap((view) => {
    const [wanted, there] = [folded.get(view), found.get(view)]
    return [...new Set([...(wanted?.keys() ?? []), ...(there?.keys() ?? [])])].flatMap((row): Difference[] => {
      const [made, is] = [wanted?.get(row), there?.get(row)]
      if (made === undefined) return [{ view, row, what: 'spare' }]
      if (is === undefined) return [{ view, row, what: 'missing' }]
      return compared(view, made) === compared(view, is) ? [] : [{ view, row, what: 'differs' }]
    })
  })

const rowsOf = async (reads: Reads, view: ViewName, where: Cells, limit: number, after?: string) => {
  const { key } = VIEWS[view]
  const place = after === undefined ? {} : { after: { value: after, key: after } }
  const query = { view, where, sort: key, limit, ...place } as unknown as PageQuery<ViewName>
  return ((await reads.page(query)) ?? []) as readonly Cells[]
}
const byKey = (view: ViewName, rows: readonly Cells[]): ReadonlyMap<string, Cells> =>
  new Map(rows.map((row) => [keyOfRow(view, row), row]))

const foldOf = ({ key, state }: Memory): ReadonlyMap<ViewName, ReadonlyMap<string, Cells>> => {
  const decider = deciderOf(key)
  const rows = decider.rows(decider.initial, state).filter(({ view, row }) => row !== null && OWNERS[view])
  const views = Map.groupBy(rows, ({ view }) => view)
  return new Map(
    [...views].map(([view, changes]) => [
      view,
      byKey(
        view,
        changes.map(({ row }) => row as Cells),
      ),
    ]),
  )
}

/** Pure: by view, the keys of the rows to read: the folded rows, and the sampled rows that name this entity. */
export const rowsToRead = (
  folded: ReadonlyMap<ViewName, ReadonlyMap<string, Cells>>,
  sampled: readonly (readonly [ViewName, string])[],
): ReadonlyMap<ViewName, readonly string[]> => {
  const named = [
    ...[...folded].flatMap(([view, rows]) => [...rows.keys()].map((row) => [view, row] as const)),
    ...sampled,
  ]
  const views = Map.groupBy(named, ([view]) => view)
  return new Map([...views].map(([view, rows]) => [view, [...new Set(rows.map(([, row]) => row))]]))
}
const foundFor = async (reads: Reads, wanted: ReturnType<typeof rowsToRead>) => {
  const read = async ([view, keys]: readonly [ViewName, readonly string[]]) =>
    [view, byKey(view, await rowsOf(reads, view, { [VIEWS[view].key]: keys }, ROWS_MAX))] as const
  return new Map(await Promise.all([...wanted].map(read)))
}

const checkEntity = async (
  { journal, reads, counts, clock, log }: Kernel,
  key: EntityKey,
  sampled: readonly (readonly [ViewName, string])[],
): Promise<void> => {
  const decider = deciderOf(key)
  const recalled = await journal.recall([{ key, after: 0 }])
  const memory = recallInto(decider, blank(key, decider), recalled.get(key))
  const folded = foldOf(memory)
  if ([...folded.values()].some(({ size }) => size + sampled.length > ROWS_MAX)) return
  const found = await foundFor(reads, rowsToRead(folded, sampled))
  const tail = (await journal.recall([{ key, after: memory.version }])).get(key)
  if (tail && (tail.rows.length > 0 || tail.snapshot)) return
  counts.viewsChecked++
  const differences = differencesOf(folded, found)
  if (differences.length === 0) return
  counts.viewsDiffer++
  counts.lastAt.viewsDiffer = clock.now()
  log.error({ key, version: memory.version, differences: differences.slice(0, 5) }, 'views.differ')
}

/**
 * Reports a handle that names an ARQ as holder which does not hold it, unless its deployable changed while both were
 * read.
 */
const checkHandle = async ({ region, counts, clock, log }: Kernel, row: Cells): Promise<void> => {
  const key = deployableKey(row['deployable_uuid'] as string)
  const before = await region.readCurrent(deployable, key)
  if (!before.ok) return
  const handle = before.value.state.handles[row['uuid'] as string]
  if (handle?.state !== 'held') return
  const holder = handle.arq === null ? null : await region.readCurrent(arq, arqKey(handle.arq))
  if (holder && !holder.ok) return
  const after = await region.readCurrent(deployable, key)
  const unchanged = after.ok && after.value.version === before.value.version
  if (!unchanged || holder?.value.state.bond?.handle.uuid === handle.uuid) return
  counts.orphans++
  counts.lastAt.orphans = clock.now()
  log.error({ handle: handle.uuid, deployable: key, arq: handle.arq }, 'handle.orphan')
}

export type ViewChecks = {
  /** Runs a check when one is due and no other process runs one. */
  readonly now: () => Promise<void>
}
export const createViewChecks = (kernel: Kernel): ViewChecks => {
  const { clock, reads, sharing, ids, options } = kernel
  const holder = ids.uuid()
  const cursors = new Map<string, string>()
  let nextAt = clock.monotonic() + options.checkEveryMs
  /** The next rows of the view; after the last row, the first again. */
  const next = async (name: string, view: ViewName, where: Cells, limit: number): Promise<readonly Cells[]> => {
    const rows = await rowsOf(reads, view, where, limit, cursors.get(name))
    const last = rows.length < limit ? undefined : rows.at(-1)
    if (last) cursors.set(name, keyOfRow(view, last))
    else cursors.delete(name)
    return rows
  }
  const checkViews = async () => {
    const sampled = await Promise.all(
      SAMPLED.map(async (view) =>
        (await next(view, view, {}, SAMPLE))
          .filter(hasJournal)
          .map((row) => [OWNERS[view]!(row), view, keyOfRow(view, row)] as const),
      ),
    )
    for (const [key, rows] of Map.groupBy(sampled.flat(), ([owner]) => owner))
      await checkEntity(
        kernel,
        key,
        rows.map(([, view, row]) => [view, row]),
      )
  }
  return {
    now: async () => {
      if (options.checkEveryMs === 0 || clock.monotonic() < nextAt) return
      nextAt = clock.monotonic() + options.checkEveryMs
      if ((await sharing.acquire(LEASE, holder, options.checkEveryMs * 2)) === null) return
      await checkViews()
      for (const row of await next('held', 'handles', { state: 'held' }, HELD)) await checkHandle(kernel, row)
    },
  }
}
