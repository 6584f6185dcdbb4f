/** Values of unknown origin, told apart. */
export type UnknownRecord = Readonly<Record<string, unknown>>

/** True of an object that is no list. */
export const isRecord = (value: unknown): value is UnknownRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value under a key that came from outside; undefined also for what every object inherits, such as "constructor". */
export const ownValue = <Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined
