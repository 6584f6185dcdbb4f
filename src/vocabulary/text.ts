/** Text from outside: the rule for which text is accepted, and which text a store can hold. Pure. */

export type TextRule = 'too_long' | 'lone_surrogate' | 'control_character' | 'format_character' | 'line_separator'
/** A limit in characters counts Unicode code points, as some contracts do; a limit in bytes counts bytes of UTF-8. */
export type TextLimit = { readonly bytes: number } | { readonly characters: number }
/**
 * The limit of all names from outside, such as those of hosts, projects, users and vendors. An indexed column can hold
 * such a name.
 */
export const NAME_LIMIT = { characters: 255 } as const satisfies TextLimit
/** `problem` states the broken rule in words that follow the name of a field: "Invalid hostname: it holds ...". */
export type BrokenText = { readonly rule: TextRule; readonly problem: string }

const HALF = 'half of a surrogate pair'
type Forbidden = { readonly rule: TextRule; readonly pattern: RegExp; readonly name: string }
/**
 * The Unicode categories Cs, Cc, Cf, Zl and Zp. None of these characters is visible, and some change how the text
 * around them is shown.
 */
const FORBIDDEN: readonly Forbidden[] = [
  { rule: 'lone_surrogate', pattern: /\p{Cs}/u, name: HALF },
  { rule: 'control_character', pattern: /\p{Cc}/u, name: 'a control character' },
  { rule: 'format_character', pattern: /\p{Cf}/u, name: 'an invisible format character' },
  { rule: 'line_separator', pattern: /[\p{Zl}\p{Zp}]/u, name: 'a line or paragraph separator' },
]

const tooLong = (text: string, limit: TextLimit): string | null => {
  if ('bytes' in limit) return Buffer.byteLength(text) > limit.bytes ? `${limit.bytes} bytes` : null
  // a code point takes at most two units of a JavaScript string
  const fits =
    text.length <= limit.characters ||
    (text.length <= 2 * limit.characters && Array.from(text).length <= limit.characters)
  return fits ? null : `${limit.characters} characters`
}

/** The first rule that a text breaks; null: it breaks none. An empty text breaks none. */
export const brokenText = (text: string, limit: TextLimit): BrokenText | null => {
  const most = tooLong(text, limit)
  if (most !== null) return { rule: 'too_long', problem: `it must not be longer than ${most}` }
  for (const { rule, pattern, name } of FORBIDDEN) {
    const found = pattern.exec(text)?.[0].codePointAt(0)
    if (found === undefined) continue
    return { rule, problem: `it holds ${name} (U+${found.toString(16).toUpperCase().padStart(4, '0')})` }
  }
  return null
}

/** Why no store can hold the text, in words like those of `BrokenText`; null: stores can hold it. */
export const unstorable = (text: string): string | null =>
  text.includes('\0') ? 'it holds a NUL character' : text.isWellFormed() ? null : `it holds ${HALF}`

/** NUL and halves of surrogate pairs, as `JSON.stringify` writes them; PostgreSQL accepts neither. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/
/** Whether a store can hold a text that `JSON.stringify` wrote. */
export const isStorableJson = (json: string): boolean => !json.includes('\\u') || !UNSTORABLE.test(json)
/** Whether a store can hold the value as JSON. */
export const isStorable = (value: unknown): boolean => isStorableJson(JSON.stringify(value))
/** Text of hardware, which may contain anything, in a form that a store can hold; for people to read. */
export const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed()
/**
 * Text for a terminal: without characters that could control the terminal, or change how the text around them is shown.
 */
export const inOneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').toWellFormed()

const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => character.charCodeAt(at).toString(16).padStart(4, '0'))
    .map((unit) => `\\u${unit}`)
    .join('')
/** JSON for terminals and programs: characters that `inOneLine` removes are written as escape sequences. */
export const visibleJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replaceAll(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped)
