/** Small faults are planted in copies of the program, one at a time, and its tests are to notice them. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { random } from '../kill/random.ts'
import { GENERATED } from '../tidy/rules.ts'
import { readFolder } from '../tidy/source.ts'
import { type Mutant, applied, mutantsOf } from './mutants.ts'
import { loadersOf, nearestTests, testFilter } from './nearest.ts'
import { type Runner, failureOf, makeRunner } from './runs.ts'
import { TYPES_FILE, makeTrees, withText } from './tree.ts'

export type Verdict = {
  readonly mutant: Mutant
  /** `discarded`: it does not compile. */
  readonly verdict: 'noticed' | 'survived' | 'discarded'
  readonly by: string | null
}
export type Wanted = {
  readonly root: string
  /** Files, folders or patterns; a file may name a line: `src/vocabulary/clock.ts:12`. None: all of `src`. */
  readonly only: readonly string[]
  readonly count: number
  readonly seed: number
  readonly workers: number
  readonly filesMax: number
  readonly onlyTests: string
  readonly note: (verdict: Verdict) => void
  readonly stop: AbortSignal
}

const isIn = (only: readonly string[], { path, line }: Mutant): boolean =>
  only.length === 0 ||
  only.some((one) => {
    const [name, at] = one.split(':')
    const there = path === name || path.startsWith(`${name!.replace(/\/$/, '')}/`) || matchesGlob(path, name!)
    return there && (at === undefined || Number(at) === line)
  })

export const possible = ({ root, only }: Pick<Wanted, 'root' | 'only'>): readonly Mutant[] =>
  readFolder(root, 'src')
    .filter(({ path, text }) => !GENERATED.path.test(path) && !text.split('\n')[0]!.includes(GENERATED.mark))
    .flatMap(({ path, text }) => mutantsOf(path, text).filter((mutant) => isIn(only, mutant)))

const drawn = (mutants: readonly Mutant[], { count, seed }: Pick<Wanted, 'count' | 'seed'>): readonly Mutant[] => {
  const [chance, left] = [random(seed), [...mutants]]
  return Array.from(
    { length: Math.min(count, left.length) },
    () => left.splice(chance.between(0, left.length - 1), 1)[0]!,
  )
}

/** They would only hold it up: they install clients, start whole clouds, or wait for databases that are killed. */
const NOT_ASKED = ['test/clients/**', 'test/mutation/**', 'test/rig/**', 'test/persistence/{failover,outage}.test.ts']

type Config = { readonly INCLUDE: readonly string[]; readonly EXCLUDE: readonly string[] }
const nearestOf = async ({ root, onlyTests, filesMax }: Wanted) => {
  const { INCLUDE: include, EXCLUDE: exclude } = (await import(join(root, 'vitest.config.ts'))) as Config
  const loaders = loadersOf(['src', 'test'].flatMap((folder) => readFolder(root, folder)))
  const isAsked = testFilter(include, [...exclude, ...NOT_ASKED])
  const isTest = (path: string): boolean => isAsked(path) && path.includes(onlyTests)
  return ({ path }: Mutant) => nearestTests(loaders, path, isTest).slice(0, filesMax)
}
type Nearest = Awaited<ReturnType<typeof nearestOf>>

const TYPES_LIMIT_MS = 300_000
const compiles = (tree: string, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const args = ['node_modules/typescript/bin/tsc', '-p', TYPES_FILE]
    execFile(process.execPath, args, { cwd: tree, timeout: TYPES_LIMIT_MS, signal }, (error) => resolve(!error))
  })

/** The nearest alone, and then twice as many each time: most faults are noticed by the first. */
const stagesOf = (files: readonly string[]): readonly (readonly string[])[] => {
  const stages: (readonly string[])[] = []
  for (let [at, size] = [0, 1]; at < files.length; at += size, size *= 2) stages.push(files.slice(at, at + size))
  return stages
}

type Work = { readonly tree: string; readonly runner: Runner; readonly nearest: Nearest; readonly stop: AbortSignal }
/** Files that fail on the unchanged program too, so that their failure says nothing; and those that pass there. */
type Known = { readonly useless: Set<string>; readonly trusted: Set<string> }

const judged = async (mutant: Mutant, work: Work, known: Known): Promise<Verdict> => {
  const { tree, runner, nearest, stop } = work
  const file = join(tree, mutant.path)
  const usable = nearest(mutant).filter((one) => !known.useless.has(one))
  const found = await withText(file, applied(readFileSync(file, 'utf8'), mutant), async () => {
    for (const asked of stagesOf(usable)) {
      const failure = failureOf(await runner.run(asked, mutant.path), asked)
      if (failure !== null) return failure
    }
    return (await compiles(tree, stop)) ? 'survived' : 'discarded'
  })
  if (typeof found === 'string') return { mutant, verdict: found, by: null }
  const doubted = found.files.filter((one) => !known.trusted.has(one))
  for (const one of doubted)
    if (failureOf(await runner.run([one], mutant.path), [one]) === null) known.trusted.add(one)
    else known.useless.add(one)
  const isTrue = stop.aborted || found.files.every((one) => known.trusted.has(one))
  return isTrue ? { mutant, verdict: 'noticed', by: found.how } : judged(mutant, work, known)
}

export const mutate = async (wanted: Wanted): Promise<readonly Verdict[]> => {
  const { root, workers, note, stop } = wanted
  const queue = [...drawn(possible(wanted), wanted)]
  const nearest = await nearestOf(wanted)
  const [trees, known] = [makeTrees(root), { useless: new Set<string>(), trusted: new Set<string>() }]
  const verdicts: Verdict[] = []
  const work = async (tree: string): Promise<void> => {
    const runner = makeRunner(tree, stop)
    for (let mutant = queue.shift(); mutant !== undefined && !stop.aborted; mutant = queue.shift()) {
      const verdict = await judged(mutant, { tree, runner, nearest, stop }, known)
      if (stop.aborted) break
      verdicts.push(verdict)
      note(verdict)
    }
    runner.end()
  }
  try {
    await Promise.all(Array.from({ length: workers }, (_, n) => work(trees.copy(`mutated-${n + 1}`))))
  } finally {
    trees.remove()
  }
  return verdicts
}
