/**
 * Which test files run which functions: recorded once, by a run of all tests over a copy of the program whose functions
 * note that they run. A recording can be kept in a file for further samples: a test or source file that has changed
 * since counts as unknown.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import { readFolder } from '../tidy/source.ts'
import { endAll, environmentOf } from './leftovers.ts'
import type { Mutant } from './mutants.ts'
import { innermost, probed, type Span } from './probes.ts'
import { type Hits, RECORDING } from './recording.ts'

/** Whether the test file runs the function that the mutant is in; also where that is not known. */
export type Covers = (test: string, mutant: Mutant) => boolean

const REPORT = 'report.json'
const LIMIT_MS = 30 * 60_000
const LOADED_FIRST = fileURLToPath(new URL('hits.ts', import.meta.url))

/**
 * Of each source file: its functions and the number of its first. Of each test file: the numbers of the functions that
 * it runs, and how long it took.
 */
export type Recording = {
  readonly milliseconds: Readonly<Record<string, number>>
  readonly digests: Readonly<Record<string, string>>
  readonly sources: Readonly<Record<string, { readonly first: number; readonly functions: readonly Span[] }>>
  readonly tests: Readonly<Record<string, readonly number[]>>
}
const digestsOf = (root: string): Recording['digests'] =>
  Object.fromEntries(
    ['src', 'test'].flatMap((folder) =>
      readFolder(root, folder).map(({ path, text }) => [path, createHash('sha256').update(text).digest('hex')]),
    ),
  )

const withProbes = (tree: string): Recording['sources'] => {
  const numbered: Record<string, Recording['sources'][string]> = {}
  let first = 0
  for (const { path, text } of readFolder(tree, 'src')) {
    const { text: noting, functions } = probed(path, text, first)
    writeFileSync(join(tree, path), noting)
    numbered[path] = { first, functions }
    first += functions.length
  }
  return numbered
}

const readHits = (folder: string): Recording['tests'] => {
  const found = new Map<string, Set<number>>()
  for (const name of readdirSync(folder).filter((one) => one !== REPORT))
    for (const line of readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean)) {
      const { file, functions } = JSON.parse(line) as Hits
      const known = found.get(file) ?? new Set<number>()
      for (const one of functions) known.add(one)
      found.set(file, known)
    }
  return Object.fromEntries([...found].map(([file, functions]) => [file, [...functions]]))
}

const Report = v.object({
  testResults: v.array(v.object({ name: v.string(), startTime: v.number(), endTime: v.number() })),
})
/** `file`: what vitest's reporter for machines has written; the run may have been stopped before. */
const readTimes = (tree: string, file: string): Recording['milliseconds'] => {
  if (!existsSync(file)) return {}
  const { testResults } = v.parse(Report, JSON.parse(readFileSync(file, 'utf8')))
  return Object.fromEntries(
    testResults.map(({ name, startTime, endTime }) => [relative(tree, name), Math.round(endTime - startTime)]),
  )
}

/** A test may fail in it: all that counts is what has run. */
const runTests = (tree: string, folder: string, stop: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json', `--outputFile=${join(folder, REPORT)}`],
      {
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
      },
    )
    child.once('error', (error) => (stop.aborted ? resolve() : reject(error)))
    child.once('exit', () => resolve())
  })

/** `tree`: a copy of its own, which is of no other use afterwards. */
export const recordCoverage = async (tree: string, stop: AbortSignal): Promise<Recording> => {
  const folder = join(tree, 'tmp', 'hits')
  mkdirSync(folder, { recursive: true })
  const digests = digestsOf(tree)
  const sources = withProbes(tree)
  await runTests(tree, folder, stop)
  endAll(tree)
  const tests = readHits(folder)
  if (Object.keys(tests).length === 0 && !stop.aborted) throw new Error(`no test file was recorded in ${folder}`)
  return { digests, sources, tests, milliseconds: readTimes(tree, join(folder, REPORT)) }
}

/** What is kept in the file; where there is no file, what is recorded now, which is then kept there. */
export const keptRecording = async (
  file: string,
  record: () => Promise<Recording>,
  stop: AbortSignal,
): Promise<Recording> => {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Recording
  const recording = await record()
  if (!stop.aborted) writeFileSync(file, JSON.stringify(recording))
  return recording
}

/** How long a test file took when everything was recorded; null where that is not known. */
export const recordedTimes = ({ milliseconds = {} }: Partial<Recording>): ((test: string) => number | null) => {
  const known = new Map(Object.entries(milliseconds))
  // one that was cut off has no times: every file counts as quick
  if (known.size === 0) return () => 0
  return (test) => known.get(test) ?? null
}

/**
 * `root`: the repository as it is now. Helpers of a test are not looked at: what they changed is known after the next
 * recording. What runs while modules are loaded concerns every test that loads them.
 */
export const coverageOf = (recording: Recording, root: string): Covers => {
  const now = digestsOf(root)
  const isSame = (path: string): boolean => now[path] === recording.digests[path]
  const hits = new Map(
    Object.entries(recording.tests).flatMap(([path, ran]) => (isSame(path) ? [[path, new Set(ran)] as const] : [])),
  )
  const loaded = new Set(recording.tests[RECORDING.loading])
  return (test, { path, start }) => {
    const own = hits.get(test)
    const known = isSame(path) ? recording.sources[path] : undefined
    const at = known === undefined ? -1 : innermost(known.functions, start)
    return own === undefined || at < 0 || own.has(known!.first + at) || loaded.has(known!.first + at)
  }
}
