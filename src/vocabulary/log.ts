/**
 * The logger that all rooms use, with which pino is compatible. The message is a short event name; the detail is
 * structured.
 */
type Line = (detail: object, message: string) => void
export type Log = { readonly debug: Line; readonly info: Line; readonly warn: Line; readonly error: Line }

export const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
