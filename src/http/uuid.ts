/** UUIDs are compared as text behind this room, so each one is brought into its one spelling here. */

const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const DIGITS = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/
/** The longest spelling: `urn:uuid:` and braces around 36 characters. */
const LONGEST = 50

/** Lower case with dashes, or null for a text that no UUID reader would take. */
export const canonicalUuid = (text: string): string | null => {
  if (CANONICAL.test(text)) return text
  if (text.length > LONGEST) return null
  const bare = text
    .toLowerCase()
    .replace(/^(urn:)?(uuid:)?/, '')
    .replace(/^\{(.*)\}$/, '$1')
    .replaceAll('-', '')
  const parts = DIGITS.exec(bare)
  return parts === null ? null : parts.slice(1).join('-')
}
