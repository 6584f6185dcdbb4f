/**
 * A temporary PostgreSQL for a test run: started by the first test that needs it, shared by all processes of the run,
 * and stopped by a guard process that outlives the run, so that it is also stopped when the run is killed.
 *
 *   const { url, drop } = await freshDatabase(bin)      // bin: the folder with initdb, from needs.ts
 */
import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chownSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { isMainThread } from 'node:worker_threads'
import { Client } from 'pg'
import type { QueryResult } from 'pg'
import { freePort } from './port.ts'

const run = promisify(execFile)
const asRoot = process.getuid?.() === 0

/** The process whose end is the end of the run: the main process of vitest, or this one without vitest. */
export const runPid = (): number => (process.env['VITEST'] === undefined || !isMainThread ? process.pid : process.ppid)

export const startedAt = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[19]!
  } catch {
    return '0'
  }
}

/** PostgreSQL refuses to run as root. */
const asPostgres = (program: string, args: readonly string[]): [string, string[]] =>
  asRoot ? ['runuser', ['-u', 'postgres', '--', program, ...args]] : [program, [...args]]

const makeFolder = async (folder: string): Promise<void> => {
  mkdirSync(join(folder, 'data'), { mode: 0o700 })
  if (!asRoot) return
  const [uid, gid] = (await run('sh', ['-c', 'id -u postgres; id -g postgres'])).stdout.split('\n').map(Number)
  for (const each of [folder, join(folder, 'data')]) chownSync(each, uid!, gid!)
}

/**
 * Waits for the end of the run in a process of its own, then stops the server and removes the folder. A server that
 * stands still (SIGSTOP) must go on to hear of it; one that was just being started may not be ready to be stopped.
 */
const guard = (bin: string, folder: string, pid: number): void => {
  const stop = asPostgres(join(bin, 'pg_ctl'), ['stop', '-m', 'immediate', '-D', join(folder, 'data')]).flat()
  const script = `
    while kill -0 ${pid} 2>/dev/null; do sleep 0.3; done
    for try in 1 2 3 4 5 6; do
      [ -d '${folder}' ] || exit
      head=$(sed -n 1p '${folder}/data/postmaster.pid' 2>/dev/null) && [ -n "$head" ] && kill -CONT "$head" 2>/dev/null
      "$@" >/dev/null 2>&1 && break
      sleep 0.5
    done
    rm -rf '${folder}'`
  spawn('sh', ['-c', script, 'guard', ...stop], { detached: true, stdio: 'ignore', cwd: '/' }).unref()
}

/** An empty cluster in the folder, removed with all of it when the run ends. */
export const prepareServer = async (bin: string, folder: string): Promise<number> => {
  await makeFolder(folder)
  guard(bin, folder, runPid())
  const initdb = [
    ['-D', join(folder, 'data')],
    ['-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
  ].flat()
  await run(...asPostgres(join(bin, 'initdb'), initdb), { cwd: '/' })
  return freePort()
}

/** A standby of the server on that port, in the folder; it follows the server as soon as it is started. */
export const prepareStandby = async (bin: string, folder: string, of: number): Promise<number> => {
  await makeFolder(folder)
  guard(bin, folder, runPid())
  const from = ['-h', '127.0.0.1', '-p', String(of), '-U', 'postgres', '-D', join(folder, 'data')]
  const args = [...from, '--write-recovery-conf', '--wal-method=stream', '--checkpoint=fast', '--no-sync']
  await run(...asPostgres(join(bin, 'pg_basebackup'), args), { cwd: '/' })
  return freePort()
}

export const promoteServer = async (bin: string, folder: string): Promise<void> =>
  void (await run(...asPostgres(join(bin, 'pg_ctl'), ['promote', '-w', '-D', join(folder, 'data')]), { cwd: '/' }))

export const startServer = async (bin: string, folder: string, port: number, durable: boolean): Promise<void> => {
  // no fsync: tests kill processes, not the machine, so data handed to the operating system is safe
  const speed = durable ? [] : ['fsync=off', 'full_page_writes=off']
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    'max_connections=200',
    ...speed,
  ]
  const options = settings.map((setting) => `-c ${setting}`).join(' ')
  const args = ['start', '-w', '-t', '30', '-D', join(folder, 'data'), '-l', join(folder, 'log'), '-o', options]
  await run(...asPostgres(join(bin, 'pg_ctl'), args), { cwd: '/' })
}

/** Stops the server at once, without a checkpoint. */
export const stopServer = async (bin: string, folder: string): Promise<void> =>
  void (await run(...asPostgres(join(bin, 'pg_ctl'), ['stop', '-m', 'immediate', '-D', join(folder, 'data')]), {
    cwd: '/',
  }))

const start = async (bin: string, folder: string, durable: boolean): Promise<string> => {
  const port = await prepareServer(bin, folder)
  await startServer(bin, folder, port, durable)
  return `postgres://postgres@127.0.0.1:${port}`
}

const readyFile = (folder: string): string | undefined => {
  try {
    return readFileSync(join(folder, 'ready'), 'utf8')
  } catch {
    return undefined
  }
}

/** The address of the run's server without a database name. Durable: with its commits synced, for measurements. */
export const postgresServer = async (bin: string, durable = false): Promise<string> => {
  const pid = runPid()
  const folder = join(tmpdir(), `accelerando-postgres-${pid}-${startedAt(pid)}${durable ? '-durable' : ''}`)
  try {
    mkdirSync(folder, { mode: 0o755 })
  } catch {
    return waitFor(folder)
  }
  const answer = await start(bin, folder, durable).catch((cause: unknown) => `failed ${String(cause)}`)
  writeFileSync(join(folder, 'ready.tmp'), answer)
  renameSync(join(folder, 'ready.tmp'), join(folder, 'ready'))
  return waitFor(folder)
}

const waitFor = async (folder: string): Promise<string> => {
  for (let tries = 0; tries < 600; tries++) {
    const ready = readyFile(folder)
    if (ready?.startsWith('postgres:') === true) return ready
    if (ready !== undefined) throw new Error(`PostgreSQL did not start: ${ready}`)
    await wait(50)
  }
  throw new Error('PostgreSQL was not ready within 30 s')
}

export const sqlOnce = async (url: string, text: string): Promise<QueryResult> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end()
  }
}

export type Database = { readonly url: string; readonly drop: () => Promise<void> }

export const freshDatabase = async (bin: string, durable = false): Promise<Database> =>
  databaseOn(await postgresServer(bin, durable))

/** `server`: an address without the name of a database. */
export const databaseOn = async (server: string): Promise<Database> => {
  const name = `t_${randomUUID().replaceAll('-', '')}`
  await sqlOnce(`${server}/postgres`, `create database ${name}`)
  const drop = async () => void (await sqlOnce(`${server}/postgres`, `drop database ${name} with (force)`))
  return { url: `${server}/${name}`, drop }
}
