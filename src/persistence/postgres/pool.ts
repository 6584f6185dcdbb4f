/** A pool of sessions whose sessions can be replaced all at once while it is in use. */
import { Pool } from 'pg'
import type { PoolConfig } from 'pg'
import { createSemaphore } from '../../semaphore.ts'
import type { Run } from '../sql.ts'
import { runOn } from './run.ts'

export type ReplaceablePool = {
  readonly run: Run
  /** What begins from now on runs in new sessions; the old ones end when their statements do. */
  readonly replace: () => void
  /** Resolves when all sessions have ended, the replaced ones too. */
  readonly end: () => Promise<void>
}

const IDLE_MS = 30_000

const open = (config: PoolConfig): Pool => {
  const pool = new Pool({ ...config, idleTimeoutMillis: IDLE_MS })
  // The pool replaces a connection that fails while idle at the next query.
  pool.on('error', () => undefined)
  return pool
}

/** `waitMs`: how long a statement waits for a free session. */
export const createPool = (config: PoolConfig & { readonly max: number }, waitMs: number): ReplaceablePool => {
  // the queue of `pg` itself never serves who waits in a pool that is being ended, so callers wait here, before they choose a pool
  const error = () => new Error(`no connection to the database was free within ${waitMs} ms`)
  const inTurn = createSemaphore(config.max, { ms: waitMs, error })
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
