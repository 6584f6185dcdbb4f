/** Runs the program as an operator does, as a child process that ends with its parent. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** As in bin/parent.js: names the file descriptor whose end-of-file means that the parent has ended. */
const PARENT_FD = 'ACCELERANDO_PARENT_FD'
const LAUNCHER = fileURLToPath(new URL('../../bin/accelerando.js', import.meta.url))
/** Time-out of a cold start, which takes much longer on a busy machine. */
const READY_MS = 60_000
const END_MS = 30_000
const KEPT_CHARACTERS = 4 * 1024 * 1024

export type Exit = { readonly code: number | null; readonly signal: string | null; readonly tookMs: number }
export type LogLine = Readonly<Record<string, unknown>> & { readonly level: number; readonly msg: string }
export type Program = {
  readonly pid: number
  readonly stdout: () => string
  readonly stderr: () => string
  readonly logged: () => readonly LogLine[]
  /** Waits for the line; rejects with the whole output when the process ends before, or at the time-out. */
  readonly said: (line: RegExp, withinMs?: number) => Promise<RegExpExecArray>
  /** Resolves when the process has ended, by itself or by `end`. */
  readonly exited: Promise<Exit>
  readonly end: (signal: 'SIGTERM' | 'SIGKILL' | 'SIGINT') => Promise<Exit>
}
export type Run = {
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Another way to run the launcher than this process's own Node. */
  readonly runtime?: readonly [string, ...string[]]
  /** Of another release; this checkout's, when not given. */
  readonly launcher?: string | undefined
}

/** What a program under test gets of an environment: no settings of accelerando and of the test runner. */
export const passedOn = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(ACCELERANDO_|VITEST|NODE_OPTIONS|npm_lifecycle)/.test(name)),
  )
const environment = (more: Readonly<Record<string, string>>, parentFd: boolean) => ({
  ...passedOn(process.env),
  NO_COLOR: '1',
  ...(parentFd ? { [PARENT_FD]: '3' } : {}),
  ...more,
})

const within = async <Value>(work: Promise<Value>, ms: number, late: () => string): Promise<Value> => {
  const timer = new AbortController()
  const over = sleep(ms, null, { signal: timer.signal }).then(() => {
    throw new Error(late())
  })
  try {
    return await Promise.race([work, over])
  } finally {
    timer.abort()
    over.catch(() => undefined)
  }
}

const gathered = (child: ChildProcess) => {
  const texts = { stdout: '', stderr: '' }
  const listeners = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const)
    child[name]!.setEncoding('utf8').on('data', (part: string) => {
      texts[name] = (texts[name] + part).slice(-KEPT_CHARACTERS)
      for (const listener of [...listeners]) listener()
    })
  return { texts, listeners }
}

const running = new Set<ChildProcess>()
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')))

export const runProgram = ({ args, env = {}, runtime, launcher = LAUNCHER }: Run): Program => {
  const [command, ...before] = runtime ?? [process.execPath]
  const child = spawn(command, [...before, launcher, ...args], {
    // the fourth is a pipe: its end-of-file tells the program that this process has ended
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: environment(env, runtime === undefined),
  })
  running.add(child)
  const { texts, listeners } = gathered(child)
  let endAsked = performance.now()
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    // after all its output has been read
    child.once('close', (code, signal) => {
      running.delete(child)
      resolve({ code, signal, tookMs: performance.now() - endAsked })
    })
  })
  const all = () => `standard output:\n${texts.stdout}\nstandard error:\n${texts.stderr.slice(-4000)}`
  const said = async (line: RegExp, withinMs = READY_MS): Promise<RegExpExecArray> => {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>()
    const look = () => {
      const found = line.exec(texts.stdout)
      if (found) resolve(found)
    }
    listeners.add(look)
    look()
    void exited.then(({ code, signal }) => reject(new Error(`it ended (${code ?? signal}) before ${line}; ${all()}`)))
    return within(promise, withinMs, () => `no ${line} within ${withinMs} ms; ${all()}`).finally(() =>
      listeners.delete(look),
    )
  }
  return {
    pid: child.pid!,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    logged: () =>
      texts.stderr
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as LogLine),
    said,
    exited,
    end: async (signal) => {
      endAsked = performance.now()
      child.kill(signal)
      return within(exited, END_MS, () => `it did not end within ${END_MS} ms of ${signal}; ${all()}`)
    },
  }
}

export const READY_LINE = /^ready (http:\/\/\S+)\/v2$/m
export type Service = Program & { readonly origin: string; readonly base: string; readonly admin: string }

/** Standard error is a separate pipe, so its lines may arrive earlier or later than those of standard output. */
const heard = async (program: Program, msg: string, withinMs = 5000): Promise<LogLine> => {
  for (let waited = 0; waited < withinMs; waited += 5) {
    const line = program.logged().find((one) => one.msg === msg)
    if (line) return line
    await sleep(5)
  }
  throw new Error(`no ${msg} was logged within ${withinMs} ms: ${program.stderr().slice(-4000)}`)
}

/** Starts the program and waits for its ready line. */
export const startService = async (run: Run, withinMs = READY_MS): Promise<Service> => {
  const program = runProgram(run)
  const [, origin] = await program.said(READY_LINE, withinMs)
  const { admin } = await heard(program, 'started')
  return { ...program, origin: origin!, base: `${origin}/v2`, admin: admin as string }
}

export const tempFolder = (name: string) => {
  const path = mkdtempSync(join(tmpdir(), `accelerando-${name}-`))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** Field 4 of stat is the parent; the name in brackets before it may hold anything. */
const parentOf = (pid: string): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return 0
  }
}

/** The process and all it started, and what these started; Linux only. */
export const familyOf = (pid: number): readonly number[] => {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(name)] as const)
  const family = [pid]
  for (const member of family) family.push(...parents.filter(([, parent]) => parent === member).map(([child]) => child))
  return family
}

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
