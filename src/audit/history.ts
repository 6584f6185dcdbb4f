/**
 * The journal as a sequence of appends, folded as it is read. Memory holds the states of the entities, not the rows.
 * Pure.
 */
import type { ArqUuid, DeployableUuid, DeviceUuid, EntityKey, InstanceUuid } from '../vocabulary/identifiers.ts'
import { type Arq, arq, arqKey } from '../actors/arq/decider.ts'
import type { Decider, Event, Kind } from '../actors/runtime/decider.ts'
import { deployable, deployableKey } from '../actors/deployable/decider.ts'
import type { Deployable } from '../actors/deployable/state.ts'
import { type Device, device, deviceKey } from '../actors/device/decider.ts'
import { ENTITIES } from '../actors/entities.ts'
import { host } from '../actors/host/decider.ts'
import { type Instance, instance, instanceKey } from '../actors/instance/decider.ts'
import { fold, kindOf } from '../actors/runtime/memory.ts'
import { openHeld } from './held.ts'
import type { Need } from './needs.ts'
import type { JournalRow } from '../actors/runtime/ports.ts'
import { profile, profileKey } from '../actors/profile/decider.ts'
import type { ViewName } from '../actors/runtime/views.ts'
import type { Records, JournalCount, Proof } from './evidence.ts'

/** One journal row, and the state of its entity before and after it. */
export type Change = { readonly row: JournalRow; readonly before: unknown; readonly after: unknown }
/** The rows of one append, which share one command id. `rowCount` is the number of rows up to its end. */
export type Step = { readonly rowCount: JournalCount; readonly changes: readonly Change[] }
type Reached<State = unknown> = { readonly rowCount: JournalCount; readonly state: State }
export type History = {
  /** Findings about rows that no decider can read. */
  readonly unreadable: readonly Finding[]
  /** The states of an entity so far; only the last one if no invariant asks for the past of its kind. */
  readonly reached: (key: string) => readonly Reached[]
  /** The current states of all entities, in the order of their first rows. */
  readonly entities: () => Iterable<readonly [key: string, state: unknown]>
}
/** A violation. It names its proof, which is looked up afterwards. */
export type Finding = {
  readonly found: string
  /** The violation is in the append that ends at this row count. */
  readonly rowCount?: JournalCount
  /** Entities whose last row up to `rowCount` is part of the proof. */
  readonly keys?: readonly string[]
  readonly proof?: readonly Proof[]
}
/** The work of one invariant: it judges each append, and the end, and remembers what it needs of earlier appends. */
export type Judge = {
  /** `before`: all entities when the append was decided; `after`: all entities after it. */
  readonly step?: (step: Step, after: World, before: World, history: History) => Iterable<Finding>
  readonly end?: (history: History) => Iterable<Finding>
}
export type Invariant = {
  readonly name: string
  readonly meaning: string
  /** What it needs besides the journal to judge anything. */
  readonly needs?: readonly Need[]
  readonly judge: (evidence: Records) => Judge
}
/** A finding at an append, with the entities that prove it. */
export const at = (rowCount: JournalCount, keys: readonly string[], line: string): Finding => ({
  found: `at ${rowCount}: ${line}`,
  rowCount,
  keys,
})
export const inView = (view: ViewName, key: string, line: string, keys: readonly string[] = []): Finding => ({
  found: `view: ${line}`,
  keys,
  proof: [{ of: 'view', view, key }],
})

const initialOf = (key: EntityKey): unknown => ENTITIES[kindOf(key)]?.initial

const evolved = (row: JournalRow, rowCount: JournalCount, before: unknown, unreadable: Finding[]): unknown => {
  try {
    return fold(ENTITIES[kindOf(row.key)]!, before, row.events, row.at)
  } catch (error) {
    unreadable.push(at(rowCount, [], `${row.key} ${row.version} cannot be folded: ${String(error)}`))
    return before
  }
}

type Rows = Records['journal']
/** The rows of each append, and the number of rows up to its end. */
function* appendsOf(
  journal: Rows,
): Generator<{ readonly rowCount: JournalCount; readonly rows: readonly JournalRow[] }> {
  let rows: JournalRow[] = []
  let rowCount = 0
  for (const row of journal) {
    const same = rows[0]?.commandId === row.commandId && !rows.some(({ key }) => key === row.key)
    if (rows.length > 0 && !same) {
      yield { rowCount, rows }
      rows = []
    }
    rows.push(row)
    rowCount++
  }
  if (rows.length > 0) yield { rowCount, rows }
}

type States = {
  readonly get: (key: string) => unknown
  readonly set: (key: string, state: unknown, rowCount: JournalCount) => unknown
}
/**
 * The appends of the journal in order; `states` receives the states. Rows that cannot be folded are added to
 * `unreadable` and change nothing.
 */
export function* stepsOf(
  journal: Rows,
  unreadable: Finding[] = [],
  states: States = new Map<string, unknown>(),
): Generator<Step> {
  for (const { rowCount, rows } of appendsOf(journal)) {
    const changes = rows.map((row, index): Change => {
      const own = rowCount - rows.length + index + 1
      const before = states.get(row.key) ?? initialOf(row.key)
      const after = evolved(row, own, before, unreadable)
      states.set(row.key, after, own)
      return { row, before, after }
    })
    yield { rowCount, changes }
  }
}

