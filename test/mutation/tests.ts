/**
 * Runs test files in a copy of the repository, and believes a failure only of a file that passes again when nothing is
 * changed.
 */
import { availableParallelism, loadavg } from 'node:os'
import { type Ran, type Runner, makeRunner } from './runs.ts'

/** What starting and loading may take, besides the tests themselves. */
const START_MS = 15_000
/** For a file whose time is not known yet; one that needs more is left out. */
const UNKNOWN_MS = 20_000
const SLOWER = 5
/** Who shares the machine with others gets so many times as long. */
const busy = (): number => Math.max(1, loadavg()[0]! / availableParallelism())

/**
 * How long a file takes where nothing is changed, as far as is known; null: it cannot be used. All workers learn
 * together.
 */
export type Times = Map<string, number | null>

/** `file` is null when the run has no end, or ended before it could tell. */
export type Failure = { readonly file: string | null; readonly how: string }
export type Tests = {
  /** How long it took here at last; undefined: it has not run yet, null: it cannot be used. */
  readonly msOf: (file: string) => number | null | undefined
  /**
   * By what these files notice that something is wrong in the tree; null when they all pass. `changed`: whose text is
   * new.
   */
  readonly failureOf: (files: readonly string[], changed: string) => Promise<Failure | null>
  /**
   * Of files that failed, whether they pass where the text is as it was. Those that do not are left out from now on.
   */
  readonly passAgain: (files: readonly string[], restored: string) => Promise<boolean>
  readonly end: () => void
}

/**
 * By what a run noticed something; null when every file of it passed. A file that was asked for and tells of no test
 * has not been run, whatever the reason: that is no pass.
 */
export const failed = ({ files, unhandled, late }: Ran, asked: readonly string[], limitMs: number): Failure | null => {
  if (late) return { file: null, how: `no end within ${Math.round(limitMs / 1000)} s` }
  const bad = files.find(({ failed: test, state }) => test !== null || state === 'failed')
  if (bad) return { file: bad.file, how: bad.failed ?? 'it cannot be loaded' }
  if (unhandled !== null) return { file: null, how: `the run failed: ${unhandled}` }
  const ran = new Set(files.filter(({ state }) => state === 'passed' || state === 'skipped').map(({ file }) => file))
  const missing = asked.find((file) => !ran.has(file))
  return missing === undefined ? null : { file: null, how: `${missing} was not run` }
}

export const makeTests = (tree: string, times: Times, warn: (line: string) => void, stop: AbortSignal): Tests => {
  const runner: Runner = makeRunner(tree, stop)
  const limitOf = (files: readonly string[]) =>
    busy() *
    (START_MS + files.reduce((sum, file) => sum + (times.has(file) ? SLOWER * (times.get(file) ?? 0) : UNKNOWN_MS), 0))
  /** The file of the last run: its text may have been put back since. */
  let last = ''
  const attemptOnce = async (files: readonly string[], changed: string): Promise<Failure | null> => {
    const limitMs = limitOf(files)
    const ran = await runner.run({ files, changed: [last, changed] }, limitMs)
    last = changed
    const failure = failed(ran, files, limitMs)
    if (failure === null) for (const { file, ms, state } of ran.files) if (state === 'passed') times.set(file, ms)
    return failure
  }
  /**
   * A failure that no test tells of may come from the process of the tests, which has run others before. It counts only
   * when a new process ends in the same way.
   */
  const attempt = async (files: readonly string[], changed: string): Promise<Failure | null> => {
    const failure = await attemptOnce(files, changed)
    if (failure === null || failure.file !== null || stop.aborted) return failure
    runner.end()
    return attemptOnce(files, changed)
  }
  /** Each run has a worker of its own, so one that has passed here once is not doubted again. */
  const trusted = new Set<string>()
  const passAgain: Tests['passAgain'] = async (files, restored) => {
    let all = true
    for (const file of files.filter((one) => !trusted.has(one))) {
      trusted.add(file)
      if ((await attempt([file], restored)) === null) continue
      // what an earlier fault left in the process of the tests is gone with it
      runner.end()
      const failure = await attempt([file], restored)
      if (stop.aborted || failure === null) continue
      all = false
      trusted.delete(file)
      times.set(file, null)
      warn(`${file} is left out: on the unchanged program ${failure.how}`)
    }
    return all
  }
  return {
    msOf: (file) => times.get(file),
    failureOf: attempt,
    passAgain,
    end: () => runner.end(),
  }
}
