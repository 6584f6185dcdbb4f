/** What a server does in the background, the embedded database does here, between two statements. */
import type { PGlite } from '@electric-sql/pglite'

/** A killed process leaves what was logged since the last checkpoint to be replayed at the next start. */
const CHECKPOINT_BYTES = 8_000_000
/** Large tables are swept rarely: it takes them some tenths of a second. */
const SWEEP_EVERY = 16

/** Rows come and go all the time here, and readers would walk over the dead ones. */
const BRISK = 'due, pending_orders, snapshots, checkpoints, hosts'

export type Upkeep = {
  readonly wrote: (params: readonly unknown[]) => void
  readonly whenDue: () => Promise<void>
}

export const upkeepOf = (db: PGlite): Upkeep => {
  let bytes = 0
  let checkpoints = 0
  const run = async (text: string): Promise<void> => {
    // A first start has no tables yet; and upkeep that fails is tried again later.
    await db.query(text).catch(() => undefined)
  }
  return {
    wrote: (params) => {
      for (const param of params) bytes += typeof param === 'string' ? param.length : 8
    },
    whenDue: async () => {
      if (bytes < CHECKPOINT_BYTES) return
      bytes = 0
      await run(++checkpoints % SWEEP_EVERY === 0 ? 'vacuum (analyze)' : `vacuum ${BRISK}`)
      await run('checkpoint')
    },
  }
}
