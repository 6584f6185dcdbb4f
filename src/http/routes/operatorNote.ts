/**
 * The reason that an operator gives for a decision that is hard to undo. It is recorded with the decision in the
 * journal.
 */
import * as v from 'valibot'
import type { Caller } from '../../actors/control.ts'
import type { DatedNote, OperatorNote } from '../../vocabulary/operatorNote.ts'
import type { Refusal } from '../guard.ts'
import { time } from '../render.ts'
import { type Arg, last } from '../query.ts'
import type { Body } from '../route.ts'
import { readAs } from '../schemas.ts'
import { trimmedShape, trimmedText } from '../shapes.ts'

export const REASON_MAX = 1000
const Reason = trimmedText({ characters: REASON_MAX })

export const ReasonBody = v.looseObject({ reason: Reason })
export const readReason = (json: unknown): { readonly ok: true; readonly value: string } | Refusal => {
  const parsed = readAs(ReasonBody, json)
  return parsed.ok ? { ok: true, value: parsed.value.reason } : parsed
}
export const reasonIn: Body<string> = { schema: ReasonBody, read: readReason }

/** The reason of a request that has no body. The handler checks that it was sent. */
export const reasonArg = (about: string): Arg<string> => ({
  read: (values) => ({ ok: true, value: last(values) || undefined }),
  schema: trimmedShape({ characters: REASON_MAX }),
  required: true,
  about,
})

export const noteOf = ({ userId }: Caller, reason: string): OperatorNote => ({
  by: userId || 'somebody without a name',
  reason,
})
export const noteBody = (note: DatedNote | null) =>
  note === null ? null : { by: note.by, reason: note.reason, at: time(note.at) }