/** The kinds whose past is kept, and when: profiles for S15, other kinds if clients, Nova or topics tell of them. */
const PASTS: Readonly<Record<string, (evidence: Records) => boolean>> = {
  profile: () => true,
  arq: ({ clients, nova, topics }) => Boolean(clients ?? nova ?? topics),
  device: ({ clients, topics }) => Boolean(clients ?? topics),
  host: ({ topics }) => Boolean(topics),
}

type Past<State> = (history: History, id: string, from: JournalCount, to: JournalCount) => readonly State[]
/** All states that the entity had between `from` and `to`. */
const statesOf =
  <State, Name extends string>(of: Kind<State, Name>, keyOf: (id: string) => EntityKey<Name>): Past<State> =>
  ({ reached }, id, from, to) => {
    const all = reached(keyOf(id)) as readonly Reached<State>[]
    const before = all.findLast(({ rowCount }) => rowCount <= from)
    const during = all.filter(({ rowCount }) => rowCount > from && rowCount <= to)
    return [before ? before.state : of.initial, ...during.map(({ state }) => state)]
  }
export const arqStates = statesOf(arq, arqKey)
export const deviceStates = statesOf(device, deviceKey)
export const profileStates = statesOf(profile, profileKey)

/** The states of all entities at one step of `walk`. */
export type World = {
  readonly arq: (uuid: ArqUuid) => Arq
  readonly deployable: (uuid: DeployableUuid) => Deployable
  readonly device: (uuid: DeviceUuid) => Device
  readonly instance: (uuid: InstanceUuid) => Instance
}
/** The entities in the states that `stateOf` returns. */
const worldOf = (stateOf: (key: string) => unknown): World => {
  const get = <State, Name extends string>(of: Kind<State, Name>, key: EntityKey<NoInfer<Name>>) =>
    (stateOf(key) ?? of.initial) as State
  return {
    arq: (uuid) => get(arq, arqKey(uuid)),
    deployable: (uuid) => get(deployable, deployableKey(uuid)),
    device: (uuid) => get(device, deviceKey(uuid)),
    instance: (uuid) => get(instance, instanceKey(uuid)),
  }
}
/** The states that entities have reached; past states only of the kinds for which `PASTS` says so. */
const openReached = (evidence: Records) => {
  const past = new Set(Object.keys(PASTS).filter((kind) => PASTS[kind]!(evidence)))
  const held = openHeld<Reached[]>()
  const last = (all: readonly Reached[] | undefined): unknown => all?.at(-1)?.state
  const set = (key: EntityKey, state: unknown, rowCount: JournalCount): void => {
    const all = past.has(kindOf(key)) ? (held.get(key) ?? []) : []
    all.push({ rowCount, state })
    held.set(key, all)
  }
  const entities = function* () {
    for (const [key, all] of held.entries()) yield [key, last(all)] as const
  }
  const reached = (key: EntityKey): readonly Reached[] => held.get(key) ?? []
  return { states: { get: (key: EntityKey) => last(held.get(key)), set }, reached, entities }
}
/**
 * Calls `visit` for each append, with all entities after it and when it was decided; returns the history at the end.
 */
export const walk = (
  evidence: Records,
  visit: (step: Step, after: World, before: World, history: History) => void,
): History => {
  const { states, reached, entities } = openReached(evidence)
  const unreadable: Finding[] = []
  const history: History = { unreadable, reached, entities }
  let changed: ReadonlyMap<string, Change> = new Map()
  const after = worldOf((key) => changed.get(key)?.after ?? states.get(key))
  const before = worldOf((key) => {
    const change = changed.get(key)
    return change ? change.before : states.get(key)
  })
  for (const step of stepsOf(evidence.journal, unreadable, states)) {
    changed = new Map(step.changes.map((change) => [change.row.key, change]))
    visit(step, after, before, history)
  }
  return history
}

/** A change of an entity of one kind. */
type Of<State, E> = {
  /** The row count at the end of its append. */
  readonly rowCount: JournalCount
  readonly key: string
  readonly row: JournalRow
  readonly events: readonly E[]
  readonly before: State
  readonly after: State
}
const changesOf =
  <State, Command, E extends Event>({ kind }: Decider<State, Command, E>) =>
  ({ rowCount, changes }: Step): readonly Of<State, E>[] =>
    changes
      .filter(({ row }) => kindOf(row.key) === kind)
      .map(({ row, before, after }) => ({
        rowCount,
        key: row.key,
        row,
        events: row.events as readonly E[],
        before: before as State,
        after: after as State,
      }))
export const arqsIn = changesOf(arq)
export const deployablesIn = changesOf(deployable)
export const devicesIn = changesOf(device)
export const instancesIn = changesOf(instance)
export const hostsIn = changesOf(host)

/** All deployables in their last states. */
export function* lastDeployables({ entities }: History): Iterable<Deployable> {
  for (const [key, state] of entities()) if (kindOf(key) === 'deployable') yield state as Deployable
}

/** An ARQ has a handle in these states, and in no other. */
export const holds = ({ status }: Arq): boolean => status === 'BindStarted' || status === 'Bound'
