/**
 * A decider is the part of an entity that its author writes: state, commands and events. It has no clock, makes no
 * identifiers and never waits.
 */
import type { Fault } from '../../vocabulary/fault.ts'
import type { ViewChange } from './views.ts'

/** A fact. One decision is one journal row, which holds all its events. */
export type Event = { readonly type: string }
/** `events` empty: accepted, and there is nothing to record. */
export type Decision<E extends Event = Event> =
  | { readonly ok: true; readonly events: readonly E[] }
  | { readonly ok: false; readonly fault: Fault }

export const accept = <E extends Event>(...events: readonly E[]): Decision<E> => ({ ok: true, events })
export const refuse = (fault: Fault): { readonly ok: false; readonly fault: Fault } => ({ ok: false, fault })

export type Decider<State, Command, E extends Event, Name extends string = string> = {
  /** First part of the journal key: `<kind>/<id>`. */
  readonly kind: Name
  readonly initial: State
  readonly decide: (state: State, command: Command) => Decision<E>
  readonly evolve: (state: State, event: E, at: number) => State
  /** The view changes that follow from a change of state; pure. `rows(initial, state)` gives all rows of the entity. */
  readonly rows: (before: State, after: State) => readonly ViewChange[]
}

/** The part of a decider that readers of an entity need: the kind of its keys and the type of its state. */
export type Kind<State, Name extends string = string> = { readonly kind: Name; readonly initial: State }
