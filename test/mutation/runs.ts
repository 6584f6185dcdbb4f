/**
 * Test files are run in a copy of the repository by a process that stays; one that hangs is ended with all that it
 * started.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { endAll, environmentOf } from './leftovers.ts'

export type Question = {
  readonly files: readonly string[]
  /** The files whose text may be another than at the last question. */
  readonly changed: readonly string[]
}
export type FileRan = {
  readonly file: string
  readonly state: string
  readonly ms: number
  /** The first test of it that failed. */
  readonly failed: string | null
}
export type Answer = { readonly files: readonly FileRan[]; readonly unhandled: string | null }
export type Ran = Answer & { readonly late: boolean }

export const MARK = 'mutation-answer: '
const RUNNER = fileURLToPath(new URL('runner.ts', import.meta.url))
const NOTHING: Answer = { files: [], unhandled: null }

export type Runner = {
  /** `late`: there was no end within the limit, and the process was replaced. */
  readonly run: (question: Question, limitMs: number) => Promise<Ran>
  /** The next run begins in a new process. */
  readonly end: () => void
}

export const makeRunner = (tree: string, stop: AbortSignal): Runner => {
  type Alive = { readonly child: ChildProcess; answered: (line: string) => void; ended: () => void }
  let alive: Alive | null = null
  const end = (): void => {
    alive?.child.kill('SIGKILL')
    alive = null
    endAll(tree)
  }
  const start = (): Alive => {
    const child = spawn(process.execPath, [RUNNER], {
      cwd: tree,
      env: environmentOf(tree),
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const started: Alive = { child, answered: () => undefined, ended: () => undefined }
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith(MARK)) started.answered(line.slice(MARK.length))
    })
    child.stdin.on('error', () => undefined)
    child.once('exit', () => {
      if (alive === started) alive = null
      started.ended()
    })
    child.once('error', () => started.ended())
    return started
  }
  stop.addEventListener('abort', end, { once: true })
  const run: Runner['run'] = (question, limitMs) =>
    new Promise((resolve) => {
      if (stop.aborted) return resolve({ ...NOTHING, late: false })
      const current = (alive ??= start())
      const timer = setTimeout(() => {
        current.ended = () => undefined
        end()
        resolve({ ...NOTHING, late: true })
      }, limitMs)
      current.answered = (line) => {
        clearTimeout(timer)
        resolve({ ...(JSON.parse(line) as Answer), late: false })
      }
      current.ended = () => {
        clearTimeout(timer)
        resolve({ files: [], unhandled: 'the process of the tests ended', late: false })
      }
      current.child.stdin!.write(`${JSON.stringify(question)}\n`)
    })
  return { run, end }
}
