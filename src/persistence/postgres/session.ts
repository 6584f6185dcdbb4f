/**
 * The writing session, which is reopened when it is lost or finds its server read-only. The server process (backend) of
 * a lost session may not have noticed the loss and may still commit its last statement. So the next session first ends
 * that backend and waits until it is gone; from then on reads are final.
 *
 * A sole writer holds an exclusive advisory lock in this session. As long as its first session lasts, no other process
 * can have written, and its cached state is valid. After a loss the writer takes the lock again and goes on without
 * that guarantee, unless another process holds the lock. Processes that write together hold the lock as shared, so a
 * sole writer, which works on whole tables, is refused.
 */
import { systemClock } from '../../vocabulary/clock.ts'
import { backoffMs, orLate, pause } from '../../vocabulary/waiting.ts'
import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from 'pg'
import { expectWritable } from '../incarnationSql.ts'
import { NotSent, causeOf, readOnly, sessionLost } from '../sql.ts'
import type { Rows, Run } from '../sql.ts'
import { expectKeptSession, openClient, type SessionConfig } from './client.ts'
import { hangUp, runOn } from './run.ts'

/** How long a write waits for a session, and how long `readsAreFinal` waits before it rejects. */
const PATIENCE_MS = 2_000
/**
 * How long a session tries to take the lock: the backend of a killed writer may need a moment to notice and to release
 * it.
 */
const TAKEN_MS = 5_000
/**
 * How often a sole writer checks its session; shorter than the time after which the server releases the lock of a dead
 * connection.
 */
const LOOK_MS = 2_000
const KEEPALIVE = {
  tcp_keepalives_idle: 15,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 30_000,
}
const BACKOFF = { firstMs: 50, maxMs: 2000 }

type Backend = { readonly pid: number; readonly since: string }
type Session = { readonly client: Client; readonly run: Run; readonly backend: Backend }

export type WriterSession = {
  readonly run: Run
  /** Resolves when the first session is open; rejects with the error of the server. */
  readonly ready: () => Promise<void>
  /** Resolves when a session is open: the one that is open now, or the next one. */
  readonly reopened: () => Promise<void>
  /** True: this is a sole writer, and no other process can have written since it opened. */
  readonly undisturbed: () => boolean
  /** Resolves when another process has taken the lock. */
  readonly displaced: Promise<Error>
  /** How many sessions have been opened. */
  readonly sessions: () => number
  readonly close: () => Promise<void>
}
/** Checks each new session before it is used; rejects when the session must not be used. */
export type CheckSession = (run: Run) => Promise<void>

const SELF = `select pid, backend_start::text as since from pg_stat_activity where pid = pg_backend_pid()`
const END = `select pg_terminate_backend(pid) from pg_stat_activity where pid = $1::int and backend_start = $2::timestamptz`

/** `alone` takes the lock exclusively, `together` takes it shared. */
export type Presence = 'alone' | 'together'
const LOCK: Readonly<Record<Presence, string>> = {
  alone: `select pg_try_advisory_lock(hashtextextended('accelerando', 0)) as held`,
  together: `select pg_try_advisory_lock_shared(hashtextextended('accelerando', 0)) as held`,
}
const HOLDER = `select pid from pg_locks where locktype = 'advisory' and granted
  and database = (select oid from pg_database where datname = current_database())`
const PING = { text: 'select 1', params: [] }

const takeLock = async ({ run }: Session, presence: Presence): Promise<void> => {
  const end = performance.now() + TAKEN_MS
  for (;;) {
    const [lock] = await run({ text: LOCK[presence], params: [] })
    if (lock!['held'] === true) return
    if (performance.now() >= end) break
    await pause(systemClock, 100)
  }
  const [holder] = await run({ text: HOLDER, params: [] })
  const pid = (holder?.['pid'] as number | undefined) ?? 'unknown'
  throw new Displaced(`another accelerando uses this database: server process ${pid} holds its lock`)
}

/** Another process holds the lock. */
class Displaced extends Error {}

const connect = async (config: SessionConfig): Promise<Session> => {
  const client = await openClient(config)
  try {
    const run = runOn(client)
    await expectWritable(run)
    const [self] = await run({ text: SELF, params: [] })
    const backend = { pid: self!['pid'] as number, since: self!['since'] as string }
    await expectKeptSession(client, config, backend.pid)
    return { client, run, backend }
  } catch (cause) {
    hangUp(client)
    throw cause
  }
}

