/** Invariants of the journal, and of the views and memories that are folded from it. */
import { hash } from 'node:crypto'
import { canonicalJson } from '../wire/canonical.ts'
import type { DeployableEvent } from '../actors/deployable/messages.ts'
import { ENTITIES, remember } from '../actors/entities.ts'
import { kindOf, recallInto } from '../actors/runtime/memory.ts'
import { isMark } from '../actors/placement/marks.ts'
import { recordedPart } from '../actors/recordedPart.ts'
import type { JournalRow } from '../actors/runtime/ports.ts'
import { snapshotSchemaOf } from '../actors/runtime/snapshots.ts'
import { type Row, type ViewName, keyOfRow } from '../actors/runtime/views.ts'
import type { Records, HostTrace } from './evidence.ts'
import { openHeld } from './held.ts'
import { onHost } from './hosts.ts'
import { openBindings } from './usage.ts'
import { type Finding, type History, type Invariant, type Step, at, deployablesIn, inView } from './history.ts'

/**
 * Up to this many commands of an entity are kept in a list that can be compressed. The few entities with more commands
 * get a set.
 */
const FEW = 16
const openCommands = () => {
  const held = openHeld<{ version: number; readonly commands: string[] }>()
  const many = new Map<string, Set<string>>()
  /**
   * Notes a row. Returns the version of the entity's previous row, and whether the entity has carried out this command
   * before.
   */
  return ({ key, version, commandId }: JournalRow): { readonly last: number; readonly again: boolean } => {
    const known = held.get(key) ?? { version: 0, commands: [] }
    const [last, set] = [known.version, many.get(key)]
    const again = set ? set.has(commandId) : known.commands.includes(commandId)
    known.version = version
    if (set) set.add(commandId)
    else if (known.commands.push(commandId) > FEW) many.set(key, new Set(known.commands.splice(0)))
    held.set(key, known)
    return { last, again }
  }
}

const single: Invariant = {
  name: 'S4',
  meaning: 'the rows of an entity are numbered from 1 without a gap, and no command is carried out twice',
  judge: () => {
    const note = openCommands()
    return {
      *step({ rowCount, changes }) {
        const first = rowCount - changes.length + 1
        for (const [index, { row }] of changes.entries()) {
          const { key, version, commandId } = row
          const { last, again } = note(row)
          if (version !== last + 1) yield at(first + index, [key], `${key} has version ${version} after ${last}`)
          if (again) yield at(first + index, [key], `${key} carried out command ${commandId} again`)
        }
      },
    }
  },
}

const answers = (event: DeployableEvent): string | null => {
  if (event.type === 'OrderDone' || event.type === 'OrderFailed') return `${event.slot} ${event.number}`
  return event.type === 'Programmed' || event.type === 'ProgramFailed' ? `itself ${event.number}` : null
}
const openResults = () => {
  const answered = new Set<string>()
  return function* (step: Step): Iterable<Finding> {
    for (const { rowCount, key, events } of deployablesIn(step))
      for (const answer of events.map(answers)) {
        if (answer === null) continue
        if (answered.has(`${key} ${answer}`))
          yield at(rowCount, [key], `${key} recorded a second result of order ${answer}`)
        answered.add(`${key} ${answer}`)
      }
  }
}
function* secondDeeds({ name, steps }: HostTrace): Iterable<Finding> {
  const [acted, over] = [new Set<string>(), new Set<string>()]
  for (const step of steps) {
    if (step.did === 'reported') continue
    if (step.did === 'started') {
      acted.clear()
      continue
    }
    const order = `${step.slot} ${step.number}`
    const action = `${step.did} of ${step.slot} by order ${step.number}`
    if (acted.has(action)) yield onHost(name, step, `${action} twice in one start`)
    if (step.did !== 'noted' && over.has(order)) yield onHost(name, step, `${action} after its result was recorded`)
    if (step.did !== 'noted') acted.add(action)
    else if (step.done) over.add(order)
  }
}
const once: Invariant = {
  name: 'S12',
  meaning:
    'repeating changes nothing: an order has one recorded result, and a host acts on it once a start and never after its result',
  judge: ({ hosts = [] }) => ({
    step: openResults(),
    *end() {
      for (const host of hosts) yield* secondDeeds(host)
    },
  }),
}

const comparable = (view: ViewName, row: object): string =>
  canonicalJson(recordedPart(view, row as Readonly<Record<string, unknown>>))

const foldedRows = (entity: string, state: unknown) => {
  const decider = ENTITIES[kindOf(entity)]
  return decider?.rows(decider.initial, state) ?? []
}
type Folded = { readonly entity: string; readonly id: string; readonly text: string }
/** All rows of these views to which the entities fold. */
function* foldedViews({ entities }: History, names: readonly ViewName[]): Iterable<Folded> {
  for (const [entity, state] of entities())
    for (const { view, key, row } of foldedRows(entity, state))
      if (row && names.includes(view)) yield { entity, id: `${view}/${key}`, text: comparable(view, row) }
}
/** Texts are compared by their digests, since the texts of all rows would need too much memory. */
const digestOf = (...texts: readonly string[]): string => hash('sha1', texts.join(' '), 'base64').slice(0, 20)
/** Snapshots, which are a cache, and ended bindings are judged separately. */
const namesOf = (views: NonNullable<Records['views']>): readonly ViewName[] =>
  (Object.keys(views) as ViewName[]).filter((name) => name !== 'snapshots' && name !== 'usage')

