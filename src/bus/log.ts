/** What the bus and the host ask of a logger; pino's fits. */
type Line = (detail: object, message: string) => void
export type Log = { readonly debug: Line; readonly info: Line; readonly warn: Line; readonly error: Line }

export const textOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 2000)
