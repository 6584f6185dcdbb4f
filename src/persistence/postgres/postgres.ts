/** PostgreSQL over the network: a small pool of sessions for reads, and one session for writes. */
import { type Client, types } from 'pg'
import { type Log, silent } from '../../vocabulary/log.ts'
import { postgresClient } from '../../vocabulary/postgresUrl.ts'
import { PLANNER } from '../planner.ts'
import { postgresHints } from './hints.ts'
import { openClient, type SessionConfig } from './client.ts'
import { createPool } from './pool.ts'
import { again, runOn } from './run.ts'
import type { Presence, CheckSession } from './session.ts'
import { writerSession } from './session.ts'
import type { Database, Run } from '../sql.ts'

export type PostgresOptions = {
  readonly url: string
  /**
   * The longest run of a statement, default 5 s; callers wait longer. Other time-outs depend on it (`session`), and a
   * read waits as long for a connection.
   */
  readonly statementTimeoutMs?: number
  /** Connections for reads, default 4. There are two more for leases and claims, one for hints, and one for writes. */
  readonly readers?: number
  /** Absent: nothing is logged. */
  readonly log?: Log
  /**
   * True: the store opens only if no other process has it open. False: several processes may write, and a sole writer
   * is refused.
   */
  readonly sole?: boolean
  /** True for the operator's command `migrate --adopt`, which may write while writing is stopped. */
  readonly adopting?: boolean
}

const INT8 = 20
const READERS = 4
/** Connections for leases and claims. */
const SHARERS = 2

/** The longest wait for a connection that is being opened. */
const CONNECT_MS = 5_000
/** The longest wait for a lock. After it the statement writes nothing, and the caller is told to retry. */
const LOCK_MS = 3_000
/**
 * Settings of each session. A process that is disconnected or paused keeps its locks for about ten seconds at most: the
 * server ends an idle transaction, and a connection whose other end no longer acknowledges data.
 */
const session = (timeoutMs: number): Readonly<Record<string, string | number>> => ({
  ...PLANNER,
  // one session compares or reads values that another one has read as text, so their text must not depend on settings
  // of role or database
  datestyle: 'ISO',
  timezone: 'UTC',
  statement_timeout: timeoutMs,
  lock_timeout: Math.min(LOCK_MS, timeoutMs),
  idle_in_transaction_session_timeout: 10_000,
  tcp_user_timeout: 10_000,
  tcp_keepalives_idle: 4,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
})

export const clientConfig = (url: string, timeoutMs: number): SessionConfig => ({
  application_name: 'accelerando',
  ...postgresClient(url),
  keepAlive: true,
  keepAliveInitialDelayMillis: 5_000,
  connectionTimeoutMillis: CONNECT_MS,
  // If the server has not even cancelled the statement after this time, the connection is considered dead.
  query_timeout: timeoutMs + 2_000,
  settings: session(timeoutMs),
  types: { getTypeParser: parserOf },
})

/** Timestamps and counters fit a double; by default the driver returns int8 as text. */
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
  /** Absent for callers that only read or that lock tables. */ readonly presence?: Presence
  readonly checkSession?: CheckSession
}

export const postgresDatabase = async (options: Presented): Promise<Database> => {
  const timeoutMs = options.statementTimeoutMs ?? 5_000
  const given = clientConfig(options.url, timeoutMs)
  const config = options.adopting ? { ...given, settings: { ...given.settings, 'accelerando.adopting': 'on' } } : given
  const readers = createPool({ ...config, max: options.readers ?? READERS }, timeoutMs)
  const sharers = createPool({ ...config, max: SHARERS }, timeoutMs)
  let closing = false
  /**
   * When the writer has a new session, the pools get new ones too, so that no session stays on a server that the writer
   * has left.
   */
  const checkSession = async (run: Run): Promise<void> => {
    await options.checkSession?.(run)
    // `close` ends the sessions of both pools
    if (closing) return
    readers.replace()
    sharers.replace()
  }
  const hints = postgresHints(given, options.log ?? silent)
  const writer = writerSession(config, options.presence, checkSession)
  const close = async (): Promise<void> => {
    closing = true
    await Promise.all([writer.close(), hints.close(), readers.end(), sharers.end()])
  }
  await writer.ready().catch(async (cause: unknown) => {
    await close()
    throw cause
  })
  const transaction = async <T>(work: (run: Run) => Promise<T>): Promise<T> => {
    const client = await openClient({ ...config, query_timeout: 0 })
    return transactionOn(client, work).finally(() => void client.end().catch(() => undefined))
  }
  return {
    kind: 'postgres',
    get exclusive() {
      return writer.undisturbed()
    },
    lost: writer.displaced,
    read: again(readers.run),
    write: writer.run,
    share: sharers.run,
    readsAreFinal: writer.reopened,
    incarnation: writer.sessions,
    hints,
    transaction,
    close,
  }
}
