/** Upstream's database on PostgreSQL. */
import { Client } from 'pg'
import { postgresClient, withAdvice } from '../../vocabulary/postgresUrl.ts'
import { CONNECT_MS, QUERY_MS, type TextRow, type UpstreamSource } from './source.ts'

/** The client must not decode numbers, dates or JSON. */
const AS_TEXT = { getTypeParser: () => (text: string) => text }

export const openPostgres = async (url: string): Promise<UpstreamSource> => {
  const client = new Client({
    ...postgresClient(url),
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: QUERY_MS,
    application_name: 'accelerando import',
    types: AS_TEXT,
  })
  // without a listener the error of a broken connection would end the process; the query that uses the connection
  // rejects
  client.on('error', () => undefined)
  const close = () => client.end()
  try {
    await client.connect()
    // all pages are read from one snapshot, and the transaction cannot write
    await client.query('begin transaction isolation level repeatable read, read only')
  } catch (error) {
    await close().catch(() => undefined)
    throw withAdvice(error)
  }
  return {
    page: async (table, after, limit) => {
      const text = `select * from "${table}" where id > $1 order by id limit $2`
      return (await client.query<TextRow>(text, [after, limit])).rows
    },
    close,
  }
}
