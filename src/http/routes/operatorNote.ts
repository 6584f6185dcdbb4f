/**
 * The reason that an operator gives for a decision that is hard to undo. It is recorded with the decision in the
 * journal.
 */
import * as v from 'valibot'
import type { Caller } from '../../actors/control.ts'
import type { DatedNote, OperatorNote } from '../../operatorNote.ts'
import { brokenText } from '../../text.ts'
import { invalid } from '../faults.ts'
import { time } from '../render.ts'
import type { Body } from '../route.ts'
import { readAs } from '../schemas.ts'

const REASON_MAX = 1000
export const Reason = v.pipe(v.string(), v.minLength(1), v.maxLength(REASON_MAX))

/** Null when the text is acceptable. */
export const reasonProblem = (reason: string): string | null =>
  reason === '' ? 'it is empty' : (brokenText(reason, { characters: REASON_MAX })?.problem ?? null)

const Asked = v.looseObject({ reason: v.string() })
export const reasonIn: Body<string> = {
  schema: v.looseObject({ reason: Reason }),
  read: (json) => {
    const parsed = readAs(Asked, json)
    if (!parsed.ok) return parsed
    const reason = parsed.value.reason.trim()
    const problem = reasonProblem(reason)
    return problem === null ? { ok: true, value: reason } : invalid('reason', problem)
  },
}

export const noteOf = ({ userId }: Caller, reason: string): OperatorNote => ({
  by: userId || 'somebody without a name',
  reason,
})
export const noteBody = (note: DatedNote | null) => (note === null ? null : { ...note, at: time(note.at) })
