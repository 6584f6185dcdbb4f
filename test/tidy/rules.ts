/** The rules of the house as data. Whoever changes one changes STYLE.md or ARCHITECTURE.md with it. */

export const ROOMS = [
  'vocabulary',
  'wire',
  'drivers',
  'actors',
  'services',
  'audit',
  'bus',
  'delivery',
  'host',
  'persistence',
  'http',
  'neighbours',
  'ui',
  'cli',
] as const
export type Room = (typeof ROOMS)[number]

/** Who may import whom, types included. An entry with a slash admits that one file. ARCHITECTURE.md lists the same. */
export const MAY_IMPORT: Readonly<Record<Room, readonly string[]>> = {
  vocabulary: ['vocabulary'],
  wire: ['vocabulary', 'wire'],
  drivers: ['vocabulary', 'drivers'],
  actors: ['vocabulary', 'wire', 'actors'],
  services: ['vocabulary', 'wire', 'actors', 'services'],
  audit: ['vocabulary', 'wire', 'actors', 'audit'],
  bus: ['vocabulary', 'wire', 'bus'],
  delivery: ['vocabulary', 'wire', 'actors', 'bus', 'delivery'],
  host: ['vocabulary', 'wire', 'drivers', 'bus', 'host'],
  persistence: ['vocabulary', 'actors', 'persistence'],
  http: ['vocabulary', 'wire/asyncapi.ts', 'actors', 'http'],
  neighbours: ['vocabulary', 'actors', 'neighbours'],
  ui: ['vocabulary', 'ui'],
  cli: ROOMS,
}

/**
 * Where each foreign library lives: a room, a file of src/, or everywhere (`*`). A library that is not here has no
 * home.
 */
export const HOMES: Readonly<Record<string, readonly string[]>> = {
  valibot: ['*'],
  '@valibot/to-json-schema': ['wire', 'http', 'cli'],
  nact: ['actors'],
  hono: ['http', 'ui'],
  preact: ['ui'],
  'preact-render-to-string': ['ui'],
  '@hono/node-server': ['http', 'cli'],
  kafkajs: ['bus'],
  '@mikro-orm/*': ['persistence'],
  kysely: ['persistence'],
  '@electric-sql/pglite': ['persistence'],
  pg: ['persistence', 'neighbours'],
  mysql2: ['neighbours'],
  undici: ['neighbours'],
  commander: ['cli'],
  '@bomb.sh/tab': ['cli'],
  'smol-toml': ['cli'],
  yaml: ['cli'],
  pino: ['cli', 'vocabulary/log.ts'],
  'pino-pretty': ['cli', 'vocabulary/log.ts'],
  'prom-client': ['cli', 'http'],
  '@opentelemetry/*': ['cli'],
}

/** Rooms in which only the named file may start a program or open a file. */
export const ONE_DOOR: Readonly<Record<string, string>> = { drivers: 'drivers/hostIo.ts', host: 'host/disk.ts' }
export const DOOR_MODULES = /^node:(fs|fs\/promises|child_process)$/

/** The files of the actors that wait or know the time; everything else there and in `wire` is pure. */
export const IMPURE_ACTORS: readonly string[] = [
  'actors/latest.ts',
  ...['changes', 'commit', 'engine', 'region', 'shell', 'transact', 'unit', 'unreadable'].map(
    (name) => `actors/runtime/${name}.ts`,
  ),
]
export const PURE = /^(actors|wire)\//
/** Who may call a decider. Other actors ask through a draft: `draft.decide(...)`. */
export const SHELL = /^actors\/runtime\/(shell|unit|region|draft)\.ts$/

/** The program of a compute node stays small: nothing that this room loads loads one of these. */
export const LEAN = { room: 'host', without: /^(@mikro-orm\/.*|hono|@hono\/.*|@electric-sql\/pglite|pg)$/ }

/** Exempt from the budgets of size: migrations, and files whose first line says `@generated`. */
export const GENERATED = { path: /(^|\/)migrations\//, mark: '@generated' }

export const BUDGET = {
  fileLines: 300,
  testFileLines: 400,
  medianFileLines: 100,
  functionLines: 60,
  nesting: 3,
  up: 2,
  columns: 120,
}

/** `ARCHITECTURE.md` is to be read at once. `withFolders`: the rooms whose folders it names. */
export const MAP = { lines: 84, columns: 120, withFolders: ['actors', 'services'] as const }
