/** The journal itself, and everything that is folded from it. */
import { canonicalJson } from '../../wire/canonical.ts'
import type { DeployableEvent } from '../deployable/messages.ts'
import { ENTITIES, rebuild, remember } from '../entities.ts'
import { kindOf, recallInto } from '../memory.ts'
import type { JournalRow } from '../ports.ts'
import { type ViewName, VIEWS } from '../views.ts'
import type { Evidence, HostTrace } from './evidence.ts'
import { type History, type Invariant, deployablesIn } from './history.ts'

const byKey = (journal: readonly JournalRow[]): ReadonlyMap<string, readonly JournalRow[]> =>
  Map.groupBy(journal, ({ key }) => key)

const single: Invariant = {
  name: 'S4',
  meaning: 'the rows of an entity are numbered from 1 without a gap, and no command is carried out twice',
  *check(_, { journal }) {
    const [versions, commands] = [new Map<string, number>(), new Set<string>()]
    for (const [at, { key, version, commandId }] of journal.entries()) {
      const expected = (versions.get(key) ?? 0) + 1
      if (version !== expected) yield `row ${at + 1}: ${key} has version ${version} after ${expected - 1}`
      if (commands.has(`${key} ${commandId}`)) yield `row ${at + 1}: ${key} carried out command ${commandId} again`
      versions.set(key, version)
      commands.add(`${key} ${commandId}`)
    }
  },
}

const answers = (event: DeployableEvent): string | null => {
  if (event.type === 'OrderDone' || event.type === 'OrderFailed') return `${event.slot} ${event.number}`
  return event.type === 'Programmed' || event.type === 'ProgramFailed' ? `itself ${event.number}` : null
}
function* secondResults({ steps }: History): Iterable<string> {
  const answered = new Set<string>()
  for (const { place, key, events } of steps.flatMap(deployablesIn))
    for (const answer of events.map(answers)) {
      if (answer === null) continue
      if (answered.has(`${key} ${answer}`)) yield `at ${place}: ${key} recorded a second result of order ${answer}`
      answered.add(`${key} ${answer}`)
    }
}
function* secondDeeds({ name, steps }: HostTrace): Iterable<string> {
  const [acted, over] = [new Set<string>(), new Set<string>()]
  for (const step of steps) {
    if (step.did === 'told') continue
    if (step.did === 'started') {
      acted.clear()
      continue
    }
    const order = `${step.slot} ${step.number}`
    const deed = `${step.did} of ${step.slot} by order ${step.number}`
    if (step.did !== 'noted' && acted.has(deed)) yield `host ${name}: ${deed} twice in one start`
    if (step.did !== 'noted' && over.has(order)) yield `host ${name}: ${deed} after its result was recorded`
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

/** When an order was sent last is noted beside the fold, by whoever sends it. */
const comparable = (row: object): string => canonicalJson({ ...row, sent_at: undefined })

function* viewsDiffer(
  rows: ReadonlyMap<string, readonly JournalRow[]>,
  views: NonNullable<Evidence['views']>,
): Iterable<string> {
  const folded = new Map<string, string>()
  for (const [key, own] of rows)
    for (const change of rebuild(key, own)) {
      const id = `${change.view}/${change.key}`
      if (change.row) folded.set(id, comparable(change.row))
      else folded.delete(id)
    }
  const names = (Object.keys(views) as ViewName[]).filter((name) => name !== 'snapshots')
  const live = new Map<string, string>()
  for (const name of names)
    for (const row of views[name]!)
      live.set(`${name}/${String((row as Record<string, unknown>)[VIEWS[name].key])}`, comparable(row))
  for (const id of new Set([...folded.keys(), ...live.keys()]))
    if (names.some((name) => id.startsWith(`${name}/`)) && folded.get(id) !== live.get(id))
      yield `view ${id} is ${live.get(id) ?? 'absent'}, its fold is ${folded.get(id) ?? 'absent'}`
}

const replay: Invariant = {
  name: 'S13',
  meaning: 'views, living memories, and snapshots with their tails are what the journal folds to',
  *check(history, { journal, views, memories = [] }) {
    if (history.unreadable.length > 0) return
    const rows = new Map([...byKey(journal)].filter(([key]) => ENTITIES[kindOf(key)]))
    if (views) yield* viewsDiffer(rows, views)
    for (const memory of memories) {
      const folded = remember(memory.key, rows.get(memory.key) ?? [])
      if (canonicalJson(folded) !== canonicalJson(memory))
        yield `the memory of ${memory.key} is ${canonicalJson(memory)}, its fold is ${canonicalJson(folded)}`
    }
    for (const { entity, version, memory } of views?.snapshots ?? []) {
      const own = rows.get(entity) ?? []
      const folded = remember(entity, own)
      const tail = own.filter((row) => row.version > version)
      const read = recallInto(
        ENTITIES[kindOf(entity)]!,
        { ...folded, version: 0 },
        { snapshot: { version, memory }, rows: tail },
      )
      if (canonicalJson(read) !== canonicalJson(folded))
        yield `the snapshot of ${entity} at ${version} is not what the journal folds to`
    }
  },
}

export const journalInvariants: readonly Invariant[] = [single, once, replay]