/**
 * Leaves out the marks that a host is due for Placement: they follow from other entities, so no entity folds to them.
 */
function* foldable(view: ViewName, views: NonNullable<Records['views']>): Iterable<Row<ViewName>> {
  for (const row of views[view]!) if (!('entity' in row) || !isMark(row.entity)) yield row
}

/** Whether each view row is one to which an entity folds, and each such row is in its view once. */
const viewsAgree = (history: History, views: NonNullable<Records['views']>): boolean => {
  const digests = new Set<string>()
  for (const { id, text } of foldedViews(history, namesOf(views))) {
    const digest = digestOf(id, text)
    if (digests.has(digest)) return false
    digests.add(digest)
  }
  for (const view of namesOf(views))
    for (const row of foldable(view, views))
      if (!digests.delete(digestOf(`${view}/${keyOfRow(view, row)}`, comparable(view, row)))) return false
  return digests.size === 0
}

type Fold = { readonly entity: string; readonly digest: string }
/** Finds the differences. It needs more memory than `viewsAgree`, so it is called only if there is a difference. */
function* viewsDiffer(history: History, views: NonNullable<Records['views']>): Iterable<Finding> {
  const names = namesOf(views)
  const folds = new Map<string, Fold>()
  for (const { entity, id, text } of foldedViews(history, names)) folds.set(id, { entity, digest: digestOf(text) })
  const foldOf = (id: string, { entity }: Fold): string => {
    const found = foldedRows(entity, history.reached(entity).at(-1)!.state)
    const { view, row } = found.findLast((one) => `${one.view}/${one.key}` === id)!
    return comparable(view, row!)
  }
  for (const view of names)
    for (const row of foldable(view, views)) {
      const key = keyOfRow(view, row)
      const [text, fold] = [comparable(view, row), folds.get(`${view}/${key}`)]
      folds.delete(`${view}/${key}`)
      if (fold?.digest === digestOf(text)) continue
      const is = fold ? foldOf(`${view}/${key}`, fold) : 'absent'
      yield inView(view, key, `${view}/${key} is ${text}, its fold is ${is}`, fold ? [fold.entity] : [])
    }
  for (const [id, fold] of folds) {
    const [view, key] = [id.slice(0, id.indexOf('/')) as ViewName, id.slice(id.indexOf('/') + 1)]
    yield inView(view, key, `${id} is absent, its fold is ${foldOf(id, fold)}`, [fold.entity])
  }
}

/** Returns the rows of each of these entities. */
const rowsOf = (journal: Records['journal'], keys: ReadonlySet<string>): ReadonlyMap<string, readonly JournalRow[]> => {
  const found = new Map<string, JournalRow[]>()
  if (keys.size > 0)
    for (const row of journal) {
      if (!keys.has(row.key)) continue
      const known = found.get(row.key)
      if (known) known.push(row)
      else found.set(row.key, [row])
    }
  return found
}

/** How many snapshots are compared at a time; the rows of their entities are in memory meanwhile. */
const SNAPSHOTS_AT_ONCE = 64
function* portionsOf<Item>(items: Iterable<Item>, size: number): Iterable<readonly Item[]> {
  let portion: Item[] = []
  for (const item of items) {
    if (portion.push(item) < size) continue
    yield portion
    portion = []
  }
  if (portion.length > 0) yield portion
}
function* snapshotsDiffer(journal: Records['journal'], snapshots: Iterable<Row<'snapshots'>>): Iterable<Finding> {
  for (const some of portionsOf(snapshots, SNAPSHOTS_AT_ONCE)) {
    const rows = rowsOf(journal, new Set(some.map(({ entity }) => entity)))
    for (const { entity, version, memory, schema } of some) {
      // another release wrote this snapshot, and no program of this release reads it
      if (schema !== snapshotSchemaOf(entity)) continue
      const own = rows.get(entity) ?? []
      const folded = remember(entity, own)
      const read = recallInto(
        ENTITIES[kindOf(entity)]!,
        { ...folded, version: 0 },
        { snapshot: { version, memory }, rows: own },
      )
      if (canonicalJson(read) !== canonicalJson(folded))
        yield inView('snapshots', entity, `the snapshot of ${entity} at ${version} is not what the journal folds to`, [
          entity,
        ])
    }
  }
}

const replay: Invariant = {
  name: 'S13',
  meaning: 'views, living memories, and snapshots with their tails are what the journal folds to',
  judge: ({ journal, views, memories = [] }) => {
    const bindings = views?.usage ? openBindings() : null
    return {
      step: (step) => (bindings?.note(step), []),
      *end(history) {
        if (history.unreadable.length > 0) return
        if (bindings) yield* bindings.judge(views!.usage!)
        if (views && !viewsAgree(history, views)) yield* viewsDiffer(history, views)
        const rows = rowsOf(journal, new Set(memories.map(({ key }) => key)))
        for (const memory of memories) {
          const folded = remember(memory.key, rows.get(memory.key) ?? [])
          if (canonicalJson(folded) !== canonicalJson(memory))
            yield {
              found: `the memory of ${memory.key} is ${canonicalJson(memory)}, its fold is ${canonicalJson(folded)}`,
              keys: [memory.key],
            }
        }
        yield* snapshotsDiffer(journal, views?.snapshots ?? [])
      },
    }
  },
}

export const journalInvariants: readonly Invariant[] = [single, once, replay]
