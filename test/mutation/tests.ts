/** Runs test files in a copy of the repository, and believes a failure only of a file that passes where nothing was changed. */
import { readFileSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join, relative } from 'node:path'
import { type Ended, runCommand } from './command.ts'

type Report = {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly startTime: number
    readonly endTime: number
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}
type Ran = Ended & { readonly report: Report | null }

const REPORT = 'tmp/report.json'
/** What starting and loading may take, besides the tests themselves. */
const START_MS = 10_000
/** For a file whose time is not known yet; one that needs more is left out. */
const UNKNOWN_MS = 20_000
const SLOWER = 5
/** Who shares the machine with others gets so many times as long. */
const busy = (): number => Math.max(1, loadavg()[0]! / availableParallelism())

const runTests = async (tree: string, files: readonly string[], limitMs: number, stop: AbortSignal): Promise<Ran> => {
  const options = ['--bail=1', '--maxWorkers=1', '--reporter=json', `--outputFile=${REPORT}`]
  rmSync(join(tree, REPORT), { force: true })
  const ended = await runCommand({
    args: [process.execPath, 'node_modules/vitest/vitest.mjs', 'run', ...options, ...files],
    folder: tree,
    limitMs,
    stop,
  })
  try {
    return { ...ended, report: JSON.parse(readFileSync(join(tree, REPORT), 'utf8')) as Report }
  } catch {
    return { ...ended, report: null }
  }
}

/** The file that failed, if one did, and how. */
const failureOf = (tree: string, { report, output }: Ran): { readonly file: string | null; readonly how: string } => {
  for (const { name, status, assertionResults } of report?.testResults ?? []) {
    const failed = assertionResults.find((one) => one.status === 'failed')
    if (failed || status === 'failed')
      return { file: relative(tree, name), how: failed?.fullName.trim() ?? 'it cannot be loaded' }
  }
  return { file: null, how: `the run failed: ${output.trim().split('\n').at(-1) ?? ''}` }
}

export type Tests = {
  /** How long it takes where nothing was changed, as far as is known; null: it cannot be used. */
  readonly msOf: (file: string) => number | null
  /** By what these files notice that something is wrong in the tree; null when they all pass. */
  readonly noticedBy: (tree: string, files: readonly string[]) => Promise<string | null>
}

export const makeTests = (unchanged: string, warn: (line: string) => void, stop: AbortSignal): Tests => {
  const known = new Map<string, number | null>()
  const sound = new Map<string, Promise<boolean>>()
  const limitOf = (files: readonly string[]) =>
    busy() *
    (START_MS + files.reduce((sum, file) => sum + (known.has(file) ? SLOWER * (known.get(file) ?? 0) : UNKNOWN_MS), 0))
  const learn = (tree: string, { report }: Ran): void => {
    for (const { name, startTime, endTime, status } of report?.testResults ?? []) {
      const file = relative(tree, name)
      if (status === 'passed' && !known.has(file)) known.set(file, endTime - startTime)
    }
  }
  let last: Promise<unknown> = Promise.resolve()
  /** One after the other, since what a command leaves running is ended by its folder. */
  const isSound = (file: string): Promise<boolean> => {
    const look = async (): Promise<boolean> => {
      if (stop.aborted) return true
      const ran = await runTests(unchanged, [file], busy() * (START_MS + UNKNOWN_MS), stop)
      if (ran.code === 0 || stop.aborted) return true
      known.set(file, null)
      warn(
        `${file} is left out: on the unchanged program ${ran.late ? 'it is too slow' : failureOf(unchanged, ran).how}`,
      )
      return false
    }
    const looked = sound.get(file) ?? last.then(look)
    sound.set(file, looked)
    last = looked.catch(() => undefined)
    return looked
  }
  const noticedBy: Tests['noticedBy'] = async (tree, files) => {
    const limitMs = limitOf(files)
    const ran = await runTests(tree, files, limitMs, stop)
    if (stop.aborted || ran.code === 0) {
      learn(tree, ran)
      return null
    }
    const { file, how } = failureOf(tree, ran)
    const doubted = file === null ? files : [file]
    const held = await Promise.all(doubted.map(isSound))
    if (held.every(Boolean)) return ran.late ? `no end within ${Math.round(limitMs / 1000)} s` : `${file ?? ''}: ${how}`
    const rest = files.filter((one) => known.get(one) !== null)
    return rest.length === 0 ? null : noticedBy(tree, rest)
  }
  return { msOf: (file) => (known.has(file) ? known.get(file)! : 0), noticedBy }
}
