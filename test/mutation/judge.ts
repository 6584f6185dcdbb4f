/** What becomes of one mutant: it does not compile, a test notices it, or the nearest tests all pass. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Mutant, applied } from './mutants.ts'
import type { Failure, Tests } from './tests.ts'
import { TYPES_FILE, withText } from './tree.ts'

export type Verdict =
  | { readonly mutant: Mutant; readonly verdict: 'noticed'; readonly by: string }
  | { readonly mutant: Mutant; readonly verdict: 'survived' | 'discarded' }
export type Judge = {
  /** Test files, those first that are the most likely to notice it. */
  readonly nearest: (mutant: Mutant) => readonly string[]
  /** How long a test file takes, as far as it is known before it has run here. */
  readonly expectedMs: (test: string) => number | null
  /** So many test files are run for a mutant, and so long together, as is expected or was measured. */
  readonly filesMax: number
  readonly budgetMs: number
  readonly stop: AbortSignal
}

const TYPES_LIMIT_MS = 300_000
const compiles = (tree: string, stop: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const args = ['node_modules/typescript/bin/tsc', '-p', TYPES_FILE]
    execFile(process.execPath, args, { cwd: tree, timeout: TYPES_LIMIT_MS, signal: stop }, (error) => resolve(!error))
  })

const FIRST_STAGE = 1
/** The nearest alone, and then twice as many each time: most mutants are noticed by the first. */
const stagesOf = (files: readonly string[]): readonly (readonly string[])[] => {
  const stages: (readonly string[])[] = []
  for (let [at, size] = [0, FIRST_STAGE]; at < files.length; at += size, size *= 2)
    stages.push(files.slice(at, at + size))
  return stages
}

/** For a file of which nothing is known. */
const UNKNOWN_MS = 20_000
/** The nearest few are asked first; of the others the quick ones before the slow ones. */
const NEAREST = 4
const SLOW_MS = 3000
/**
 * The files to ask, best first: as many as fit into the budget. `msOf`: null where nothing is known, as of a file that
 * the recording has left out because it is long; these come last.
 */
export const affordable = (
  files: readonly string[],
  msOf: (file: string) => number | null,
  budgetMs: number,
): readonly string[] => {
  const known = files.filter((file) => msOf(file) !== null)
  const isQuick = (file: string, n: number): boolean => n < NEAREST || msOf(file)! <= SLOW_MS
  const slow = known.filter((file, n) => !isQuick(file, n))
  let left = budgetMs
  return [...known.filter(isQuick), ...slow, ...files.filter((file) => msOf(file) === null)].filter((file) => {
    const ms = msOf(file) ?? UNKNOWN_MS
    if (ms > left) return false
    left -= ms
    return true
  })
}

type Noticed = Failure & { readonly asked: readonly string[] }
const byTests = async (mutant: Mutant, tests: Tests, judge: Judge): Promise<Noticed | null> => {
  const { nearest, filesMax, expectedMs, budgetMs, stop } = judge
  const usable = nearest(mutant).filter((file) => tests.msOf(file) !== null)
  const msOf = (file: string): number | null => tests.msOf(file) ?? expectedMs(file)
  for (const asked of stagesOf(affordable(usable, msOf, budgetMs).slice(0, filesMax))) {
    if (stop.aborted) return null
    const failure = await tests.failureOf(asked, mutant.path)
    if (failure !== null) return { ...failure, asked }
  }
  return null
}

/** A test that fails also on the unchanged program has noticed nothing: the mutant is judged anew, without it. */
export const judged = async (tree: string, mutant: Mutant, tests: Tests, judge: Judge): Promise<Verdict> => {
  const file = join(tree, mutant.path)
  const found = await withText(file, applied(readFileSync(file, 'utf8'), mutant), async () =>
    (await compiles(tree, judge.stop)) ? byTests(mutant, tests, judge) : ('discarded' as const),
  )
  if (found === 'discarded') return { mutant, verdict: 'discarded' }
  if (found === null) return { mutant, verdict: 'survived' }
  const doubted = found.file === null ? found.asked : [found.file]
  if (!(await tests.passAgain(doubted, mutant.path))) return judged(tree, mutant, tests, judge)
  return { mutant, verdict: 'noticed', by: found.file === null ? found.how : `${found.file}: ${found.how}` }
}
