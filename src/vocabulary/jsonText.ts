/** Reads JSON in texts from outside. */

/**
 * Descriptions of hardware are never nested deeper. Deeper JSON could exhaust the stack of code that walks through it.
 */
const DEPTH_MAX = 64

const isDeeper = (value: unknown, left: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (left === 0 || Object.values(value).some((inner) => isDeeper(inner, left - 1)))

/** Undefined when the text is no JSON, or is nested so deep that it is taken for plain text. */
export const jsonIn = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    return isDeeper(value, DEPTH_MAX) ? undefined : value
  } catch {
    return undefined
  }
}
