/**
 * The address of a PostgreSQL: which parameters count, what each `sslmode` means, and what to change in the address
 * when a connection fails. Each parameter is honoured, or known to change nothing here, or refused by its name.
 */
import { readFileSync } from 'node:fs'
import { codeOf, messageOf } from './errorText.ts'
import { type DatabaseUrl, type Reading, readDatabaseUrl, refused, shownParameter, unescaped } from './databaseUrl.ts'

const SCHEME = /^postgres(ql)?(\+\w+)?$/
const MODES = ['disable', 'no-verify', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']
const HONOURED = new Set([
  ...['host', 'port', 'user', 'password', 'dbname', 'options', 'application_name'],
  ...['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'uselibpqcompat'],
])
/** The program has its own limits, speaks UTF-8 and knows no GSSAPI. */
const WITHOUT_EFFECT = new Set([
  ...['connect_timeout', 'client_encoding', 'fallback_application_name', 'gssencmode', 'sslcompression'],
  ...['keepalives', 'keepalives_idle', 'keepalives_interval', 'keepalives_count', 'tcp_user_timeout'],
])

const problemOf = ({ scheme, parameters }: DatabaseUrl): string | null => {
  if (!SCHEME.test(scheme)) return 'it does not begin with postgresql://'
  const unknown = [...parameters.keys()].find((name) => !HONOURED.has(name) && !WITHOUT_EFFECT.has(name))
  if (unknown !== undefined)
    return `${shownParameter(unknown)} is not known here; known are ${[...HONOURED].join(', ')}`
  const mode = parameters.get('sslmode')
  if (mode !== undefined && !MODES.includes(mode)) return `sslmode is none of ${MODES.join(', ')}`
  if (parameters.get('gssencmode') === 'require') return 'gssencmode=require cannot be met'
  return /^\d*$/.test(parameters.get('port') ?? '') ? null : 'its port is not a number up to 65535'
}

/** A problem does not repeat the text, because it contains a password. */
export const readPostgresUrl = (text: string): Reading<DatabaseUrl> => {
  const reading = readDatabaseUrl(text)
  const problem = reading.ok ? problemOf(reading.value) : null
  return problem === null ? reading : refused(problem)
}

type Tls = {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly rejectUnauthorized?: boolean
  readonly checkServerIdentity?: () => undefined
}
const anyName = { checkServerIdentity: () => undefined }
/** What libpq leaves unchecked in a mode, for who asks for its meanings by `uselibpqcompat`. */
const uncheckedByLibpq = (mode: string | undefined, hasCa: boolean): Tls => {
  if (mode === 'verify-full') return {}
  return hasCa || mode === 'verify-ca' ? anyName : { rejectUnauthorized: false }
}
/** Undefined: the address says nothing about TLS. */
const tlsOf = (parameters: DatabaseUrl['parameters'], host: string): Tls | false | undefined => {
  const mode = parameters.get('sslmode')
  const root = parameters.get('sslrootcert')
  // certificates without a mode ask for TLS too
  if (!['sslmode', 'sslrootcert', 'sslcert', 'sslkey'].some((name) => parameters.has(name))) return undefined
  // a socket of this machine has no TLS, whatever the mode
  if (mode === 'disable' || host.startsWith('/')) return false
  const ca = root === 'system' ? undefined : root
  const files = Object.entries({ ca, cert: parameters.get('sslcert'), key: parameters.get('sslkey') })
  return {
    ...Object.fromEntries(
      files.flatMap(([name, file]) => (file === undefined ? [] : [[name, readFileSync(file, 'utf8')]])),
    ),
    ...(mode === 'no-verify' ? { rejectUnauthorized: false } : {}),
    ...(parameters.get('uselibpqcompat') === 'true' && mode !== 'no-verify'
      ? uncheckedByLibpq(mode, ca !== undefined)
      : {}),
  }
}

/** What a client of `pg` needs of the address; what the address does not say is left to the environment (`PGUSER`). */
export type PostgresClient = {
  readonly host?: string
  readonly port?: number
  readonly user?: string
  readonly password?: string
  readonly database?: string
  readonly application_name?: string
  readonly options?: string
  readonly ssl?: Tls | false
}
/** Throws when the address cannot be used, or a file that it names cannot be read. */
export const postgresClient = (text: string): PostgresClient => {
  const reading = readPostgresUrl(text)
  if (!reading.ok) throw new Error(`the address of the database: ${reading.problem}`)
  const { user, password, host, port, database, parameters } = reading.value
  const place = parameters.get('host') ?? unescaped(host)
  const fields = {
    host: place,
    port: Number(parameters.get('port') ?? port ?? 0),
    user: parameters.get('user') ?? user,
    password: parameters.get('password') ?? password,
    database: parameters.get('dbname') ?? unescaped(database),
    application_name: parameters.get('application_name'),
    options: parameters.get('options'),
    ssl: tlsOf(parameters, place),
  }
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== '' && value !== 0),
  ) as PostgresClient
}

const CERTIFICATE = /^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_|ERR_TLS_CERT)/
const ADVICE: readonly (readonly [met: (error: unknown) => boolean, advice: string])[] = [
  [
    (error) => CERTIFICATE.test(codeOf(error) ?? ''),
    'its certificate is checked in each sslmode but no-verify: name the file of its CA with sslrootcert=, and the host as the certificate does, or set sslmode=no-verify',
  ],
  [
    (error) => messageOf(error) === 'The server does not support SSL connections',
    'set sslmode=disable to connect without TLS, also where libpq would have taken prefer or allow',
  ],
  [
    (error) => codeOf(error) === '28000' && /no encryption|SSL off/.test(messageOf(error)),
    'it may want TLS: set sslmode=verify-full, or sslmode=no-verify where its certificate cannot be checked',
  ],
]
/** A connection that fails until the address of the database, or what stands before the database, is changed. */
export class Misaddressed extends Error {
  override readonly name = 'Misaddressed'
  readonly says: string
  readonly advice: string
  constructor(says: string, advice: string, cause?: unknown) {
    super(`${says}: ${advice}`, { cause })
    this.says = says
    this.advice = advice
  }
}
/** The error with what to change, or as it is when it is about something else. */
export const withAdvice = (error: unknown): unknown => {
  const advice = ADVICE.find(([met]) => met(error))?.[1]
  return advice === undefined ? error : new Misaddressed(messageOf(error), advice, error)
}
