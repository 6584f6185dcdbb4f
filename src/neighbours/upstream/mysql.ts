/** Upstream's database on MariaDB or MySQL. */
import { readFileSync } from 'node:fs'
import { type Connection, createConnection } from 'mysql2/promise'
import type { MysqlAddress, MysqlTls } from './mysqlAddress.ts'
import { CONNECT_MS, QUERY_MS, type TextRow, type UpstreamSource } from './source.ts'

/** All pages are read from one snapshot, and the transaction cannot write. */
const BEGIN = [
  'set session transaction isolation level repeatable read',
  'start transaction with consistent snapshot, read only',
]

const sslOf = ({ ca, cert, key, verifyCertificate, verifyName }: MysqlTls) => ({
  ...(ca === null ? {} : { ca: readFileSync(ca) }),
  ...(cert === null ? {} : { cert: readFileSync(cert) }),
  ...(key === null ? {} : { key: readFileSync(key) }),
  rejectUnauthorized: verifyCertificate,
  verifyIdentity: verifyName,
})

const connect = ({ host, port, user, password, database, socket, tls }: MysqlAddress): Promise<Connection> =>
  createConnection({
    ...(socket === null ? { host, port } : { socketPath: socket }),
    user,
    password,
    database,
    connectTimeout: CONNECT_MS,
    charset: 'utf8mb4',
    ...(tls === null ? {} : { ssl: sslOf(tls) }),
    // the client must not decode numbers, dates or JSON
    typeCast: (field) => field.string(),
  })

export const openMysql = async (address: MysqlAddress): Promise<UpstreamSource> => {
  const connection = await connect(address)
  // without a listener the error of a broken connection would end the process; the query that uses the connection
  // rejects
  connection.on('error', () => undefined)
  const run = async (sql: string, values: readonly number[] = []): Promise<readonly TextRow[]> => {
    const [rows] = await connection.query({ sql, timeout: QUERY_MS, values: [...values] })
    return Array.isArray(rows) ? (rows as readonly TextRow[]) : []
  }
  const close = async () => connection.destroy()
  try {
    for (const statement of BEGIN) await run(statement)
  } catch (error) {
    await close()
    throw error
  }
  return {
    page: (table, after, limit) => run(`select * from \`${table}\` where id > ? order by id limit ?`, [after, limit]),
    close,
  }
}
