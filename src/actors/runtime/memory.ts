/** The memory of an actor: a cache of its journal. It is immutable, so lending it only shares a reference. */
import type { EntityKey } from '../../vocabulary/identifiers.ts'
import type { Decider, Event, Kind } from './decider.ts'
import type { JournalRow, Recalled, RowMark, Wish } from './ports.ts'

export type Memory<State = unknown> = {
  readonly key: EntityKey
  readonly state: State
  readonly version: number
  /** The last command ids, so that a repeated command is recognized and not carried out again. */
  readonly recent: readonly string[]
  /**
   * When the row of this version was decided, ms since the epoch. Null: there is no such row, or the time is not known.
   */
  readonly at: number | null
  /**
   * The entity was assumed to be new without a read of the journal, or is in doubt (REGION-5): only a fence or a read
   * shows its state.
   */
  readonly unread?: true
}
export type Loan = ReadonlyMap<EntityKey, Memory>
// oxlint-disable-next-line typescript/no-explicit-any -- a registry of deciders of different states
export type AnyDecider = Decider<any, any, any>

const RECENT_MAX = 32

export const blank = (key: EntityKey, decider: AnyDecider): Memory => ({
  key,
  state: decider.initial,
  version: 0,
  recent: [],
  at: null,
})
export const unread = (key: EntityKey, decider: AnyDecider): Memory => ({ ...blank(key, decider), unread: true })

export const fold = <State>(decider: AnyDecider, state: State, events: readonly Event[], at: number): State =>
  events.reduce<State>((reached, event) => decider.evolve(reached, event, at) as State, state)

/** The only way in which state changes, both live and in replay. A row that was absorbed before changes nothing. */
export const absorb = (decider: AnyDecider, memory: Memory, row: JournalRow): Memory =>
  row.version <= memory.version
    ? memory
    : {
        key: memory.key,
        state: fold(decider, memory.state, row.events, row.at),
        version: row.version,
        recent: [...memory.recent.slice(1 - RECENT_MAX), row.commandId],
        at: row.at,
      }

/** The row of the memory's version; undefined: there is none, or it is not known. */
export const lastRow = ({ version, recent, at }: Memory): RowMark | undefined => {
  const commandId = recent.at(-1)
  return version > 0 && commandId !== undefined ? { commandId, at } : undefined
}
/** The request to the journal for the rows that a memory lacks. */
export const wishOf = (memory: Memory): Wish => {
  const last = lastRow(memory)
  return { key: memory.key, after: memory.version, ...(last === undefined ? {} : { last }) }
}

export const recallInto = (decider: AnyDecider, memory: Memory, recalled: Recalled | undefined): Memory => {
  const { unread: _, ...trusted } = memory
  if (!recalled) return trusted
  const known = recalled.void ? blank(memory.key, decider) : trusted
  const from =
    recalled.snapshot && recalled.snapshot.version > known.version ? thaw(memory.key, recalled.snapshot) : known
  return recalled.rows.reduce((reached, row) => absorb(decider, reached, row), from)
}

type Frozen = Pick<Memory, 'state' | 'recent' | 'at'>
export const freeze = ({ state, recent, at }: Memory): Frozen => ({ state, recent, at })
const thaw = (key: EntityKey, { version, memory }: NonNullable<Recalled['snapshot']>): Memory => {
  const { state, recent, at } = memory as Frozen
  return { key, version, state, recent, at }
}

export const kindOf = (key: EntityKey): string => key.slice(0, key.indexOf('/'))
export const idOf = (key: EntityKey): string => key.slice(key.indexOf('/') + 1)

/** The memory with the type of its state; null: its key is of another kind. */
export const memoryOf = <State>({ kind }: Kind<State>, memory: Memory): Memory<State> | null =>
  kindOf(memory.key) === kind ? (memory as Memory<State>) : null
