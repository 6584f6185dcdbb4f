/** Invariants of the journal, and of the views and memories that are folded from it. */
import { canonicalJson } from '../wire/canonical.ts'
import type { DeployableEvent } from '../actors/deployable/messages.ts'
import { ENTITIES, remember } from '../actors/entities.ts'
import { kindOf, recallInto } from '../actors/runtime/memory.ts'
import type { JournalRow } from '../actors/runtime/ports.ts'
import { type ViewName, keyOfRow } from '../actors/runtime/views.ts'
import type { Evidence, HostTrace } from './evidence.ts'
import { onHost } from './hosts.ts'
import { type Finding, type History, type Invariant, at, deployablesIn, inView } from './history.ts'

const byKey = (journal: readonly JournalRow[]): ReadonlyMap<string, readonly JournalRow[]> =>
  Map.groupBy(journal, ({ key }) => key)

const single: Invariant = {
  name: 'S4',
  meaning: 'the rows of an entity are numbered from 1 without a gap, and no command is carried out twice',
  *check(_, { journal }) {
    const [versions, commands] = [new Map<string, number>(), new Set<string>()]
    for (const [index, { key, version, commandId }] of journal.entries()) {
      const expected = (versions.get(key) ?? 0) + 1
      if (version !== expected) yield at(index + 1, [key], `${key} has version ${version} after ${expected - 1}`)
      if (commands.has(`${key} ${commandId}`))
        yield at(index + 1, [key], `${key} carried out command ${commandId} again`)
      versions.set(key, version)
      commands.add(`${key} ${commandId}`)
    }
  },
}

const answers = (event: DeployableEvent): string | null => {
  if (event.type === 'OrderDone' || event.type === 'OrderFailed') return `${event.slot} ${event.number}`
  return event.type === 'Programmed' || event.type === 'ProgramFailed' ? `itself ${event.number}` : null
}
function* secondResults({ steps }: History): Iterable<Finding> {
  const answered = new Set<string>()
  for (const { place, key, events } of steps.flatMap(deployablesIn))
    for (const answer of events.map(answers)) {
      if (answer === null) continue
      if (answered.has(`${key} ${answer}`)) yield at(place, [key], `${key} recorded a second result of order ${answer}`)
      answered.add(`${key} ${answer}`)
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
  *check(history, { hosts = [] }) {
    yield* secondResults(history)
    for (const host of hosts) yield* secondDeeds(host)
  },
}

/** `sent_at` is left out: the sender of an order sets it directly, so it cannot be folded from the journal. */
const comparable = (row: object): string => canonicalJson({ ...row, sent_at: undefined })

/** Snapshots are left out here; they are a cache, and are checked separately. */
function* viewsDiffer({ reached }: History, views: NonNullable<Evidence['views']>): Iterable<Finding> {
  const names: readonly ViewName[] = (Object.keys(views) as ViewName[]).filter((name) => name !== 'snapshots')
  const live = new Map<string, { readonly view: ViewName; readonly key: string; readonly row: string }>()
  for (const view of names)
    for (const row of views[view]!) {
      const key = keyOfRow(view, row)
      live.set(`${view}/${key}`, { view, key, row: comparable(row) })
    }
  for (const [entity, states] of reached) {
    const decider = ENTITIES[kindOf(entity)]
    for (const { view, key, row } of decider?.rows(decider.initial, states.at(-1)!.state) ?? []) {
      if (!row || !names.includes(view)) continue
      const [folded, found] = [comparable(row), live.get(`${view}/${key}`)?.row]
      live.delete(`${view}/${key}`)
      if (folded !== found)
        yield inView(view, key, `${view}/${key} is ${found ?? 'absent'}, its fold is ${folded}`, [entity])
    }
  }
  for (const { view, key, row } of live.values())
    yield inView(view, key, `${view}/${key} is ${row}, its fold is absent`)
}

const replay: Invariant = {
  name: 'S13',
  meaning: 'views, living memories, and snapshots with their tails are what the journal folds to',
  *check(history, { journal, views, memories = [] }) {
    if (history.unreadable.length > 0) return
    if (views) yield* viewsDiffer(history, views)
    const rows = byKey(journal)
    for (const memory of memories) {
      const folded = remember(memory.key, rows.get(memory.key) ?? [])
      if (canonicalJson(folded) !== canonicalJson(memory))
        yield {
          found: `the memory of ${memory.key} is ${canonicalJson(memory)}, its fold is ${canonicalJson(folded)}`,
          keys: [memory.key],
        }
    }
    for (const { entity, version, memory } of views?.snapshots ?? []) {
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
  },
}

export const journalInvariants: readonly Invariant[] = [single, once, replay]
