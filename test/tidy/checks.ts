/** Each check takes parsed files and returns what is wrong, one line each. */
import { children, cycles, fileGraph, grouped, reach } from './graph.ts'
import { DOORS, INSIDE } from './doors.ts'
import type { Room } from './rules.ts'
import {
  BUDGET,
  DOOR_MODULES,
  GENERATED,
  HOMES,
  IMPURE_ACTORS,
  LEAN,
  MAY_IMPORT,
  ONE_DOOR,
  PURE,
  ROOMS,
  SHELL,
} from './rules.ts'
import type { Source } from './source.ts'
import { target } from './source.ts'

type Check = (sources: readonly Source[]) => readonly string[]

const inSrc = (path: string): string => path.replace(/^src\//, '')
const isRoom = (name: string): name is Room => (ROOMS as readonly string[]).includes(name)
const folderOf = (path: string): string => (path.includes('/') ? path.slice(0, path.indexOf('/')) : 'vocabulary')
const roomOf = (path: string): string => folderOf(inSrc(path))
const ofSrc = (sources: readonly Source[]): readonly Source[] => sources.filter(({ path }) => path.startsWith('src/'))
const isGenerated = ({ path, text }: Source): boolean =>
  GENERATED.path.test(path) || text.slice(0, text.indexOf('\n')).includes(GENERATED.mark)
const byHand = (sources: readonly Source[]): readonly Source[] => sources.filter((source) => !isGenerated(source))

/** `@hono/node-server/serve-static` is the library `@hono/node-server`. */
const libraryOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
const homesOf = (library: string): readonly string[] | undefined =>
  HOMES[library] ?? HOMES[`${library.slice(0, library.indexOf('/'))}/*`]

export const rooms: Check = (sources) =>
  ofSrc(sources).flatMap(({ path, imports }) => {
    const room = roomOf(path)
    if (!isRoom(room)) return [`${path}: ${room} is not a room`]
    const allowed = MAY_IMPORT[room]
    return imports.flatMap(({ specifier, line }) => {
      const to = target(path, specifier)
      if (to === null) return []
      if (!to.startsWith('src/')) return room === 'cli' ? [] : [`${path}:${line} reaches out of src/ to ${to}`]
      return allowed.includes(roomOf(to)) || allowed.includes(inSrc(to)) ? [] : [`${path}:${line} may not import ${to}`]
    })
  })

/** Tests enter a room by its doors; a file that is listed and that no test imports any more leaves the list. */
export const testDoors: Check = (sources) => {
  const listed = new Set(
    [DOORS, INSIDE].flatMap((files) =>
      Object.entries(files).flatMap(([room, of]) => of.map((one) => `src/${room}/${one}`)),
    ),
  )
  const found = sources
    .filter(({ path }) => path.startsWith('test/'))
    .flatMap(({ path, imports }) =>
      imports.flatMap(({ specifier, line }) => {
        const to = target(path, specifier)
        return to?.startsWith('src/') ? [{ at: `${path}:${line}`, to }] : []
      }),
    )
  const used = new Set(found.map(({ to }) => to))
  return [
    ...found
      .filter(({ to }) => !listed.has(to))
      .map(({ at, to }) => `${at} imports ${to}, which is no door of its room`),
    ...[...listed].filter((to) => !used.has(to)).map((to) => `doors.ts names ${to}, which no test imports`),
  ]
}

/** What rules.ts names is in the tree: a rule about something that is gone checks nothing. */
export const ruled: Check = (sources) => {
  const paths = ofSrc(sources).map(({ path }) => inSrc(path))
  const there = new Set(['vocabulary', '*', ...paths, ...paths.map(folderOf)])
  const named = [
    ...Object.entries(MAY_IMPORT).flat(2),
    ...Object.values(HOMES).flat(),
    ...Object.entries(ONE_DOOR).flat(),
    LEAN.room,
    ...IMPURE_ACTORS,
  ]
  return [
    ...[...new Set(named)]
      .filter((name) => !there.has(name))
      .map((name) => `rules.ts names ${name}, which is not there`),
    ...[PURE, SHELL]
      .filter((pattern) => !paths.some((path) => pattern.test(path)))
      .map((pattern) => `rules.ts has ${pattern.source}, which matches no file`),
  ]
}

export const resolved: Check = (sources) => {
  const known = new Set(sources.map(({ path }) => path))
  return sources.flatMap(({ path, imports }) =>
    imports.flatMap(({ specifier, line }) => {
      const to = target(path, specifier)
      return to === null || !/\.[jt]s$/.test(to) || known.has(to)
        ? []
        : [`${path}:${line} imports ${to}, which is not there`]
    }),
  )
}

export const fileCycles: Check = (sources) => cycles(fileGraph(ofSrc(sources)))
export const roomCycles: Check = (sources) => cycles(grouped(fileGraph(ofSrc(sources)), roomOf))

/** Among the children of each folder, files and folders alike, no import leads back to where it came from. */
export const folderCycles: Check = (sources) => {
  const graph = fileGraph(ofSrc(sources))
  const parents = new Set(
    [...graph.keys()].flatMap((path) =>
      path
        .split('/')
        .slice(0, -1)
        .map((_, n, parts) => parts.slice(0, n + 1).join('/')),
    ),
  )
  return [...parents].toSorted().flatMap((parent) => cycles(children(graph, parent)).map((way) => `${parent}: ${way}`))
}

export const homes: Check = (sources) =>
  ofSrc(sources).flatMap(({ path, imports }) =>
    imports.flatMap(({ specifier, line }) => {
      if (specifier.startsWith('.') || specifier.startsWith('node:')) return []
      const library = libraryOf(specifier)
      const home = homesOf(library)
      if (home === undefined) return [`${path}:${line} imports ${library}, which has no home`]
      const welcome = ['*', roomOf(path), inSrc(path)].some((place) => home.includes(place))
      return welcome ? [] : [`${path}:${line} imports ${library}, which lives in ${home.join(', ')}`]
    }),
  )

export const doors: Check = (sources) =>
  ofSrc(sources).flatMap(({ path, imports, uses }) => {
    const door = ONE_DOOR[roomOf(path)]
    const opened = imports
      .filter(({ specifier }) => door !== undefined && inSrc(path) !== door && DOOR_MODULES.test(specifier))
      .map(({ specifier, line }) => `${path}:${line} imports ${specifier}: only ${door} may`)
    const env = uses
      .filter(({ what }) => what === 'process.env' && roomOf(path) !== 'cli')
      .map(({ line }) => `${path}:${line} reads process.env: only cli/ may`)
    return [...opened, ...env]
  })

const IMPURE =
  /^(Date\.now|performance\.now|Math\.random|process\..*|new Date\(\)|await|random(UUID|Bytes|Int)\(\)|set(Timeout|Interval|Immediate)\(\))$/

export const purity: Check = (sources) =>
  ofSrc(sources)
    .filter(({ path }) => PURE.test(inSrc(path)) && !IMPURE_ACTORS.includes(inSrc(path)))
    .flatMap(({ path, uses }) =>
      uses.filter(({ what }) => IMPURE.test(what)).map(({ what, line }) => `${path}:${line} is pure but uses ${what}`),
    )

/** Rooms that may ask deciders through a draft. */
const ASKS_BY_DRAFT: ReadonlySet<string> = new Set(['actors', 'services'])
export const deciders: Check = (sources) =>
  ofSrc(sources)
    .filter(({ path }) => !SHELL.test(inSrc(path)))
    .flatMap(({ path, uses }) =>
      uses
        .filter(({ what }) => what === '.decide()' || (what === 'draft.decide()' && !ASKS_BY_DRAFT.has(roomOf(path))))
        .map(({ line }) => `${path}:${line} calls a decider: only the shell may`),
    )

export const fileLength: Check = (sources) =>
  byHand(sources).flatMap(({ path, lines }) => {
    const wall = path.startsWith('test/') ? BUDGET.testFileLines : BUDGET.fileLines
    return lines > wall ? [`${path} has ${lines} lines, more than ${wall}`] : []
  })

const COMMENT = /^\s*(?:\/\/|\/\*\*|\*) /
/** The formatter leaves comments alone. What a digest of a release covers stays as it is. */
export const commentWidth: Check = (sources) =>
  byHand(sources).flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, at) =>
        line.length > BUDGET.columns && COMMENT.test(line)
          ? [`${path}:${at + 1} is a comment with more than ${BUDGET.columns} columns`]
          : [],
      ),
  )

