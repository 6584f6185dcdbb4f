/** A PostgreSQL for a single test, which can stop, start and pause it. */
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { databaseOn, prepareServer, prepareStandby, promoteServer, startServer, stopServer } from './postgres.ts'
import type { Database } from './postgres.ts'

const run = promisify(execFile)

export type OwnServer = {
  /** URL of its first database. */
  readonly url: string
  readonly freshDatabase: () => Promise<Database>
  readonly port: number
  /** A standby that follows it. */
  readonly standby: () => Promise<OwnServer & { readonly promote: () => Promise<void> }>
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
  /** Pauses all its processes (SIGSTOP). */
  readonly pause: () => void
  readonly resume: () => void
  readonly end: () => Promise<void>
}

const childrenOf = (pid: number): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .filter((name) => {
      try {
        return Number(readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]!.split(' ')[1]) === pid
      } catch {
        return false
      }
    })
    .map(Number)

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'accelerando-postgres-own-'))
  chmodSync(folder, 0o755)
  return folder
}

export const ownServer = async (bin: string): Promise<OwnServer> => {
  const folder = newFolder()
  return serverIn(bin, folder, await prepareServer(bin, folder))
}
const standbyOf = async (bin: string, of: number) => {
  const folder = newFolder()
  const server = await serverIn(bin, folder, await prepareStandby(bin, folder, of))
  return { ...server, promote: () => promoteServer(bin, folder) }
}

const serverIn = async (bin: string, folder: string, port: number): Promise<OwnServer> => {
  const start = () => startServer(bin, folder, port, false)
  const stop = () => stopServer(bin, folder)
  const signal = (name: NodeJS.Signals): void => {
    const head = Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0])
    // the main process is paused first, otherwise it would start further processes meanwhile
    const all = [head, ...childrenOf(head)]
    for (const pid of name === 'SIGSTOP' ? all : all.toReversed()) process.kill(pid, name)
  }
  await start()
  const address = `postgres://postgres@127.0.0.1:${port}`
  return {
    url: `${address}/postgres`,
    port,
    standby: () => standbyOf(bin, port),
    freshDatabase: () => databaseOn(address),
    start,
    stop,
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    end: async () => {
      // a paused server does not react to signals, and a stopped one has no process
      await Promise.try(() => signal('SIGCONT')).catch(() => undefined)
      await stop().catch(() => undefined)
      await run('rm', ['-rf', folder])
    },
  }
}
