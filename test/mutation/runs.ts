/**
 * Test files are run in a copy of the repository by a process that stays; one that hangs is ended with all that it
 * started there.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export type Question = {
  readonly files: readonly string[]
  /** The files whose text may be another than at the last question. */
  readonly changed: readonly string[]
}
export type FileRan = {
  readonly file: string
  readonly state: string
  /** The first test of it that failed. */
  readonly failed: string | null
}
export type Ran = { readonly files: readonly FileRan[]; readonly trouble: string | null }

export const MARK = 'mutation-answer: '
const RUNNER = fileURLToPath(new URL('runner.ts', import.meta.url))
const LIMIT_MS = { start: 20_000, file: 30_000 }

/** By which of these files a run noticed something, and how; null when every file of it passed. */
export const failureOf = (
  { files, trouble }: Ran,
  asked: readonly string[],
): { readonly files: readonly string[]; readonly how: string } | null => {
  if (trouble !== null) return { files: asked, how: trouble }
  const bad = files.find(({ failed, state }) => failed !== null || state === 'failed')
  if (bad) return { files: [bad.file], how: `${bad.file}: ${bad.failed ?? 'it cannot be loaded'}` }
  const ran = new Set(files.filter(({ state }) => state === 'passed' || state === 'skipped').map(({ file }) => file))
  const missing = asked.find((file) => !ran.has(file))
  return missing === undefined ? null : { files: [missing], how: `${missing} was not run` }
}

/** What was started with this folder as `MUTATION_FOLDER`. Only Linux tells this; elsewhere nothing is ended here. */
const endAll = (folder: string): void => {
  const isOf = (pid: string): boolean => {
    try {
      return readFileSync(join('/proc', pid, 'environ'), 'utf8').includes(`MUTATION_FOLDER=${folder}\0`)
    } catch {
      return false
    }
  }
  const pids = process.platform === 'linux' ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []
  for (const pid of pids.filter(isOf))
    try {
      process.kill(Number(pid), 'SIGKILL')
    } catch {
      // it has ended
    }
}

/** Settings of whoever runs this are not those of the tests. */
const environmentOf = (folder: string) => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(ACCELERANDO_|VITEST|NODE_OPTIONS)/.test(name)),
  ),
  MUTATION_FOLDER: folder,
  TMPDIR: join(folder, 'tmp'),
  NO_COLOR: '1',
})

export type Runner = {
  /** `changed`: the file whose text is another than before. */
  readonly run: (files: readonly string[], changed: string) => Promise<Ran>
  readonly end: () => void
}
export const makeRunner = (tree: string, stop: AbortSignal): Runner => {
  let alive: ChildProcess | null = null
  let answered: (ran: Ran) => void = () => undefined
  /** The file of the last run: its text may have been put back since. */
  let last = ''
  const end = (): void => {
    alive?.kill('SIGKILL')
    alive = null
    endAll(tree)
  }
  const broken = (trouble: string): void => answered({ files: [], trouble })
  const start = (): ChildProcess => {
    const child = spawn(process.execPath, [RUNNER], {
      cwd: tree,
      env: environmentOf(tree),
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith(MARK)) answered(JSON.parse(line.slice(MARK.length)) as Ran)
    })
    child.stdin.on('error', () => undefined)
    child.once('exit', () => {
      if (alive !== child) return
      alive = null
      broken('the process of the tests ended')
    })
    return child
  }
  stop.addEventListener('abort', end, { once: true })
  const run: Runner['run'] = async (files, changed) => {
    if (stop.aborted) return { files: [], trouble: 'stopped' }
    const { promise, resolve } = Promise.withResolvers<Ran>()
    answered = resolve
    alive ??= start()
    const late = setTimeout(
      () => {
        end()
        broken('no end in time')
      },
      LIMIT_MS.start + files.length * LIMIT_MS.file,
    )
    alive.stdin!.write(`${JSON.stringify({ files, changed: [last, changed] } satisfies Question)}\n`)
    last = changed
    return promise.finally(() => clearTimeout(late))
  }
  return { run, end }
}
