/**
 * Opens sessions with a server. What a session needs is set by a statement and not by its startup message, because a
 * pooler refuses or drops what it does not know there. A pooler that does not keep a session for its client is refused:
 * locks, settings, notifications and prepared statements would be those of others.
 */
import { Client, type ClientBase, type ClientConfig } from 'pg'
import { Misaddressed, withAdvice } from '../../vocabulary/postgresUrl.ts'
import { hangUp } from './run.ts'

export type SessionConfig = ClientConfig & { readonly settings: Readonly<Record<string, string | number>> }

const SET = 'select set_config(key, value, false) from json_each_text($1::json)'
export const applySettings = async (client: ClientBase, { settings }: SessionConfig): Promise<void> =>
  void (await client.query(SET, [JSON.stringify(settings)]))

/** The caller takes care of a session that is opening, in order to end it. */
export const connectClient = async (client: Client, config: SessionConfig): Promise<void> => {
  client.on('error', () => undefined)
  try {
    await client.connect()
    await applySettings(client, config)
  } catch (cause) {
    hangUp(client)
    throw withAdvice(cause)
  }
}
export const openClient = async (config: SessionConfig): Promise<Client> => {
  const client = new Client(config)
  await connectClient(client, config)
  return client
}

const POOLER = new Misaddressed(
  'a pooler in front of the database keeps no sessions',
  'connect to PostgreSQL itself, or set pool_mode = session for this database and user in PgBouncer',
)
const pidOf = async (client: Client): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid

/**
 * Rejects when the server process behind the session may change. A pooler tells its clients numbers of its own, so only
 * behind one a second session is opened; in a transaction, it takes the server process that the first one has left.
 */
export const expectKeptSession = async (client: Client, config: SessionConfig, known?: number): Promise<void> => {
  const { processID } = client as unknown as { readonly processID: number | null }
  const own = known ?? (await pidOf(client))
  if (processID === own) return
  const other = await openClient(config)
  try {
    const its = await other
      .query('begin')
      .then(() => pidOf(other))
      .catch(() => own)
    if (its === own || (await pidOf(client)) !== own) throw POOLER
  } finally {
    await other.end().catch(() => undefined)
  }
}
