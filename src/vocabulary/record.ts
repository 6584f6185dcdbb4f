/** Helpers for objects of unknown origin. */
export type UnknownRecord = Readonly<Record<string, unknown>>

/** Whether the value is an object and not a list. */
export const isRecord = (value: unknown): value is UnknownRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The members of an object; of anything else there are none. */
export const membersOf = (value: unknown): UnknownRecord => (isRecord(value) ? value : {})

/** The object's own value under a key from outside; undefined for inherited names, such as "constructor". */
export const ownValue = <Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined
