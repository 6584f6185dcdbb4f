/**
 * The address of upstream's database in the form of its own configuration:
 * `mysql+pymysql://user:password@host/cyborg?charset=utf8`.
 */

export type MysqlAddress = {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  /** Path of a Unix socket; null: TCP. */
  readonly socket: string | null
  /** File with the CA certificates for the server's certificate; null: no TLS. */
  readonly ca: string | null
}
export type UpstreamAddress =
  | { readonly kind: 'mysql'; readonly at: MysqlAddress }
  | { readonly kind: 'postgres'; readonly url: string }
export type AddressReading =
  | { readonly ok: true; readonly address: UpstreamAddress }
  | { readonly ok: false; readonly problem: string }

const MYSQL = /^(mysql|mariadb)(\+\w+)?:$/
const POSTGRES = /^postgres(ql)?(\+\w+)?:$/
const MYSQL_PORT = 3306

const no = (problem: string): AddressReading => ({ ok: false, problem })

const mysqlOf = ({ hostname, port, username, password, pathname, searchParams }: URL): AddressReading => {
  // an ignored TLS parameter could make the connection less safe than requested
  const unknown = [...searchParams.keys()].find((name) => name.startsWith('ssl') && name !== 'ssl_ca')
  if (unknown !== undefined) return no(`parameter ${unknown} is not known; ssl_ca is`)
  return {
    ok: true,
    address: {
      kind: 'mysql',
      at: {
        host: hostname.replace(/^\[(.*)\]$/, '$1'),
        port: port === '' ? MYSQL_PORT : Number(port),
        user: decodeURIComponent(username),
        password: decodeURIComponent(password),
        database: decodeURIComponent(pathname.slice(1)),
        socket: searchParams.get('unix_socket'),
        ca: searchParams.get('ssl_ca'),
      },
    },
  }
}

/** A problem does not repeat the text, because it contains a password. */
export const readAddress = (text: string): AddressReading => {
  const url = URL.parse(text)
  if (url === null) return no('it is not a URL')
  if (url.pathname.length < 2) return no('it names no database')
  try {
    if (MYSQL.test(url.protocol)) return mysqlOf(url)
  } catch {
    return no('it holds a % that is not an escape')
  }
  // the name of upstream's Python driver is replaced, because it has no meaning here
  if (POSTGRES.test(url.protocol))
    return { ok: true, address: { kind: 'postgres', url: text.replace(/^[^:]*/, 'postgresql') } }
  return no('it must begin with mysql://, mariadb:// or postgresql://, with or without a +driver')
}
