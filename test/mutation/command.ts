/** Runs a command that may hang or leave something running: it gets a limit, and afterwards all that it started is ended. */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

export type Command = {
  readonly args: readonly [string, ...string[]]
  /** What runs in this folder, or was started with it as `MUTATION_FOLDER`, belongs to the command. */
  readonly folder: string
  readonly limitMs: number
  readonly stop: AbortSignal
}
export type Ended = { readonly code: number | null; readonly late: boolean; readonly output: string }

const KEPT_CHARACTERS = 200_000
const GRACE_MS = 3000

const read = (file: string, how: (file: string) => string): string => {
  try {
    return how(file)
  } catch {
    return ''
  }
}
const isOf = (folder: string, pid: string): boolean =>
  read(join('/proc', pid, 'environ'), (file) => readFileSync(file, 'utf8')).includes(`MUTATION_FOLDER=${folder}\0`) ||
  read(join('/proc', pid, 'cwd'), readlinkSync).startsWith(`${folder}/`)

/** Linux tells what was started with this folder; elsewhere only the process group of the command is ended. */
export const endAll = (folder: string): void => {
  let pids: readonly string[] = []
  try {
    pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return
  }
  for (const pid of pids) if (pid !== String(process.pid) && isOf(folder, pid)) kill(Number(pid), 'SIGKILL')
}
const kill = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch {
    // it has ended
  }
}

/** Settings of whoever runs this are not those of the tests. */
const environment = (folder: string) => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(ACCELERANDO_|VITEST|NODE_OPTIONS)/.test(name)),
  ),
  MUTATION_FOLDER: folder,
  TMPDIR: join(folder, 'tmp'),
  NO_COLOR: '1',
})

export const runCommand = ({ args: [command, ...args], folder, limitMs, stop }: Command): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: folder,
      env: environment(folder),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [output, late] = ['', false]
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => {
        output = (output + part).slice(-KEPT_CHARACTERS)
      })
    const end = () => {
      kill(-child.pid!, 'SIGTERM')
      setTimeout(() => kill(-child.pid!, 'SIGKILL'), GRACE_MS).unref()
    }
    const timer = setTimeout(() => {
      late = true
      end()
    }, limitMs)
    stop.addEventListener('abort', end, { once: true })
    const over = () => {
      clearTimeout(timer)
      stop.removeEventListener('abort', end)
    }
    child.once('error', (error) => {
      over()
      reject(error)
    })
    child.once('exit', (code) => {
      over()
      endAll(folder)
      // what it said has been read, too
      setImmediate(() => resolve({ code, late, output }))
    })
  })
