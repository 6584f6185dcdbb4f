/**
 * The address of upstream's database in the form of its own configuration:
 * `mysql+pymysql://user:password@host/cyborg?charset=utf8`.
 */
import { type DatabaseUrl, type Reading, readDatabaseUrl, refused } from '../../vocabulary/databaseUrl.ts'
import { readPostgresUrl } from '../../vocabulary/postgresUrl.ts'
import { type MysqlAddress, mysqlAddress } from './mysqlAddress.ts'

export type UpstreamAddress =
  | { readonly kind: 'mysql'; readonly at: MysqlAddress }
  | { readonly kind: 'postgres'; readonly url: string }

const MYSQL = /^(mysql|mariadb)(\+\w+)?$/
const POSTGRES = /^postgres(ql)?(\+\w+)?$/

const ofMysql = (url: DatabaseUrl, readFile: (path: string) => string): Reading<UpstreamAddress> => {
  const reading = mysqlAddress(url, readFile)
  if (!reading.ok) return reading
  const at = reading.value
  return at.database === '' ? refused('it names no database') : { ok: true, value: { kind: 'mysql', at } }
}

/**
 * A problem does not repeat the text, because it contains a password. `readFile` reads a file of options that the
 * address names; it throws when it cannot.
 */
export const readAddress = (text: string, readFile: (path: string) => string): Reading<UpstreamAddress> => {
  const reading = readDatabaseUrl(text)
  if (!reading.ok) return reading
  const { scheme, database, parameters } = reading.value
  if (MYSQL.test(scheme)) return ofMysql(reading.value, readFile)
  if (!POSTGRES.test(scheme))
    return refused('it must begin with mysql://, mariadb:// or postgresql://, with or without a +driver')
  if (database === '' && !parameters.has('dbname')) return refused('it names no database')
  const postgres = readPostgresUrl(text)
  return postgres.ok ? { ok: true, value: { kind: 'postgres', url: text } } : postgres
}
