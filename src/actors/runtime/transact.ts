/**
 * An optimistic transaction over several entities: guess the participants, borrow them all, decide, append once.
 *
 * The participants follow from the memories of entities (an ARQ names its deployable, a host its devices), which may
 * change before they are lent. The plan checks the lent memories and returns `MOVED` if the guess was wrong; then
 * nothing is written, and the guess is made again. This file is the only such loop.
 */
import type { EntityKey } from '../../vocabulary/identifiers.ts'
import type { Clock, Ids } from '../../vocabulary/clock.ts'
import { type Outcome, refuse } from '../../vocabulary/fault.ts'
import { type Draft, MOVED } from './draft.ts'
import type { Work } from './commit.ts'
import type { Cause } from './ports.ts'
import type { Units } from './unit.ts'

/** A later attempt conflicts only with changes made during the attempt before it, so a few are enough. */
const ATTEMPTS_MAX = 4

export type Participants = {
  readonly keys: readonly EntityKey[]
  /** Keys that were just created: they take part without being lent, because no other code knows them. */
  readonly fresh?: readonly EntityKey[]
  /** Lent keys that most likely have no rows in the journal: they are read only if a decision needs it. */
  readonly likelyNew?: readonly EntityKey[]
}

export type Transaction<Guess extends Participants, Value> = {
  /** The thing that keeps changing, for the refusal after all attempts: "the inventory of host h1". */
  readonly subject: string
  readonly cause: Cause & Pick<Work<unknown>, 'notAfter'>
  /** A repeated command has the id of the first; without one the command is new. */
  readonly commandId?: string
  /** `attempt` counts from 0. The first guess may use cached state; later ones should read current state. */
  readonly guess: (attempt: number) => Promise<Outcome<Guess>>
  /** Pure. Called again whenever the entities were read again. */
  readonly plan: (draft: Draft, guess: Guess) => Value | typeof MOVED
}

type Ports = { readonly units: Units; readonly clock: Clock; readonly ids: Ids }

/**
 * The value is null when this command was carried out before. Faults: those of the guess and the plan; `unavailable`.
 */
export const transact = async <Guess extends Participants, Value>(
  { units, clock, ids }: Ports,
  { subject, cause: { notAfter, ...cause }, commandId = ids.uuid(), guess, plan }: Transaction<Guess, Value>,
): Promise<Outcome<Value | null>> => {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const guessed = await guess(attempt)
    if (!guessed.ok) return guessed
    const { keys, fresh, likelyNew } = guessed.value
    const work = { commandId, at: clock.now(), cause, notAfter, plan: (draft: Draft) => plan(draft, guessed.value) }
    const done = await units.together(keys, work, fresh, likelyNew)
    if (!done.ok) return done
    if (done.value !== MOVED) return { ok: true, value: done.value }
  }
  return refuse({ kind: 'unavailable', reason: `${subject} keeps changing`, retryAfterSeconds: 1 })
}
