/**
 * Checkpoints and vacuum of the embedded database, which a server does in the background; here they run between two
 * statements.
 */
import type { PGlite } from '@electric-sql/pglite'

/** Limits how much write-ahead log the next start has to replay after a kill. */
const CHECKPOINT_BYTES = 8_000_000
/** After this many checkpoints all tables are vacuumed, which takes some tenths of a second. */
const SWEEP_EVERY = 16

/** Tables whose rows change all the time: without frequent vacuum, readers would have to skip many dead rows. */
const BRISK = 'due, pending_orders, snapshots, checkpoints, hosts'

export type Upkeep = {
  readonly wrote: (params: readonly unknown[]) => void
  readonly whenDue: () => Promise<void>
}

export const upkeepOf = (db: PGlite): Upkeep => {
  let bytes = 0
  let checkpoints = 0
  const run = async (text: string): Promise<void> => {
    // Errors are ignored: at the first start there are no tables yet, and a failed run is repeated later.
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
