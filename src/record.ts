/** Values of unknown origin, told apart. */
export type UnknownRecord = Readonly<Record<string, unknown>>

/** True of an object that is no list. */
export const isRecord = (value: unknown): value is UnknownRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
