/** The real program as a process of its own: started as an operator starts it, watched from outside. */
import { type ChildProcess, spawn } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const LAUNCHER = fileURLToPath(new URL('../bin/accelerando.js', import.meta.url))
const READY_MS = 120_000

export type Place = { readonly data: string; readonly database: string | null }
export type Program = {
  readonly pid: number
  readonly port: number
  readonly readyMs: number
  readonly end: (signal: 'SIGTERM' | 'SIGKILL') => Promise<void>
}

/** Settings of whoever runs the bench are not the program's. */
const environment = (more: Readonly<Record<string, string>>) => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(ACCELERANDO_|NODE_OPTIONS|npm_lifecycle)/.test(name)),
  ),
  ...more,
})
const placed = ({ data, database }: Place): string[] => [
  '--data',
  data,
  ...(database === null ? [] : ['--database', database]),
]

const running = new Set<ChildProcess>()
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')))

const launch = (args: readonly string[], more: Readonly<Record<string, string>>, log: string, flags: string[] = []) => {
  const errors = openSync(log, 'a')
  const child = spawn(process.execPath, [...flags, LAUNCHER, ...args], {
    // the fourth is the pipe by whose end the program learns that the bench is gone
    stdio: ['ignore', 'pipe', errors, 'pipe'],
    env: environment({ ACCELERANDO_PARENT_FD: '3', ...more }),
  })
  running.add(child)
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  void exited.then(() => running.delete(child))
  return { child, exited, log }
}

const lastWords = (log: string): string => readFileSync(log, 'utf8').trimEnd().split('\n').slice(-5).join('\n')

/** A command that ends by itself; what it said. */
export const command = async (name: string, place: Place, args: readonly string[]): Promise<string> => {
  const { child, exited, log } = launch([name, ...placed(place), ...args], {}, join(place.data, '..', 'command.log'))
  let said = ''
  child.stdout!.setEncoding('utf8').on('data', (part: string) => (said += part))
  const code = await exited
  if (code !== 0) throw new Error(`${name} ended with ${code}; its last words:\n${lastWords(log)}`)
  return said.trim()
}

export type Begin = {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Where standard error goes. */
  readonly log: string
  /** The line that says it. */
  readonly ready: RegExp
  readonly flags?: string[]
}
export type Begun = {
  readonly pid: number
  readonly found: RegExpExecArray
  readonly readyMs: number
  readonly end: (signal: 'SIGTERM' | 'SIGKILL') => Promise<void>
}
export const begin = async ({ args, env, log, ready, flags = [] }: Begin): Promise<Begun> => {
  const began = performance.now()
  const { child, exited } = launch(args, env, log, flags)
  let said = ''
  const line = new Promise<RegExpExecArray>((resolve) =>
    child.stdout!.setEncoding('utf8').on('data', (part: string) => {
      said += part
      const found = ready.exec(said)
      if (found !== null) resolve(found)
    }),
  )
  const late = sleep(READY_MS, null, { ref: false })
  const found = await Promise.race([line, exited.then(() => null), late])
  if (found === null) throw new Error(`the program did not get ready; its last words:\n${lastWords(log)}`)
  const end: Begun['end'] = async (signal) => {
    child.kill(signal)
    await exited
  }
  return { pid: child.pid!, found, readyMs: performance.now() - began, end }
}

export const READY = /^ready http:\/\/127\.0\.0\.1:(\d+)\/v2$/m

/** For Node: it writes a CPU profile into that folder when the program ends. */
export const profileFlags = (folder: string | null): string[] =>
  folder === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`]

export type Start = {
  readonly place: Place
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Folder for a CPU profile. */
  readonly profile?: string | null
}
export const start = async ({ place, args = [], env = {}, profile = null }: Start): Promise<Program> => {
  const listen = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
  const log = join(place.data, '..', 'program.log')
  const own = ['start', ...placed(place), ...listen, ...args]
  const { pid, found, readyMs, end } = await begin({ args: own, env, log, ready: READY, flags: profileFlags(profile) })
  return { pid, port: Number(found[1]), readyMs, end }
}
