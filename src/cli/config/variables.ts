/** Environment variables that have the prefix of options but are read by single commands. */

/** URL of the database of upstream, for `import`. */
export const IMPORT_FROM = 'ACCELERANDO_IMPORT_FROM'
/** Address of the API, for the commands that ask a running service. */
export const URL_VARIABLE = 'ACCELERANDO_URL'
/** The address of the API where none is given. */
export const USUAL_API = 'http://127.0.0.1:6666/v2'
export const NO_OPTIONS: ReadonlySet<string> = new Set([IMPORT_FROM, URL_VARIABLE])
