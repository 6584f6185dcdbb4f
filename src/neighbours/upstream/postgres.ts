/** Upstream's database on PostgreSQL. */
import { Client } from 'pg'
import { CONNECT_MS, QUERY_MS, type TextRow, type UpstreamSource } from './source.ts'

/** No number, date or JSON is decoded by the driver. */
const AS_TEXT = { getTypeParser: () => (text: string) => text }

export const openPostgres = async (url: string): Promise<UpstreamSource> => {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: QUERY_MS,
    application_name: 'accelerando import',
    types: AS_TEXT,
  })
  // a connection that breaks rejects the query that uses it
  client.on('error', () => undefined)
  const close = () => client.end()
  try {
    await client.connect()
    // one snapshot for all pages, and no write whatever happens
    await client.query('begin transaction isolation level repeatable read, read only')
  } catch (error) {
    await close().catch(() => undefined)
    throw error
  }
  return {
    page: async (table, after, limit) => {
      const text = `select * from "${table}" where id > $1 order by id limit $2`
      return (await client.query<TextRow>(text, [after, limit])).rows
    },
    close,
  }
}