const outlive = async ({ run }: Session, { pid, since }: Backend): Promise<void> => {
  while ((await run({ text: END, params: [pid, since] })).length > 0) await pause(systemClock, 20)
}

const patiently = <T>(promised: Promise<T>, why: () => string = () => 'no answer'): Promise<T> =>
  orLate(systemClock, promised, PATIENCE_MS, () => {
    throw new NotSent(`no session with the database: ${why()}`)
  })

class Writer {
  readonly #config: SessionConfig
  readonly #presence: Presence | null
  readonly #ending = new AbortController()
  readonly #displaced = Promise.withResolvers<Error>()
  readonly #lost = new WeakSet<Session>()
  readonly #looking: NodeJS.Timeout | undefined
  readonly #checkSession: CheckSession
  #undisturbed: boolean
  #sessions = 0
  /** Why the last session that was tried could not be used. */
  #lastFailure = 'no answer'
  #current: Promise<Session>
  /** The open session; null while it is being reopened. */
  #standing: Session | null = null

  constructor(given: SessionConfig, presence: Presence | null, checkSession: CheckSession) {
    const sole = presence === 'alone'
    this.#config = sole ? { ...given, settings: { ...given.settings, ...KEEPALIVE } } : given
    this.#presence = presence
    this.#checkSession = checkSession
    this.#undisturbed = sole
    this.#current = this.#open()
    this.#current.catch(() => undefined)
    if (sole) this.#looking = setInterval(() => void this.run(PING).catch(() => undefined), LOOK_MS).unref()
  }
  async #open(): Promise<Session> {
    const session = await connect(this.#config)
    if (this.#presence !== null)
      await takeLock(session, this.#presence).catch((cause: unknown) => {
        hangUp(session.client)
        throw cause
      })
    return this.#watched(session)
  }
  #watched(session: Session): Session {
    this.#sessions++
    this.#standing = session
    session.client.on('end', () => this.#lose(session))
    return session
  }
  #lose(session: Session): void {
    if (this.#ending.signal.aborted || this.#lost.has(session)) return
    this.#lost.add(session)
    this.#standing = null
    this.#undisturbed = false
    hangUp(session.client)
    this.#current = this.#revive(session.backend)
    this.#current.catch(() => undefined)
  }
  /** Ends the backend of the lost session and takes the lock. False: that failed, or another process holds the lock. */
  async #inherits(session: Session, before: Backend): Promise<boolean> {
    try {
      await outlive(session, before)
      if (this.#presence !== null) await takeLock(session, this.#presence)
      await this.#checkSession(session.run)
      return true
    } catch (cause) {
      if (cause instanceof Displaced) this.#displaced.resolve(cause)
      this.#lastFailure = causeOf(cause)
      return false
    }
  }
  async #revive(before: Backend): Promise<Session> {
    for (let failures = 1; !this.#ending.signal.aborted; failures++) {
      const session = await connect(this.#config).catch((cause: unknown) => {
        this.#lastFailure = causeOf(cause)
        return null
      })
      if (session !== null && (await this.#inherits(session, before))) return this.#watched(session)
      if (session !== null) hangUp(session.client)
      await wait(backoffMs(BACKOFF, failures), null, { ref: false })
    }
    throw new NotSent('closed')
  }
  readonly run: Run = async (statement): Promise<Rows> => {
    const session = this.#standing ?? (await patiently(this.#current, () => this.#lastFailure))
    try {
      return await session.run(statement)
    } catch (cause) {
      if (sessionLost(cause) || readOnly(cause)) this.#lose(session)
      throw cause
    }
  }
  readonly ready = async (): Promise<void> => void (await this.#current)
  readonly reopened = async (): Promise<void> => {
    if (this.#standing === null) await patiently(this.#current)
  }
  readonly undisturbed = (): boolean => this.#undisturbed
  readonly sessions = (): number => this.#sessions
  get displaced(): Promise<Error> {
    return this.#displaced.promise
  }
  readonly close = async (): Promise<void> => {
    this.#ending.abort()
    clearInterval(this.#looking)
    const session = await patiently(this.#current).catch(() => null)
    await session?.client.end().catch(() => undefined)
  }
}

export const writerSession = (
  given: SessionConfig,
  presence: Presence | null = null,
  checkSession: CheckSession = async () => {},
): WriterSession => new Writer(given, presence, checkSession)
