/** Cycles and reach in the graph of imports. */
import type { Import, Source } from './source.ts'
import { target } from './source.ts'

export type Graph = ReadonlyMap<string, readonly string[]>

export const fileGraph = (sources: readonly Source[], wanted: (each: Import) => boolean = () => true): Graph =>
  new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.filter(wanted).flatMap(({ specifier }) => target(path, specifier) ?? []),
    ]),
  )

export const grouped = (graph: Graph, groupOf: (path: string) => string): Graph => {
  const groups = new Map<string, Set<string>>()
  for (const [from, targets] of graph) {
    const group = groups.get(groupOf(from)) ?? new Set()
    for (const to of targets) if (groupOf(to) !== groupOf(from)) group.add(groupOf(to))
    groups.set(groupOf(from), group)
  }
  return new Map([...groups].map(([from, targets]) => [from, [...targets]]))
}

/** What the children of a folder import of each other: its files, and each of its folders as one. */
export const children = (graph: Graph, parent: string): Graph => {
  const below = (path: string): boolean => path.startsWith(`${parent}/`)
  const childOf = (path: string): string => path.slice(parent.length + 1).split('/', 1)[0]!
  const inside = new Map([...graph].filter(([path]) => below(path)).map(([path, to]) => [path, to.filter(below)]))
  return grouped(inside, childOf)
}

export const reach = (graph: Graph, from: string): ReadonlySet<string> => {
  const seen = new Set<string>()
  const open = [from]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (seen.has(at)) continue
    seen.add(at)
    open.push(...(graph.get(at) ?? []))
  }
  return seen
}

const pathBetween = (graph: Graph, from: string, to: string, seen: Set<string>): readonly string[] | null => {
  for (const next of graph.get(from) ?? []) {
    if (next === to) return [from, to]
    if (seen.has(next)) continue
    seen.add(next)
    const rest = pathBetween(graph, next, to, seen)
    if (rest !== null) return [from, ...rest]
  }
  return null
}

/** One way round for each knot, written `a -> b -> a`. */
export const cycles = (graph: Graph): readonly string[] => {
  const told = new Set<string>()
  return [...graph.keys()].flatMap((start) => {
    if (told.has(start)) return []
    const way = pathBetween(graph, start, start, new Set())
    for (const each of way ?? []) told.add(each)
    return way === null ? [] : [way.join(' -> ')]
  })
}
