/** The shape of an action that the console offers, and of what it asks for. */
import type { Drift } from './shapes.ts'
import { type Loaded, loaded } from './loaded.ts'
import type { Choice, Done, Field } from './view/screen.ts'
import type { CommandLine } from './view/words.ts'

export type Kind =
  | 'arqs'
  | 'instances'
  | 'hosts'
  | 'devices'
  | 'handles'
  | 'profiles'
  | 'drift'
  | 'differences'
  | 'ignored'
  | 'letters'
  | 'programs'
/** The list that shows what has no page of its own. */
export const LIST_OF: Readonly<Partial<Record<Kind, string>>> = {
  drift: 'drift',
  differences: 'drift',
  ignored: 'drift',
  programs: 'programs',
}
/** The values that were typed, by the name of their field. */
export type Typed = Readonly<Record<string, string>>
export type { Field }
const REASON_MAX = 1000
export const REASON: Field = { name: 'reason', title: 'Reason', hint: 'kept in the journal', max: REASON_MAX }

/**
 * How an action ended of which the API says so in its answer. One with `place` is told there; without, the form is
 * shown again with the sentence.
 */
export type Ending = Done & { readonly name: string; readonly place?: (id: string) => string }

export type Action = {
  readonly kind: Kind
  readonly name: string
  readonly label: string
  readonly grave?: true
  /** The policy rule that allows the action. */
  readonly rule: string
  readonly sentence: string
  /** What is asked for before the action; the values are the body of the request unless `body` says otherwise. */
  readonly fields?: readonly Field[]
  readonly body?: (typed: Typed) => Loaded<object>
  /** The API offers a dry run that lists whom the action would concern. */
  readonly dryRun?: true
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly path: (id: string) => string
  /**
   * The ending that the answer tells, where the API answers an action as success that did not do all of it; such an
   * action is recorded under no request.
   */
  readonly endedAs?: (answer: unknown) => Loaded<Ending>
  readonly endings?: readonly Ending[]
  /** What the action records is no event of the journal, so that none is looked for afterwards. */
  readonly eventless?: true
  /** Time limit in ms; absent: that of every request. */
  readonly limitMs?: number
  /** The command-line form of the same action. */
  readonly command: (id: string) => CommandLine
  /** The action makes an entity: it is offered by the list. */
  readonly makes?: true
  /** The states in which the action is possible; in others, `otherwise` is shown as the reason. */
  readonly states: readonly string[]
  readonly otherwise: string
  /** The reason in one of those other states, where it is another one. */
  readonly reasons?: Readonly<Record<string, string>>
  /**
   * The page shown afterwards: the list if the entity is deleted by the action, that of the name that was typed, else
   * the entity.
   */
  readonly after?: 'list' | 'named'
}

/** The state of an entity, on which depends what is possible, and what is known of it for the fields of an action. */
export type Stand = {
  readonly state: string
  readonly known: Typed
  /** Why no action is possible, in the words of the API; absent: none is known. */
  readonly not?: string
  /** The values that are proposed, by the name of the field. */
  readonly choices?: Readonly<Record<string, readonly Choice[]>>
  /** What is known of the entity, as lines of the page that asks. */
  readonly facts?: readonly (readonly [name: string, value: string])[]
  /** Of the drift of a host: the differences, with their repairs. */
  readonly repairs?: Loaded<Drift['drift']>
}

/** The body of the request for the action; null: it has none. */
export const bodyOf = ({ fields, body }: Action, typed: Typed): Loaded<object | null> =>
  body !== undefined ? body(typed) : loaded(fields === undefined ? null : typed)
