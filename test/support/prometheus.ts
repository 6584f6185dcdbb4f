/** A real Prometheus in a folder of its own, which ends with the test, and its promtool. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './port.ts'

const READY_MS = 60_000
const ASK_MS = 20_000
const END_MS = 20_000
const TRIES = 5

/** Nothing of this machine's settings reaches it: no proxy, no locale, no home. */
const bare = (folder: string) => ({ PATH: '/usr/bin:/bin', HOME: folder, TMPDIR: folder, LC_ALL: 'C' })

type Told = { readonly status: number | null; readonly text: string }
export const promtool = (bin: string, folder: string, ...args: readonly string[]): Told => {
  const { status, stdout, stderr, error } = spawnSync(join(bin, 'promtool'), args, {
    encoding: 'utf8',
    env: bare(folder),
    timeout: READY_MS,
  })
  return { status, text: `${stdout}${stderr}${error ?? ''}` }
}

type Started = { readonly origin: string; readonly stop: () => Promise<void>; readonly text: () => string }

const isReady = (origin: string): Promise<boolean> =>
  fetch(`${origin}/-/ready`, { signal: AbortSignal.timeout(ASK_MS) }).then(
    ({ ok }) => ok,
    () => false,
  )

/** Ends it when this process is killed. */
const guard = (pid: number): void => {
  const script = `while kill -0 ${process.pid} && kill -0 ${pid}; do sleep 0.5; done 2>/dev/null; kill -9 ${pid} 2>/dev/null`
  spawn('sh', ['-c', script], { detached: true, stdio: 'ignore', cwd: '/' }).unref()
}

/**
 * Answers with what it said where it has ended before it was ready before it was ready, as it does where another
 * process has taken the port.
 */
const attempt = async (bin: string, folder: string, args: readonly string[]): Promise<Started | string> => {
  const address = `127.0.0.1:${await freePort()}`
  const child = spawn(join(bin, 'prometheus'), [...args, `--web.listen-address=${address}`], {
    cwd: folder,
    env: bare(folder),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => void (text = (text + part).slice(-20_000)))
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()).once('error', () => resolve()))
  if (child.pid !== undefined) guard(child.pid)
  const stop = async () => {
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), END_MS)
    await ended
    clearTimeout(late)
  }
  for (const until = Date.now() + READY_MS; child.exitCode === null && Date.now() < until; await sleep(50))
    if (text.includes('Server is ready') && (await isReady(`http://${address}`)))
      return { origin: `http://${address}`, stop, text: () => text }
  await stop()
  return text
}

export type Prometheus = Awaited<ReturnType<typeof openPrometheus>>
/** `configuration` as prometheus.yml, which may be written as JSON. */
export const openPrometheus = async (bin: string, folder: string, configuration: unknown, consoles: string) => {
  const own = join(folder, 'prometheus')
  mkdirSync(own, { recursive: true })
  writeFileSync(join(own, 'prometheus.yml'), JSON.stringify(configuration))
  const args = [
    `--config.file=${join(own, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(own, 'data')}`,
    `--web.console.templates=${consoles}`,
  ]
  let why = ''
  for (let tries = 0; tries < TRIES; tries++) {
    const started = await attempt(bin, own, args)
    if (typeof started !== 'string') {
      const { origin, stop, text } = started
      return {
        origin,
        stop,
        text,
        /** Data of the API's answer; throws what it said where it is no success. */
        ask: async <Data>(path: string, query: Readonly<Record<string, string>> = {}): Promise<Data> => {
          const url = `${origin}/api/v1/${path}?${new URLSearchParams(query).toString()}`
          const response = await fetch(url, { signal: AbortSignal.timeout(ASK_MS) })
          const { status, data, error } = (await response.json()) as { status: string; data: Data; error?: string }
          if (status !== 'success') throw new Error(`${path} ${JSON.stringify(query)}: ${error}`)
          return data
        },
      }
    }
    why = started
    if (!why.includes('address already in use')) break
  }
  throw new Error(`prometheus did not start:\n${why}`)
}
