/**
 * What an address of SQLAlchemy asks of a connection to MariaDB or MySQL, as its drivers PyMySQL and mysqlclient read
 * it, with the option file that it may name. Each parameter is honoured, or known to change nothing here, or refused by
 * its name.
 */
import { messageOf } from '../../vocabulary/errorText.ts'
import { type DatabaseUrl, type Reading, refused, shownParameter } from '../../vocabulary/databaseUrl.ts'
import { optionsIn } from './optionFile.ts'

export type MysqlTls = {
  /** Files in PEM; null: none. */
  readonly ca: string | null
  readonly cert: string | null
  readonly key: string | null
  /** Whether the certificate of the server has to be of a trusted CA, and whether it has to be for its name. */
  readonly verifyCertificate: boolean
  readonly verifyName: boolean
}
export type MysqlAddress = {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  /** Path of a Unix socket; null: TCP. */
  readonly socket: string | null
  /** Null: no TLS. */
  readonly tls: MysqlTls | null
}

const PORT = 3306
const FLAGS = ['ssl', 'ssl_disabled', 'ssl_check_hostname', 'ssl_verify_cert', 'ssl_verify_identity'] as const
const HONOURED: readonly string[] = [
  ...FLAGS,
  ...['unix_socket', 'ssl_ca', 'ssl_cert', 'ssl_key', 'ssl_mode', 'read_default_file', 'read_default_group'],
]
/** The import has its own limits, and reads texts in UTF-8. */
const WITHOUT_EFFECT = new Set([
  ...['charset', 'collation', 'use_unicode', 'binary_prefix', 'local_infile', 'compress', 'autocommit'],
  ...['connect_timeout', 'read_timeout', 'write_timeout'],
])
const MODES = ['DISABLED', 'REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY']
const BOOLEANS: Readonly<Record<string, boolean>> = {
  ...{ true: true, '1': true, yes: true, on: true },
  ...{ false: false, '0': false, no: false, off: false },
}

type Parameters = ReadonlyMap<string, string>
const problemOf = (parameters: Parameters): string | null => {
  const unknown = [...parameters.keys()].find((name) => !HONOURED.includes(name) && !WITHOUT_EFFECT.has(name))
  if (unknown !== undefined) return `${shownParameter(unknown)} is not known here; known are ${HONOURED.join(', ')}`
  const odd = FLAGS.find((name) => !((parameters.get(name) ?? 'true').toLowerCase() in BOOLEANS))
  if (odd !== undefined) return `parameter ${odd} is neither true nor false`
  const mode = parameters.get('ssl_mode')
  return mode === undefined || MODES.includes(mode) ? null : `parameter ssl_mode is none of ${MODES.join(', ')}`
}

const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['socket', 'unix_socket'],
  ['ssl-verify-server-cert', 'ssl_verify_identity'],
])
/** What the option file says of the connection, under the names of the parameters. */
const inFile = (options: Parameters): Parameters =>
  new Map(
    [...options]
      .filter(([name]) => OTHER_NAMES.has(name) || name === 'ssl' || name.startsWith('ssl-'))
      .map(([name, value]) => [OTHER_NAMES.get(name) ?? name.replaceAll('-', '_'), value]),
  )

const tlsOf = (parameters: Parameters): MysqlTls | null => {
  const flag = (name: (typeof FLAGS)[number]): boolean | undefined =>
    parameters.has(name) ? BOOLEANS[parameters.get(name)!.toLowerCase()] : undefined
  const file = (name: string): string | null => parameters.get(name) ?? null
  const files = { ca: file('ssl_ca'), cert: file('ssl_cert'), key: file('ssl_key') }
  const mode = parameters.get('ssl_mode')
  const identity = flag('ssl_verify_identity') === true || mode === 'VERIFY_IDENTITY'
  const certificate = identity || (flag('ssl_verify_cert') ?? (files.ca !== null || mode === 'VERIFY_CA'))
  const wanted =
    certificate ||
    files.ca !== null ||
    files.cert !== null ||
    files.key !== null ||
    flag('ssl') === true ||
    mode === 'REQUIRED'
  if (!wanted || flag('ssl_disabled') === true || mode === 'DISABLED') return null
  const named = flag('ssl_check_hostname') ?? flag('ssl_verify_identity') ?? (files.ca !== null && mode !== 'VERIFY_CA')
  return {
    ...files,
    verifyCertificate: certificate,
    verifyName: (identity || named) && !parameters.has('unix_socket'),
  }
}

/** `readFile` throws when a file cannot be read. */
export const mysqlAddress = (url: DatabaseUrl, readFile: (path: string) => string): Reading<MysqlAddress> => {
  const group = url.parameters.get('read_default_group')
  const path = url.parameters.get('read_default_file') ?? (group === undefined ? undefined : '/etc/my.cnf')
  let options: Parameters = new Map()
  try {
    if (path !== undefined) options = optionsIn(readFile(path), group ?? 'client')
  } catch (error) {
    return refused(`its option file cannot be read, which may ask for TLS: ${messageOf(error)}`)
  }
  const parameters: Parameters = new Map([...inFile(options), ...url.parameters])
  const problem = problemOf(parameters)
  if (problem !== null) return refused(problem)
  return {
    ok: true,
    value: {
      host: url.host || (options.get('host') ?? 'localhost'),
      port: url.port ?? Number(options.get('port') ?? PORT),
      user: url.user || (options.get('user') ?? ''),
      password: url.password || (options.get('password') ?? ''),
      database: url.database || (options.get('database') ?? ''),
      socket: parameters.get('unix_socket') ?? null,
      tls: tlsOf(parameters),
    },
  }
}
