/** Upstream's tables on PostgreSQL with columns of text, as an import reads them: without upstream's own programs. */
import { Client } from 'pg'
import type { UpstreamTables } from '../../src/actors/upstream/rows.ts'
import { insertsOf } from './insert.ts'

const asText = (value: unknown): string | null => {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  return JSON.stringify(typeof value === 'boolean' ? Number(value) : value)
}

/** Makes the tables in an empty database, and fills them. */
export const fillTextTables = async (url: string, tables: UpstreamTables): Promise<void> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  for (const { table, columns, rows } of insertsOf(tables)) {
    const named = columns.map((name) => `"${name}"`)
    await client.query(`create table "${table}" (${named.map((name) => `${name} text`).join(', ')})`)
    await client.query(`alter table "${table}" alter column id type bigint using id::bigint`)
    const lists = columns.map((name, at) => `$${at + 1}::${name === 'id' ? 'bigint' : 'text'}[]`)
    const values = columns.map((_, at) => rows.map((row) => asText(row[at])))
    await client.query(`insert into "${table}" select * from unnest(${lists.join(', ')})`, values)
  }
  await client.end()
}
