/** The API's answers about dead letters: messages that could not be read or handled, or that the bus never takes. */
import type { Outcome } from '../../vocabulary/fault.ts'
import type { LetterUuid } from '../../vocabulary/identifiers.ts'
import type { OperatorNote } from '../../vocabulary/operatorNote.ts'
import { HANDLINGS } from '../../wire/catalogue.ts'
import type { Caller } from '../caller.ts'
import type { Listed } from './rows.ts'

/**
 * `open`: nobody has looked after it; `replayed`: its message was sent again; `dropped`: an operator has set it aside.
 */
export const LETTER_STATES = ['open', ...HANDLINGS] as const
export type LetterState = (typeof LETTER_STATES)[number]

export type DeadLetter = {
  readonly uuid: LetterUuid
  /** The id of the message that is the dead letter. */
  readonly id: string
  readonly state: LetterState
  /** When the letter was stored, in ms since the epoch. */
  readonly at: number
  /** Where its message came from. */
  readonly topic: string
  readonly key: string
  /** Null: the message was never on the topic. */
  readonly place: { readonly partition: number; readonly offset: number } | null
  readonly reason: string
  /** The length of what is kept of the message, in bytes of UTF-8. */
  readonly bytes: number
  /** A part of the message was not kept. */
  readonly cut: boolean
  /** Why its message cannot be sent again; null: it can. */
  readonly refusal: string | null
  /** Who has sent it again or dropped it last; null: nobody. What is null in it was not recorded. */
  readonly handled: {
    readonly at: number
    readonly by: string | null
    readonly reason: string | null
    /** The id of the request by which it was asked for. */
    readonly request: string | null
  } | null
}
export type DeadLetterDetail = DeadLetter & {
  readonly value: string
  readonly headers: Readonly<Record<string, string>>
}
export type DeadLettersAsked = {
  readonly state: LetterState
  readonly topic?: string
  readonly limit: number
  readonly marker?: LetterUuid
}
type Answer<Value> = Promise<Outcome<Value>>
/** Faults of all: unavailable (the topic is not read yet, or cannot be read), conflict (there is no bus here). */
export type DeadLetters = {
  /** The newest first. Fault: invalid (marker). */
  readonly list: (asked: DeadLettersAsked) => Answer<Listed<DeadLetter>>
  /** Fault: not_found. */
  readonly get: (uuid: LetterUuid) => Answer<DeadLetterDetail>
  /**
   * Sends the message again, as it was, also if it was sent again or dropped before. Faults: not_found, conflict (it
   * cannot be sent again), unavailable (it is being handled).
   */
  readonly replay: (caller: Caller, uuid: LetterUuid, note: OperatorNote) => Answer<DeadLetterDetail>
  /** Repeating it is harmless. Faults: not_found, bad_state (it was sent again), unavailable (as above). */
  readonly drop: (caller: Caller, uuid: LetterUuid, note: OperatorNote) => Answer<DeadLetterDetail>
}
