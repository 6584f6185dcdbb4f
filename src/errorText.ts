/** Why something failed, as text that fits into a message. */
export const textOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 2000)
