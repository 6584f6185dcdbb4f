/** A statement of ours on a client or pool of `pg`. */
import type { Client, Pool } from 'pg'
import type { Rows, Run, Statement } from './sql.ts'

export const runOn =
  (client: Client | Pool): Run =>
  async ({ text, params, name }: Statement): Promise<Rows> => {
    const query = { text, values: [...params], ...(name === undefined ? {} : { name }) }
    return (await client.query<Record<string, unknown>>(query)).rows
  }
