/** What the stores can hold: text without NUL and without halves of surrogate pairs. What comes from hardware may hold anything. */

const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/
/** Of any value that is kept as JSON. */
export const isStorable = (value: unknown): boolean => !UNSTORABLE.test(JSON.stringify(value))
/** For text that is kept for people to read. */
export const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed()
