/** UUIDs as text: the program compares them in one spelling, lower case with dashes. */

const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const DIGITS = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/
/** The longest spelling: `urn:uuid:` and braces around 36 characters. */
const LONGEST = 50

/** True of lower case with dashes only. */
export const isUuid = (text: string): boolean => CANONICAL.test(text)

/** Lower case with dashes, or null for a text that is not a UUID in any accepted spelling. */
export const canonicalUuid = (text: string): string | null => {
  if (isUuid(text)) return text
  if (text.length > LONGEST) return null
  const bare = text
    .toLowerCase()
    .replace(/^(urn:)?(uuid:)?/, '')
    .replace(/^\{(.*)\}$/, '$1')
    .replaceAll('-', '')
  const parts = DIGITS.exec(bare)
  return parts === null ? null : parts.slice(1).join('-')
}

/** A UUID of the given version from the first 16 bytes of a hash. */
export const uuidOfHash = (hash: Uint8Array, version: 3 | 5): string => {
  const bytes = Buffer.from(hash.subarray(0, 16))
  bytes[6] = (bytes[6]! & 0x0f) | (version << 4)
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return canonicalUuid(bytes.toString('hex'))!
}
