/**
 * What is known of a JSON document from the marks between its texts, before it is built: building it cannot be
 * interrupted.
 */

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

export const tooDeep = (levels: number): string => `it is nested deeper than ${levels} levels`

/** The rule that the document breaks; null: none. The bytes may be no JSON at all. */
export const jsonSizeProblem = (
  bytes: Uint8Array,
  { values: valuesMax, depth: depthMax }: { readonly values: number; readonly depth: number },
): string | null => {
  let [values, depth, inText] = [0, 0, false]
  for (let at = 0; at < bytes.length; at++) {
    const mark = bytes[at]
    if (mark === QUOTE) inText = !inText
    else if (inText) at += mark === BACKSLASH ? 1 : 0
    else if (mark === COMMA) values++
    else if (mark === CLOSE_LIST || mark === CLOSE_OBJECT) depth--
    else if (mark === OPEN_LIST || mark === OPEN_OBJECT) {
      values++
      depth++
    }
    if (depth > depthMax) return tooDeep(depthMax)
    if (values > valuesMax) return `it holds more than ${valuesMax} values`
  }
  return null
}
