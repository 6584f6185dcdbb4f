/**
 * The session that writes, over its lives. When it is lost, what was under way may still be committed by a server process
 * that has not noticed; so the next life begins by ending that process and seeing it gone. Then what can be read is final.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import type { ClientConfig } from 'pg'
import { NotSent, sessionLost } from './sql.ts'
import type { Rows, Run } from './sql.ts'
import { runOn } from './postgres-run.ts'

/** How long a write waits for a session, and a read for what was written to settle. */
const PATIENCE_MS = 2_000
const BACKOFF_MS = [50, 100, 200, 500, 1_000, 2_000]

type Backend = { readonly pid: number; readonly since: string }
type Session = { readonly client: Client; readonly run: Run; readonly backend: Backend }

export type WriterSession = {
  readonly run: Run
  /** The first session; rejects with the server's own words. */
  readonly ready: () => Promise<void>
  readonly settled: () => Promise<void>
  readonly close: () => Promise<void>
}

const SELF = `select pid, backend_start::text as since from pg_stat_activity where pid = pg_backend_pid()`
const END = `select pg_terminate_backend(pid) from pg_stat_activity where pid = $1::int and backend_start = $2::timestamptz`

const connect = async (config: ClientConfig): Promise<Session> => {
  const client = new Client(config)
  client.on('error', () => undefined)
  try {
    await client.connect()
    const run = runOn(client)
    const [self] = await run({ text: SELF, params: [] })
    return { client, run, backend: { pid: self!['pid'] as number, since: self!['since'] as string } }
  } catch (cause) {
    hangUp(client)
    throw cause
  }
}

/** Without a farewell: the other end may not listen any more. */
const hangUp = (client: Client): void => {
  const { connection } = client as unknown as { readonly connection?: { readonly stream?: { destroy: () => void } } }
  connection?.stream?.destroy()
}

const outlive = async ({ run }: Session, { pid, since }: Backend): Promise<void> => {
  while ((await run({ text: END, params: [pid, since] })).length > 0) await wait(20)
}

const patiently = async <T>(promised: Promise<T>): Promise<T> => {
  const timer = new AbortController()
  const late = wait(PATIENCE_MS, null, { signal: timer.signal, ref: false }).then(() => {
    throw new NotSent('no session with the database')
  })
  late.catch(() => undefined)
  return Promise.race([promised, late]).finally(() => timer.abort())
}

export const writerSession = (config: ClientConfig): WriterSession => {
  const ending = new AbortController()
  let current: Promise<Session> = connect(config).then(watched)
  current.catch(() => undefined)

  /** Null while there is none: then it is waited for. */
  let standing: Session | null = null
  function watched(session: Session): Session {
    standing = session
    session.client.on('end', () => lose(session))
    return session
  }
  const lost = new WeakSet<Session>()
  const lose = (session: Session): void => {
    if (ending.signal.aborted || lost.has(session)) return
    lost.add(session)
    standing = null
    hangUp(session.client)
    current = revive(session.backend)
    current.catch(() => undefined)
  }
  const revive = async (before: Backend): Promise<Session> => {
    for (let tries = 0; !ending.signal.aborted; tries++) {
      const session = await connect(config).catch(() => null)
      const alone =
        session !== null &&
        (await outlive(session, before).then(
          () => true,
          () => false,
        ))
      if (session !== null && alone) return watched(session)
      if (session !== null) hangUp(session.client)
      await wait(BACKOFF_MS[Math.min(tries, BACKOFF_MS.length - 1)], null, { ref: false })
    }
    throw new NotSent('closed')
  }
  const run: Run = async (statement): Promise<Rows> => {
    const session = standing ?? (await patiently(current))
    try {
      return await session.run(statement)
    } catch (cause) {
      if (sessionLost(cause)) lose(session)
      throw cause
    }
  }
  const close = async (): Promise<void> => {
    ending.abort()
    const session = await patiently(current).catch(() => null)
    await session?.client.end().catch(() => undefined)
  }
  return {
    run,
    ready: async () => void (await current),
    settled: async () => {
      if (standing === null) await patiently(current)
    },
    close,
  }
}
