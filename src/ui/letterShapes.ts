/** Schemas of the dead letters in the API's documents, with only the fields that the console reads. */
import * as v from 'valibot'

const Text = v.string()
const MaybeText = v.nullable(Text)
const MaybeNumber = v.nullable(v.number())

export const LETTER_STATES = ['open', 'replayed', 'dropped'] as const
const letter = {
  uuid: Text,
  id: Text,
  state: v.picklist(LETTER_STATES),
  stored_at: Text,
  topic: Text,
  partition: MaybeNumber,
  offset: MaybeNumber,
  key: Text,
  reason: Text,
  size_bytes: v.number(),
  cut: v.boolean(),
  replay_refusal: MaybeText,
  handled: v.nullable(v.object({ at: Text, by: MaybeText, reason: MaybeText, request_id: MaybeText })),
}
export const Letter = v.object(letter)
export type Letter = v.InferOutput<typeof Letter>
export const LetterDetail = v.object({ ...letter, headers: v.record(Text, Text), value: Text })
export type LetterDetail = v.InferOutput<typeof LetterDetail>
export const Letters = v.object({
  dead_letters: v.array(Letter),
  dead_letters_links: v.optional(v.array(v.object({ href: Text, rel: Text }))),
})
