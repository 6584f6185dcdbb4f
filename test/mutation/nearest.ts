/** The test files that reach a source file by what they load, nearest first. */
import { posix } from 'node:path'
import { type Source, target } from '../tidy/source.ts'

type Loaders = ReadonlyMap<string, readonly { readonly path: string; readonly steps: number }[]>
/** A part that is loaded later is far from the test that does so. */
const STEPS = { value: 1, lazy: 5 }
/** Who loads a file; what is imported only as a type is not loaded. */
export const loadersOf = (sources: readonly Source[]): Loaders => {
  const loaders = new Map<string, { path: string; steps: number }[]>()
  for (const { path, imports } of sources)
    for (const { specifier, kind } of imports) {
      const to = target(path, specifier)
      if (to !== null && kind !== 'type') loaders.set(to, [...(loaders.get(to) ?? []), { path, steps: STEPS[kind] }])
    }
  return loaders
}

/** `arqs.test.ts` and `src/actors/arq/decider.ts` are of the same noun. */
const words = (path: string): readonly string[] =>
  path
    .replace(/(\.test)?\.ts$/, '')
    .split(/\/|(?<=[a-z])(?=[A-Z])/)
    .slice(1)
    .map((word) => word.toLowerCase().replace(/s$/, ''))
const SAME_WORD = 2.5
const nearness = (path: string, test: string, distance: number): number => {
  const own = new Set(words(path))
  return distance - SAME_WORD * new Set(words(test).filter((word) => own.has(word))).size
}

/** Steps to a file from each file that loads it. */
const distancesTo = (loaders: Loaders, path: string): ReadonlyMap<string, number> => {
  const distances = new Map([[path, 0]])
  const open = [path]
  for (const at of open)
    for (const { path: loader, steps } of loaders.get(at) ?? []) {
      const distance = distances.get(at)! + steps
      if (distance >= (distances.get(loader) ?? Infinity)) continue
      distances.set(loader, distance)
      open.push(loader)
    }
  return distances
}

export const nearestTests = (loaders: Loaders, path: string, isTest: (path: string) => boolean): readonly string[] =>
  [...distancesTo(loaders, path)]
    .filter(([file]) => isTest(file))
    .map(([file, distance]) => ({ file, far: nearness(path, file, distance) }))
    .toSorted((a, b) => a.far - b.far || (a.file < b.file ? -1 : 1))
    .map(({ file }) => file)

/** What `npm test` runs, by the patterns of its configuration. */
export const testFilter =
  (include: readonly string[], exclude: readonly string[]) =>
  (path: string): boolean =>
    include.some((pattern) => posix.matchesGlob(path, pattern)) &&
    !exclude.some((pattern) => posix.matchesGlob(path, pattern))
