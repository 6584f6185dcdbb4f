/** PostgreSQL over the network: a small pool that reads, one session that writes. */
import { Client, Pool, types } from 'pg'
import type { ClientConfig } from 'pg'
import { PLANNER } from '../planner.ts'
import { again, runOn } from './run.ts'
import type { Presence } from './session.ts'
import { writerSession } from './session.ts'
import type { Database, Run } from '../sql.ts'

export type PostgresOptions = {
  readonly url: string
  /** Longer than any statement of ours, shorter than what a caller waits. 5 s. The other time-outs follow it, see `session`. */
  readonly statementTimeoutMs?: number
  /** Connections that read: 4. Two more share the work, and one writes. */
  readonly readers?: number
  /** No other process may write: the store does not open while another is open. False: several may, and keep a sole one out. */
  readonly sole?: boolean
}

const INT8 = 20
/** Connections for leases and claims. */
const SHARERS = 2

/** A lock is waited for as long as this: then nothing is written, and the caller is told to come again. */
const LOCK_MS = 3_000
/**
 * What each session is told. A process that is cut off or stands still keeps no lock for longer than about ten seconds: the
 * server ends a transaction that waits for it, and a connection whose other end no longer confirms what it was sent.
 */
const session = (timeoutMs: number): Readonly<Record<string, string | number>> => ({
  ...PLANNER,
  lock_timeout: Math.min(LOCK_MS, timeoutMs),
  idle_in_transaction_session_timeout: 10_000,
  tcp_user_timeout: 10_000,
  tcp_keepalives_idle: 4,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
})

export const clientConfig = (url: string, timeoutMs: number): ClientConfig => ({
  connectionString: url,
  application_name: 'accelerando',
  keepAlive: true,
  keepAliveInitialDelayMillis: 5_000,
  // for a new connection, and for one of the pool to be free
  connectionTimeoutMillis: 5_000,
  statement_timeout: timeoutMs,
  // The server did not even cancel in time: the connection is dead, though nobody said so.
  query_timeout: timeoutMs + 2_000,
  options: Object.entries(session(timeoutMs))
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' '),
  types: { getTypeParser: parserOf },
})

/** Moments and counters fit a double; the driver would hand out text. */
const parserOf = ((oid: Parameters<typeof types.getTypeParser>[0], format?: 'text') =>
  (oid as number) === INT8 ? Number : types.getTypeParser(oid, format)) as typeof types.getTypeParser

const transactionOn = async <T>(client: Client, work: (run: Run) => Promise<T>): Promise<T> => {
  const run = runOn(client)
  await run({ text: 'begin', params: [] })
  try {
    for (const limit of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'])
      await run({ text: `set local ${limit} = 0`, params: [] })
    const result = await work(run)
    await run({ text: 'commit', params: [] })
    return result
  } catch (cause) {
    await run({ text: 'rollback', params: [] }).catch(() => undefined)
    throw cause
  }
}

type Presented = Omit<PostgresOptions, 'sole'> & {
  /** Absent: whoever only looks, or keeps others out by locks of tables. */ readonly presence?: Presence
}

export const postgresDatabase = async (options: Presented): Promise<Database> => {
  const timeoutMs = options.statementTimeoutMs ?? 5_000
  const config = clientConfig(options.url, timeoutMs)
  const pool = new Pool({ ...config, max: options.readers ?? 4, idleTimeoutMillis: 30_000 })
  // A reader that dies while idle is replaced by the next query.
  pool.on('error', () => undefined)
  const shared = new Pool({ ...config, max: SHARERS, idleTimeoutMillis: 30_000 })
  shared.on('error', () => undefined)
  const writer = writerSession(config, options.presence)
  await writer.ready().catch(async (cause: unknown) => {
    await Promise.all([writer.close(), pool.end(), shared.end()])
    throw cause
  })
  const transaction = async <T>(work: (run: Run) => Promise<T>): Promise<T> => {
    const client = new Client({ ...config, query_timeout: 0 })
    client.on('error', () => undefined)
    await client.connect()
    return transactionOn(client, work).finally(() => void client.end().catch(() => undefined))
  }
  return {
    kind: 'postgres',
    get exclusive() {
      return writer.undisturbed()
    },
    lost: writer.displaced,
    read: again(runOn(pool)),
    write: writer.run,
    share: runOn(shared),
    settled: writer.settled,
    transaction,
    close: async () => void (await Promise.all([writer.close(), pool.end(), shared.end()])),
  }
}
