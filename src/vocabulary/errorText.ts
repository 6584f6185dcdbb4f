/** The texts of a caught error: its message, and the code that Node gives to errors of files and sockets. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
/** Why something failed, as text that fits into a message. */
export const textOf = (error: unknown): string => messageOf(error).slice(0, 2000)

/** The code of the error, such as `ENOENT`; undefined: it has none. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
