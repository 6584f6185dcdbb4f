/** Invariants of the journal, and of the views and memories that are folded from it. */
import { hash } from 'node:crypto'
import { canonicalJson } from '../wire/canonical.ts'
import type { DeployableEvent } from '../actors/deployable/messages.ts'
import { ENTITIES, remember } from '../actors/entities.ts'
import { kindOf, recallInto } from '../actors/runtime/memory.ts'
import type { JournalRow } from '../actors/runtime/ports.ts'
import { type Row, type ViewName, keyOfRow } from '../actors/runtime/views.ts'
import type { Records, HostTrace } from './evidence.ts'
import { onHost } from './hosts.ts'
import { type Finding, type History, type Invariant, type Step, at, deployablesIn, inView } from './history.ts'

/** Most entities have few rows: a set for each of them would be most of what an audit holds. */
type Commands = string[] | Set<string>
const FEW = 16
const isAmong = (commands: Commands, id: string): boolean =>
  Array.isArray(commands) ? commands.includes(id) : commands.has(id)
const withCommand = (commands: Commands, id: string): Commands => {
  if (!Array.isArray(commands)) return commands.add(id)
  commands.push(id)
  return commands.length > FEW ? new Set(commands) : commands
}

const single: Invariant = {
  name: 'S4',
  meaning: 'the rows of an entity are numbered from 1 without a gap, and no command is carried out twice',
  judge: () => {
    const seen = new Map<string, { version: number; commands: Commands }>()
    return {
      *step({ place, changes }) {
        const first = place - changes.length + 1
        for (const [index, { row }] of changes.entries()) {
          const { key, version, commandId } = row
          const known = seen.get(key) ?? { version: 0, commands: [] }
          seen.set(key, known)
          if (version !== known.version + 1)
            yield at(first + index, [key], `${key} has version ${version} after ${known.version}`)
          if (isAmong(known.commands, commandId))
            yield at(first + index, [key], `${key} carried out command ${commandId} again`)
          known.version = version
          known.commands = withCommand(known.commands, commandId)
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
    for (const { place, key, events } of deployablesIn(step))
      for (const answer of events.map(answers)) {
        if (answer === null) continue
        if (answered.has(`${key} ${answer}`))
          yield at(place, [key], `${key} recorded a second result of order ${answer}`)
        answered.add(`${key} ${answer}`)
      }
  }
}
function* secondDeeds({ name, steps }: HostTrace): Iterable<Finding> {
  const [acted, over] = [new Set<string>(), new Set<string>()]
  for (const step of steps) {
    if (step.did === 'told') continue
    if (step.did === 'started') {
      acted.clear()
      continue
    }
    const order = `${step.slot} ${step.number}`
    const deed = `${step.did} of ${step.slot} by order ${step.number}`
    if (acted.has(deed)) yield onHost(name, step, `${deed} twice in one start`)
    if (step.did !== 'noted' && over.has(order)) yield onHost(name, step, `${deed} after its result was recorded`)
    if (step.did !== 'noted') acted.add(deed)
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

/** `sent_at` is left out: the sender of an order sets it directly, so it cannot be folded from the journal. */
const comparable = (row: object): string => canonicalJson({ ...row, sent_at: undefined })

type Fold = { readonly entity: string; readonly digest: string }
/** Texts are compared by their digest, since those of all rows together are too large to be held. */
const digestOf = (text: string): string => hash('sha1', text, 'base64')

const foldedRows = (entity: string, state: unknown) => {
  const decider = ENTITIES[kindOf(entity)]
  return decider?.rows(decider.initial, state) ?? []
}
/** Snapshots are left out here; they are a cache, and are checked separately. */
function* viewsDiffer({ reached }: History, views: NonNullable<Records['views']>): Iterable<Finding> {
  const names: readonly ViewName[] = (Object.keys(views) as ViewName[]).filter((name) => name !== 'snapshots')
  const folds = new Map<string, Fold>()
  for (const [entity, states] of reached)
    for (const { view, key, row } of foldedRows(entity, states.at(-1)!.state))
      if (row && names.includes(view)) folds.set(`${view}/${key}`, { entity, digest: digestOf(comparable(row)) })
  const foldOf = (id: string, { entity }: Fold): string => {
    const found = foldedRows(entity, reached.get(entity)!.at(-1)!.state)
    const { row } = found.findLast((one) => `${one.view}/${one.key}` === id)!
    return comparable(row!)
  }
  for (const view of names)
    for (const row of views[view]!) {
      const key = keyOfRow(view, row)
      const [text, fold] = [comparable(row), folds.get(`${view}/${key}`)]
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

/** The rows of each of these entities. */
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

/** Snapshots are compared so many at a time: the rows of their entities are held meanwhile. */
const SNAPSHOTS_AT_ONCE = 64
function* snapshotsDiffer(journal: Records['journal'], snapshots: readonly Row<'snapshots'>[]): Iterable<Finding> {
  for (let from = 0; from < snapshots.length; from += SNAPSHOTS_AT_ONCE) {
    const some = snapshots.slice(from, from + SNAPSHOTS_AT_ONCE)
    const rows = rowsOf(journal, new Set(some.map(({ entity }) => entity)))
    for (const { entity, version, memory } of some) {
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
  judge: ({ journal, views, memories = [] }) => ({
    *end(history) {
      if (history.unreadable.length > 0) return
      if (views) yield* viewsDiffer(history, views)
      const rows = rowsOf(journal, new Set(memories.map(({ key }) => key)))
      for (const memory of memories) {
        const folded = remember(memory.key, rows.get(memory.key) ?? [])
        if (canonicalJson(folded) !== canonicalJson(memory))
          yield {
            found: `the memory of ${memory.key} is ${canonicalJson(memory)}, its fold is ${canonicalJson(folded)}`,
            keys: [memory.key],
          }
      }
      yield* snapshotsDiffer(journal, [...(views?.snapshots ?? [])])
    },
  }),
}

export const journalInvariants: readonly Invariant[] = [single, once, replay]
