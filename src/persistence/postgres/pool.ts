/** A pool of sessions whose sessions can be replaced all at once while it is in use. */
import { Pool } from 'pg'
import type { ClientBase, PoolConfig } from 'pg'
import { systemClock } from '../../vocabulary/clock.ts'
import { createSemaphore } from '../../vocabulary/semaphore.ts'
import type { Run } from '../sql.ts'
import { applySettings, type SessionConfig } from './client.ts'
import { runOn } from './run.ts'

export type ReplaceablePool = {
  readonly run: Run
  /** Statements that start after this call run in new sessions; an old session ends when its statement has ended. */
  readonly replace: () => void
  /** Resolves when all sessions have ended, including the replaced ones. */
  readonly end: () => Promise<void>
}

const IDLE_MS = 30_000

type Config = PoolConfig & SessionConfig & { readonly max: number }

const open = (config: Config): Pool => {
  const prepare = (client: ClientBase): Promise<void> => applySettings(client, config)
  // the pool waits for the promise, which its types do not say
  const onConnect = prepare as (client: ClientBase) => void
  const pool = new Pool({ ...config, idleTimeoutMillis: IDLE_MS, onConnect })
  // an error of an idle connection needs no handling: the pool replaces the connection at the next query
  pool.on('error', () => undefined)
  return pool
}

/** `waitMs`: how long a statement waits for a free session. */
export const createPool = (config: Config, waitMs: number): ReplaceablePool => {
  // statements wait here before they choose a pool: `pg` never serves statements that wait in a pool that is being
  // ended
  const error = () => new Error(`no connection to the database was free within ${waitMs} ms`)
  const inTurn = createSemaphore(config.max, { ms: waitMs, error, clock: systemClock })
  const ending = new Set<Promise<unknown>>()
  let pool = open(config)
  const end = (ended: Pool): Promise<unknown> => {
    const promise = ended.end().finally(() => void ending.delete(promise))
    ending.add(promise)
    return promise
  }
  return {
    run: (statement) => inTurn(() => runOn(pool)(statement)),
    replace: () => {
      const before = pool
      pool = open(config)
      void end(before)
    },
    end: async () => void (await Promise.all([end(pool), ...ending])),
  }
}
