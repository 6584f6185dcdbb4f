/**
 * What the map (ARCHITECTURE.md) has to say of the tree: each room with what it may import, and the folders of the two
 * largest ones.
 */
import { MAP, MAY_IMPORT, ROOMS, type Room } from './rules.ts'
import type { Source } from './source.ts'

/** The entries of the map's lists, each in one line. */
const entriesOf = (map: string): readonly string[] =>
  map
    .split(/^(?=\* |#)/m)
    .filter((part) => part.startsWith('* '))
    .map((part) => part.split('\n\n')[0]!.replaceAll(/\s+/g, ' '))

const headOf = (room: Room): string => {
  const others = MAY_IMPORT[room].filter((name) => name !== room)
  const may = MAY_IMPORT[room].length === ROOMS.length ? 'all' : others.join(', ') || '-'
  return `* \`${room}/\` ← ${may}: `
}

const foldersOf = (sources: readonly Source[], room: string): readonly string[] => [
  ...new Set(sources.flatMap(({ path }) => new RegExp(`^src/${room}/(\\w+)/`).exec(path)?.[1] ?? [])),
]

export const mapped = (sources: readonly Source[], map: string): readonly string[] => {
  const entries = entriesOf(map)
  const entryOf = (room: Room) => entries.find((entry) => entry.startsWith(headOf(room)))
  const lines = map.trimEnd().split('\n')
  return [
    ...ROOMS.filter((room) => entryOf(room) === undefined).map(
      (room) => `the map has no entry '${headOf(room).trim()}'`,
    ),
    ...MAP.withFolders.flatMap((room) =>
      foldersOf(sources, room)
        .filter((folder) => entryOf(room)?.includes(`\`${folder}/\``) === false)
        .map((folder) => `the map does not name ${room}/${folder}/`),
    ),
    ...(lines.length > MAP.lines ? [`the map has ${lines.length} lines, more than ${MAP.lines}`] : []),
    ...lines.flatMap((line, at) =>
      line.length > MAP.columns
        ? [`line ${at + 1} of the map has ${line.length} columns, more than ${MAP.columns}`]
        : [],
    ),
  ]
}
