/** The identity of the cloud, which is part of its database: an id, and the key with which its orders are signed. */
import type { Database } from './sql.ts'

/** `privateKey`: PKCS8 as PEM text. Whoever knows this key can give orders to the hosts of this cloud. */
export type StoredCloud = { readonly id: string; readonly privateKey: string }

const READ = `select id, private_key from cluster where name = 'this'`
/** If several programs find no key, the first one to write decides. */
const ADD = `update cluster set private_key = $1 where name = 'this' and private_key is null`

const identityIn = async ({ read }: Pick<Database, 'read'>) => {
  const [row] = await read({ text: READ, params: [] })
  if (row === undefined) throw new Error('the table cluster is empty: this database has lost the identity of its cloud')
  return { id: row['id'] as string, privateKey: row['private_key'] as string | null }
}

/**
 * Makes the key if there is none. Rejects when the migration that makes the table has not run, or the role may not read
 * or change it.
 */
export const cloudIn = async (
  database: Pick<Database, 'read' | 'write'>,
  newKey: () => string,
): Promise<StoredCloud> => {
  const known = await identityIn(database)
  if (known.privateKey !== null) return { ...known, privateKey: known.privateKey }
  await database.write({ text: ADD, params: [newKey()] })
  const { id, privateKey } = await identityIn(database)
  if (privateKey === null) throw new Error('the table cluster does not keep the key of the cloud')
  return { id, privateKey }
}
