/** Environment variables that begin like options and are none: a single command reads them. */

/** URL of the database of upstream, for `import`. */
export const IMPORT_FROM = 'ACCELERANDO_IMPORT_FROM'
export const NO_OPTIONS: ReadonlySet<string> = new Set([IMPORT_FROM])
