/** UUIDs as text: the program compares them in one spelling, lower case with dashes. */

/** A pattern for a UUID in lower case with dashes, for use in longer patterns. */
export const CANONICAL_PATTERN = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const CANONICAL = new RegExp(`^${CANONICAL_PATTERN}$`)
const DIGIT = '[0-9A-Fa-f]'
const DIGITS = [8, 4, 4, 4, 12].map((count) => `${DIGIT}{${count}}`).join('-?')
/**
 * A pattern for every spelling of a UUID that requests may contain: either case, without dashes, in braces, as a URN.
 */
export const UUID_PATTERN = `(?:[Uu][Rr][Nn]:)?(?:[Uu][Uu][Ii][Dd]:)?(?:${DIGITS}|\\{${DIGITS}\\})`
const SPELLED = new RegExp(`^${UUID_PATTERN}$`)

/** Whether the text is a UUID in lower case with dashes. */
export const isUuid = (text: string): boolean => CANONICAL.test(text)

/** Lower case with dashes, or null for a text that is not a UUID in any accepted spelling. */
export const canonicalUuid = (text: string): string | null => {
  if (isUuid(text)) return text
  if (!SPELLED.test(text)) return null
  const digits = text
    .toLowerCase()
    .replace(/^(urn:)?(uuid:)?/, '')
    .replace(/[{}-]/g, '')
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join(
    '-',
  )
}

/** A UUID of the given version from the first 16 bytes of a hash. */
export const uuidOfHash = (hash: Uint8Array, version: 3 | 5): string => {
  const bytes = Buffer.from(hash.subarray(0, 16))
  bytes[6] = (bytes[6]! & 0x0f) | (version << 4)
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return canonicalUuid(bytes.toString('hex'))!
}
