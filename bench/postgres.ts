/** A real PostgreSQL for the run, with its commits synced, and the floor measured on it. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { familyCpuMs } from './proc.ts'
import { type Database, freshDatabase, sqlOnce } from '../test/support/postgres.ts'

const run = promisify(execFile)
const FLOOR = fileURLToPath(new URL('floor/', import.meta.url))
const PACKAGED = '/usr/lib/postgresql'

/** The folder of PostgreSQL's programs, pgbench among them; null: there is none. */
export const findPostgres = (): string | null => {
  const packaged = existsSync(PACKAGED)
    ? readdirSync(PACKAGED)
        .toSorted((a, b) => Number(b) - Number(a))
        .map((version) => join(PACKAGED, version, 'bin'))
    : []
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...packaged]
  return folders.find((bin) => ['initdb', 'pgbench'].every((program) => existsSync(join(bin, program)))) ?? null
}

export type Rate = { readonly perSecond: number; readonly ms: number }
/** By number of clients; `batch`: whole binds a second, 32 in one statement. */
export type Floor = { readonly binds: ReadonlyMap<number, Rate>; readonly batch: number }

const pgbench = async (bin: string, url: string, args: readonly string[]): Promise<Rate> => {
  const { stdout } = await run(join(bin, 'pgbench'), ['-n', ...args, url], { maxBuffer: 1 << 24 })
  const perSecond = Number(/^tps = ([\d.]+)/m.exec(stdout)![1])
  const ms = Number(/^latency average = ([\d.]+)/m.exec(stdout)![1])
  return { perSecond, ms }
}

export type Server = {
  readonly version: string
  /** CPU time its processes have used so far. */
  readonly cpuMs: () => number
  readonly fresh: () => Promise<Database>
  readonly floor: (clients: readonly number[], seconds: number) => Promise<Floor>
}

export const openServer = async (bin: string): Promise<Server> => {
  const base = await freshDatabase(bin, true)
  await run(join(bin, 'psql'), ['-q', '-f', join(FLOOR, 'schema.sql'), base.url])
  const show = async (setting: string): Promise<string> => {
    const { rows } = await sqlOnce(base.url, `select current_setting('${setting}') as value`)
    return (rows[0] as { value: string }).value
  }
  const pid = Number(readFileSync(join(await show('data_directory'), 'postmaster.pid'), 'utf8').split('\n')[0])
  return {
    version: await show('server_version'),
    cpuMs: () => familyCpuMs(pid),
    fresh: () => freshDatabase(bin, true),
    floor: async (clients, seconds) => {
      const time = String(Math.max(1, Math.round(seconds)))
      const binds = new Map<number, Rate>()
      for (const count of clients)
        binds.set(
          count,
          await pgbench(bin, base.url, ['-f', join(FLOOR, 'bind.sql'), '-c', String(count), '-j', '1', '-T', time]),
        )
      const args = ['-M', 'prepared', '-f', join(FLOOR, 'batch.sql'), '-c', '1', '-j', '1', '-T', time]
      return { binds, batch: 32 * (await pgbench(bin, base.url, args)).perSecond }
    },
  }
}

const mean = (one: number, other: number): number => (one + other) / 2
/** Of a measurement before and one after. */
export const between = (before: Floor, after: Floor): Floor => ({
  batch: mean(before.batch, after.batch),
  binds: new Map(
    [...before.binds].map(([clients, { perSecond, ms }]) => {
      const later = after.binds.get(clients)!
      return [clients, { perSecond: mean(perSecond, later.perSecond), ms: mean(ms, later.ms) }]
    }),
  ),
})
