/** Collects the decisions of several entities; nothing is written until the draft becomes one append. Pure. */
import type { EntityKey } from '../../vocabulary/identifiers.ts'
import type { Fault } from '../../vocabulary/fault.ts'
import type { Event, Kind } from './decider.ts'
import { type AnyDecider, type Loan, type Memory, fold, freeze, lastRow } from './memory.ts'
import type { Append, Cause, JournalRow } from './ports.ts'
import { snapshotSchemaOf } from './snapshots.ts'
import { type ViewChange, put } from './views.ts'

/** Recovery reads at most this many rows after the last snapshot of an entity. */
const SNAPSHOT_EVERY = 256

/**
 * Thrown inside a plan by `Draft.decide` when an entity refuses; `commit` turns it into the refusal of the whole work.
 */
export class Refusal {
  readonly fault: Fault
  constructor(fault: Fault) {
    this.fault = fault
  }
}

/** A plan returns this if other entities than the lent ones must take part; its decisions are dropped. */
export const MOVED = Symbol('moved')

export type Draft = {
  readonly at: number
  /** The entity's state with the decisions of this draft applied. */
  readonly state: <State, Name extends string>(decider: Kind<State, Name>, key: EntityKey<NoInfer<Name>>) => State
  /** Makes the entity decide; a refusal ends the plan. Returns the resulting events. */
  readonly decide: <State, Command, E extends Event, Name extends string>(
    decider: {
      readonly kind: Name
      readonly initial: State
      readonly decide: (
        state: State,
        command: Command,
      ) => { ok: true; events: readonly E[] } | { ok: false; fault: Fault }
    },
    key: EntityKey<NoInfer<Name>>,
    command: Command,
  ) => readonly E[]
  readonly refuse: (fault: Fault) => never
}

type Drafted = { readonly decider: AnyDecider; state: unknown; events: Event[] }

export const openDraft = (loan: Loan, deciderOf: (key: EntityKey) => AnyDecider, at: number) => {
  const drafted = new Map<EntityKey, Drafted>()
  const entry = (key: EntityKey): Drafted => {
    const known = drafted.get(key)
    if (known) return known
    const memory = loan.get(key)
    if (!memory) throw new Error(`${key} takes part in a plan that did not borrow it`)
    const fresh = { decider: deciderOf(key), state: memory.state, events: [] }
    drafted.set(key, fresh)
    return fresh
  }
  const draft: Draft = {
    at,
    state: <State>(_decider: Kind<State>, key: EntityKey) => entry(key).state as State,
    decide: (decider, key, command) => {
      const mine = entry(key)
      const decision = decider.decide(mine.state as never, command)
      if (!decision.ok) throw new Refusal(decision.fault)
      mine.events.push(...decision.events)
      mine.state = fold(mine.decider, mine.state, decision.events, at)
      return decision.events
    },
    refuse: (fault) => {
      throw new Refusal(fault)
    },
  }
  return { draft, drafted }
}

/** View rows that follow from a change of an entity, in addition to its own rows. Pure. */
export type Marks = (key: EntityKey, before: unknown, after: unknown, at: number) => readonly ViewChange[]

export type Appending = {
  readonly commandId: string
  readonly at: number
  readonly cause: Cause
  readonly marks?: Marks | undefined
}
/** One append of all drafted events, and the memories that hold once it is written. */
export const toAppend = (
  loan: Loan,
  drafted: ReadonlyMap<EntityKey, Drafted>,
  { commandId, at, cause, marks }: Appending,
) => {
  const rows: JournalRow[] = []
  const changes: ViewChange[] = []
  const after = new Map(loan)
  for (const [key, { decider, state, events }] of [...drafted].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (events.length === 0) continue
    const before = loan.get(key)!
    const version = before.version + 1
    const follows = lastRow(before)
    rows.push({ key, version, commandId, events, at, cause, ...(follows === undefined ? {} : { follows }) })
    const memory: Memory = { key, state, version, recent: [...before.recent.slice(-31), commandId], at }
    after.set(key, memory)
    changes.push(...decider.rows(before.state, state))
    if (marks) changes.push(...marks(key, before.state, state, at))
    if (version % SNAPSHOT_EVERY === 0)
      changes.push(put('snapshots', { entity: key, version, memory: freeze(memory), schema: snapshotSchemaOf(key) }))
  }
  const append: Append = { rows, changes }
  return { append, after }
}
