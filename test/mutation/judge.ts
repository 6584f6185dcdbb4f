/** What becomes of one mutant: it does not compile, a test notices it, or the nearest tests all pass. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from './command.ts'
import { type Mutant, applied } from './mutants.ts'
import type { Tests } from './tests.ts'
import { TYPES_FILE, withText } from './tree.ts'

export type Verdict =
  | { readonly mutant: Mutant; readonly verdict: 'noticed'; readonly by: string }
  | { readonly mutant: Mutant; readonly verdict: 'survived' | 'discarded' }
export type Judge = {
  /** Test files, those first that are the most likely to notice it. */
  readonly nearest: (mutant: Mutant) => readonly string[]
  readonly tests: Tests
  /** So many test files are run for a mutant, and so long, as measured where they passed. */
  readonly filesMax: number
  readonly budgetMs: number
  readonly stop: AbortSignal
}

const TYPES_LIMIT_MS = 300_000
const compiles = async (tree: string, stop: AbortSignal): Promise<boolean> => {
  const args: readonly [string, ...string[]] = [process.execPath, 'node_modules/typescript/bin/tsc', '-p', TYPES_FILE]
  return (await runCommand({ args, folder: tree, limitMs: TYPES_LIMIT_MS, stop })).code === 0
}

const FIRST_STAGE = 2
/** The nearest few alone, and then twice as many each time: most mutants are noticed by the first. */
const stagesOf = (files: readonly string[]): readonly (readonly string[])[] => {
  const stages: (readonly string[])[] = []
  for (let [at, size] = [0, FIRST_STAGE]; at < files.length; at += size, size *= 2)
    stages.push(files.slice(at, at + size))
  return stages
}

const byTests = async (tree: string, mutant: Mutant, judge: Judge): Promise<string | null> => {
  const { tests, nearest, filesMax, stop } = judge
  let left = judge.budgetMs
  for (const stage of stagesOf(nearest(mutant).slice(0, filesMax))) {
    const files = stage.filter((file) => {
      const ms = tests.msOf(file)
      return ms !== null && ms <= left
    })
    if (stop.aborted || left <= 0) return null
    const by = files.length === 0 ? null : await tests.noticedBy(tree, files)
    if (by !== null) return by
    for (const file of files) left -= tests.msOf(file) ?? 0
  }
  return null
}

export const judged = (tree: string, mutant: Mutant, judge: Judge): Promise<Verdict> => {
  const file = join(tree, mutant.path)
  return withText(file, applied(readFileSync(file, 'utf8'), mutant), async () => {
    if (!(await compiles(tree, judge.stop))) return { mutant, verdict: 'discarded' }
    const by = await byTests(tree, mutant, judge)
    return by === null ? { mutant, verdict: 'survived' } : { mutant, verdict: 'noticed', by }
  })
}