export const medianLength = (sources: readonly Source[]): number => {
  const lengths = byHand(ofSrc(sources))
    .map(({ lines }) => lines)
    .toSorted((a, b) => a - b)
  return lengths[lengths.length >> 1] ?? 0
}

export const functionShape: Check = (sources) =>
  byHand(ofSrc(sources)).flatMap(({ path, functions }) =>
    functions.flatMap(({ name, line, lines, nesting }) => [
      ...(lines > BUDGET.functionLines
        ? [`${path}:${line} ${name} has ${lines} lines, more than ${BUDGET.functionLines}`]
        : []),
      ...(nesting > BUDGET.nesting
        ? [`${path}:${line} ${name} nests ${nesting} deep, more than ${BUDGET.nesting}`]
        : []),
    ]),
  )

export const upwards: Check = (sources) =>
  ofSrc(sources).flatMap(({ path, imports }) =>
    imports
      .filter(({ specifier }) => specifier.split('../').length - 1 > BUDGET.up)
      .map(({ specifier, line }) => `${path}:${line} climbs too far: ${specifier}`),
  )

export const orphans: Check = (sources) => {
  const wanted = new Set([...fileGraph(sources)].flatMap(([from, targets]) => targets.filter((to) => to !== from)))
  return byHand(ofSrc(sources))
    .filter(({ path }) => !wanted.has(path) && !path.endsWith('.d.ts'))
    .map(({ path }) => `${path} is imported by nothing`)
}

/** Spelled apart, so that the rule does not find itself. */
const LEFTOVER = new RegExp(
  `\\b(${['TO', 'FIX', 'XX', 'HA'].map((start, n) => start + ['DO', 'ME', 'X', 'CK'][n]).join('|')})\\b`,
)

export const leftovers: Check = (sources) =>
  sources.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => (LEFTOVER.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
  )

/** What the lean room loads: its imports that survive type stripping, and those it makes while it runs. */
export const lean: Check = (sources) => {
  const graph = fileGraph(ofSrc(sources), ({ kind }) => kind !== 'type')
  const starts = [...graph.keys()].filter((path) => roomOf(path) === LEAN.room)
  const loaded = new Set(starts.flatMap((start) => [...reach(graph, start)]))
  return ofSrc(sources)
    .filter(({ path }) => loaded.has(path))
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ kind, specifier }) => kind !== 'type' && LEAN.without.test(libraryOf(specifier)))
        .map(({ specifier, line }) => `${LEAN.room}/ loads ${specifier} through ${path}:${line}`),
    )
}

/** Modules of ours are handed in, not patched. */
export const mocks: Check = (sources) =>
  sources.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) => (/\bvi\.(do)?[mM]ock\(/.test(line) ? [`${path}:${index + 1} patches a module`] : [])),
  )
