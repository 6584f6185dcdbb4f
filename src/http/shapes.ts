/**
 * The rules for texts in requests. Each is one schema, which both checks values and is printed in the API description.
 */
import * as v from 'valibot'
import { brokenText, unstorable } from '../vocabulary/text.ts'
import type { TextLimit } from '../vocabulary/text.ts'
import { canonicalUuid, UUID_PATTERN } from '../vocabulary/uuid.ts'

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
 * Format characters beyond the 16-bit range. They stand in the class as themselves: dialects escape them differently.
 */
const FAR = [
  [0x1_10bd, 0x1_10bd],
  [0x1_10cd, 0x1_10cd],
  [0x1_3430, 0x1_343f],
  [0x1_bca0, 0x1_bca3],
  [0x1_d173, 0x1_d17a],
  [0xe_0001, 0xe_0001],
  [0xe_0020, 0xe_007f],
] as const
/**
 * The characters that `brokenText` forbids, as the inside of a character class for every dialect that knows Unicode.
 */
const FORBIDDEN =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u180e\\u200b-\\u200f' +
  '\\u2028-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb' +
  FAR.map(([from, to]) => `${String.fromCodePoint(from)}-${String.fromCodePoint(to)}`).join('')
/** What JavaScript takes for white space; `\\s` means other characters in other dialects. */
const SPACE = '\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff'
const VISIBLE = `[^${FORBIDDEN}]`

/** JSON Schema counts characters, not bytes. */
type Limit = Extract<TextLimit, { readonly characters: number }>
export const textShape = ({ characters }: Limit, minLength = 0): Json => ({
  type: 'string',
  pattern: `^${VISIBLE}*$`,
  ...(minLength > 0 && { minLength }),
  maxLength: characters,
})
/** An element of a list that is sent as one text with commas. */
export const elementShape = (limit: Limit): Json => ({ ...textShape(limit, 1), pattern: `^[^,${FORBIDDEN}]+$` })
const filledShape = (limit: Limit): Json => ({
  ...textShape(limit),
  pattern: `^${VISIBLE}*[^${SPACE}${FORBIDDEN}]${VISIBLE}*$`,
})
const wordShape = (limit: Limit): Json => ({ ...textShape(limit), pattern: `^[^${SPACE}${FORBIDDEN}]+$` })
/** Text with at least one character that is not white space; surrounding white space is accepted and removed. */
export const trimmedShape = (limit: Limit): Json => ({
  ...textShape(limit),
  pattern: `^[${SPACE}]*[^${SPACE}${FORBIDDEN}](?:${VISIBLE}*[^${SPACE}${FORBIDDEN}])?[${SPACE}]*$`,
})

const keeps = (limit: Limit) =>
  v.rawCheck<string>(({ dataset, addIssue }) => {
    const broken = dataset.typed ? brokenText(dataset.value, limit) : null
    if (broken !== null) addIssue({ message: broken.problem })
  })

/** Text that obeys the general rule for text from outside. */
export const text = (limit: Limit) => v.pipe(v.string(), keeps(limit), v.metadata({ ...textShape(limit) }))
/** Whatever a store can hold. */
export const anyText = v.pipe(
  v.string(),
  v.rawCheck(({ dataset, addIssue }) => {
    const problem = dataset.typed ? unstorable(dataset.value) : null
    if (problem !== null) addIssue({ message: problem })
  }),
  v.metadata({ pattern: '^[^\\u0000]*$' }),
)
export const paragraphs = ({ characters }: Limit) =>
  v.pipe(
    anyText,
    v.maxCodePoints(characters, `it must not be longer than ${characters} characters`),
    v.metadata({ maxLength: characters }),
  )
/** `JSON.parse` reads 1e999 as infinity. */
export const finite = v.pipe(v.number(), v.finite('the number is too large'))
/** Text with at least one character that is not white space. */
export const filledText = (limit: Limit) => {
  const rule = `it must be a text of 1 to ${limit.characters} characters`
  return v.pipe(
    v.string(rule),
    v.check((given) => given.trim() !== '', rule),
    keeps(limit),
    v.metadata({ ...filledShape(limit) }),
  )
}
/** Text without white space. */
export const wordText = (limit: Limit) =>
  v.pipe(
    filledText(limit),
    v.check((given) => !/\p{White_Space}/u.test(given), 'it holds white space'),
    v.metadata({ ...wordShape(limit) }),
  )
/** Surrounding white space is removed, and something must be left. The limit applies to the text before that. */
export const trimmedText = (limit: Limit) =>
  v.pipe(
    v.string(),
    v.maxCodePoints(limit.characters, `it must not be longer than ${limit.characters} characters`),
    v.trim(),
    v.check((given) => given !== '', 'it is empty'),
    keeps(limit),
    v.metadata({ ...trimmedShape(limit) }),
  )
