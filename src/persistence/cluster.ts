/** The identity of the cloud, which is part of its database. */
import type { Database } from './sql.ts'

export type ClusterIdentity = { readonly id: string }

/** Rejects when the migration that makes it has not run, or the role may not read it. */
export const clusterIn = async ({ read }: Pick<Database, 'read'>): Promise<ClusterIdentity> => {
  const [row] = await read({ text: `select id from cluster where name = 'this'`, params: [] })
  if (row === undefined) throw new Error('the table cluster is empty: this database has lost the identity of its cloud')
  return { id: row['id'] as string }
}
