/** The test files that reach a source file by what they load, nearest first. */
import { posix } from 'node:path'
import { type Source, target } from '../tidy/source.ts'

type Loader = { readonly path: string; readonly steps: number }
export type Loaders = ReadonlyMap<string, readonly Loader[]>
/**
 * A program that is started, or a part that is loaded later, is far from the test that does so, and such tests are
 * slow.
 */
const STEPS = { value: 1, lazy: 5 }
/** Who loads a file; what is imported only as a type is not loaded. */
export const loadersOf = (sources: readonly Source[]): Loaders => {
  const loaders = new Map<string, Loader[]>()
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

/** Tests that start the program as a process of its own take their time. */
const PROGRAM = 'bin/accelerando.js'
const STARTS_PROGRAM = 6
/**
 * All tests of a service load it through the same few files: which of them is about it shows in the words that they
 * share.
 */
const SAME_WORDS = 6
/** `alike`: how much a test file has in common with the file, from 0 to 1. */
export const nearestTests = (
  loaders: Loaders,
  path: string,
  isTest: (path: string) => boolean,
  alike: ReadonlyMap<string, number> = new Map(),
): readonly string[] => {
  const starting = distancesTo(loaders, PROGRAM)
  return [...distancesTo(loaders, path)]
    .filter(([file]) => isTest(file))
    .map(([file, distance]) => ({
      file,
      far:
        nearness(path, file, distance) +
        (starting.has(file) ? STARTS_PROGRAM : 0) -
        SAME_WORDS * (alike.get(file) ?? 0),
    }))
    .toSorted((a, b) => a.far - b.far || (a.file < b.file ? -1 : 1))
    .map(({ file }) => file)
}

/** What `npm test` runs, by the patterns of its configuration. */
export const testFilter =
  (include: readonly string[], exclude: readonly string[]) =>
  (path: string): boolean =>
    include.some((pattern) => posix.matchesGlob(path, pattern)) &&
    !exclude.some((pattern) => posix.matchesGlob(path, pattern))
