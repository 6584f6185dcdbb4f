/**
 * The rules for texts in requests. Each is one schema, which both checks values and is printed in the API description.
 */
import * as v from 'valibot'
import { brokenText } from '../text.ts'
import type { TextLimit } from '../text.ts'
import { canonicalUuid, UUID_PATTERN } from '../uuid.ts'

/** A JSON Schema or a part of one, as it is printed. */
export type Json = Readonly<Record<string, unknown>>

export const UUID_SHAPE: Json = { type: 'string', pattern: `^${UUID_PATTERN}$` }
/** Accepts every spelling of a UUID and converts it to the canonical one. `rule`: what is said of anything else. */
export const uuidText = (rule: string) =>
  v.pipe(
    v.string(rule),
    v.regex(new RegExp(`^${UUID_PATTERN}$`), rule),
    v.transform((text) => canonicalUuid(text)!),
  )
export const UuidText = uuidText('it must be a UUID')

/**
 * The characters that `brokenText` forbids, as the inside of a character class for every dialect of regular
 * expressions. It omits the few format characters beyond the 16-bit range, which the dialects write in different ways.
 */
const FORBIDDEN =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u180e\\u200b-\\u200f' +
  '\\u2028-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb'
const VISIBLE = `[^${FORBIDDEN}]`

/** JSON Schema counts characters, so a limit in bytes can only be described in words. */
const limited = (limit: TextLimit): Json =>
  'characters' in limit ? { maxLength: limit.characters } : { description: `At most ${limit.bytes} bytes of UTF-8.` }
export const textShape = (limit: TextLimit, minLength = 0): Json => ({
  type: 'string',
  pattern: `^${VISIBLE}*$`,
  ...(minLength > 0 && { minLength }),
  ...limited(limit),
})
/** An element of a list that is sent as one text with commas. */
export const elementShape = (limit: TextLimit): Json => ({ ...textShape(limit, 1), pattern: `^[^,${FORBIDDEN}]+$` })
const filledShape = (limit: TextLimit): Json => ({
  ...textShape(limit),
  pattern: `^${VISIBLE}*[^\\s${FORBIDDEN}]${VISIBLE}*$`,
})
const wordShape = (limit: TextLimit): Json => ({ ...textShape(limit), pattern: `^[^\\s${FORBIDDEN}]+$` })
/** Text with at least one character that is not white space; surrounding white space is accepted and removed. */
export const trimmedShape = (limit: TextLimit): Json => ({
  ...textShape(limit),
  pattern: `^\\s*[^\\s${FORBIDDEN}](?:${VISIBLE}*[^\\s${FORBIDDEN}])?\\s*$`,
})

const keeps = (limit: TextLimit) =>
  v.rawCheck<string>(({ dataset, addIssue }) => {
    const broken = dataset.typed ? brokenText(dataset.value, limit) : null
    if (broken !== null) addIssue({ message: broken.problem })
  })

/** Text that obeys the general rule for text from outside. */
export const text = (limit: TextLimit) => v.pipe(v.string(), keeps(limit), v.metadata({ ...textShape(limit) }))
type Characters = TextLimit & { readonly characters: number }
/** Text with at least one character that is not white space. */
export const filledText = (limit: Characters) => {
  const rule = `it must be a text of 1 to ${limit.characters} characters`
  return v.pipe(
    v.string(rule),
    v.check((given) => given.trim() !== '', rule),
    keeps(limit),
    v.metadata({ ...filledShape(limit) }),
  )
}
/** Text without white space. */
export const wordText = (limit: Characters) =>
  v.pipe(
    filledText(limit),
    v.check((given) => !/\p{White_Space}/u.test(given), 'it holds white space'),
    v.metadata({ ...wordShape(limit) }),
  )
/** Surrounding white space is removed, and something must be left. The limit applies to the text before that. */
export const trimmedText = (limit: Characters) =>
  v.pipe(
    v.string(),
    v.maxCodePoints(limit.characters, `it must not be longer than ${limit.characters} characters`),
    v.trim(),
    v.check((given) => given !== '', 'it is empty'),
    keeps(limit),
    v.metadata({ ...trimmedShape(limit) }),
  )
