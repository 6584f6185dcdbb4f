/** Which test files run which functions: recorded once, by a run of all tests over a copy of the program whose functions note that they run. */
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readFolder } from '../tidy/source.ts'
import { endAll, environmentOf } from './leftovers.ts'
import type { Mutant } from './mutants.ts'
import { innermost, probed, type Span } from './probes.ts'
import { type Hits, RECORDING } from './recording.ts'

/** Whether the test file runs the function that the mutant is in; also where that is not known. */
export type Covers = (test: string, mutant: Mutant) => boolean

const LIMIT_MS = 30 * 60_000
const LOADED_FIRST = fileURLToPath(new URL('hits.ts', import.meta.url))

/** The functions of each file, and the number of its first. */
type Numbered = ReadonlyMap<string, { readonly first: number; readonly functions: readonly Span[] }>
const withProbes = (tree: string): Numbered => {
  const numbered = new Map<string, { readonly first: number; readonly functions: readonly Span[] }>()
  let first = 0
  for (const { path, text } of readFolder(tree, 'src')) {
    const { text: noting, functions } = probed(path, text, first)
    writeFileSync(join(tree, path), noting)
    numbered.set(path, { first, functions })
    first += functions.length
  }
  return numbered
}

const readHits = (folder: string): ReadonlyMap<string, ReadonlySet<number>> => {
  const found = new Map<string, Set<number>>()
  for (const name of readdirSync(folder))
    for (const line of readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean)) {
      const { file, functions } = JSON.parse(line) as Hits
      const known = found.get(file) ?? new Set<number>()
      for (const one of functions) known.add(one)
      found.set(file, known)
    }
  return found
}

/** A test may fail in it: all that counts is what has run. */
const runTests = (tree: string, folder: string, stop: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run'], {
      cwd: tree,
      env: {
        ...environmentOf(tree),
        [RECORDING.folder]: folder,
        NODE_OPTIONS: `--import=${LOADED_FIRST}`,
      },
      stdio: 'ignore',
      timeout: LIMIT_MS,
      signal: stop,
      killSignal: 'SIGKILL',
    })
    child.once('error', (error) => (stop.aborted ? resolve() : reject(error)))
    child.once('exit', () => resolve())
  })

/** `tree`: a copy of its own, which is of no other use afterwards. */
export const recordCoverage = async (tree: string, stop: AbortSignal): Promise<Covers> => {
  const folder = join(tree, 'tmp', 'hits')
  mkdirSync(folder, { recursive: true })
  const numbered = withProbes(tree)
  await runTests(tree, folder, stop)
  endAll(tree)
  const hits = readHits(folder)
  if (hits.size === 0 && !stop.aborted) throw new Error(`no test file was recorded in ${folder}`)
  return (test, { path, start }) => {
    const [own, known] = [hits.get(test), numbered.get(path)]
    const at = known === undefined ? -1 : innermost(known.functions, start)
    return own === undefined || at < 0 || own.has(known!.first + at)
  }
}
