/**
 * Archives automatically the entities that ended long ago, if this is configured.
 *
 * ARCHIVER-1 only one of several controls archives at a time: the holder of the lease `archive`;
 * ARCHIVER-2 each portion is one statement, a round has at most `PORTIONS_MAX` portions, and there is a pause after
 *    each for others;
 * ARCHIVER-3 a failed round is logged, and the next one continues where it ended.
 */
import type { Clock, Ids } from '../../vocabulary/clock.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { Store } from '../../persistence/store.ts'
import { createPauses } from '../../vocabulary/waiting.ts'

export type Archiver = {
  /** Runs one round. Resolves to the number of moved rows; null: another process archives. */
  readonly round: () => Promise<number | null>
  readonly start: () => void
  /** Resolves when the portion that is being moved is finished. */
  readonly stop: () => Promise<void>
}
type Parts = {
  readonly store: Pick<Store, 'archiveEnded' | 'sharing'>
  /** Entities that ended longer ago than this are archived. */
  readonly endedMs: number
  readonly clock: Clock
  readonly ids: Pick<Ids, 'uuid'>
  readonly log: Log
}

/** Starts the archiver if `endedMs` is given; otherwise does nothing. */
export const startArchiver = ({ endedMs, ...parts }: Omit<Parts, 'endedMs'> & { readonly endedMs: number | null }) => {
  const archiver = endedMs === null ? null : createArchiver({ ...parts, endedMs })
  archiver?.start()
  return { stop: async () => archiver?.stop() }
}

const LEASE = 'archive'
const EVERY_MS = 60_000
/** Journal rows that one portion examines. */
const PORTION_ROWS = 1000
const PORTIONS_MAX = 60
const PAUSE_MS = 250

export const createArchiver = ({ store, endedMs, clock, ids, log }: Parts): Archiver => {
  const holder = ids.uuid()
  const pauses = createPauses(clock)
  let stopped = false
  let running: Promise<void> = Promise.resolve()
  const holdsLease = async () => (await store.sharing.acquire(LEASE, holder, 2 * EVERY_MS)) !== null

  const round = async (): Promise<number | null> => {
    if (!(await holdsLease())) return null
    let rows = 0
    for (let portion = 0; portion < PORTIONS_MAX && !stopped; portion++) {
      const moved = await store.archiveEnded({ before: clock.now() - endedMs, limit: PORTION_ROWS })
      rows += moved.rows
      if (!moved.more) break
      await pauses.pause(PAUSE_MS)
    }
    if (rows > 0) log.info({ rows }, 'journal.archived')
    return rows
  }
  const loop = async (): Promise<void> => {
    while (!stopped) {
      await round().catch((error: unknown) => log.warn({ error: textOf(error) }, 'archive.failed'))
      await pauses.pause(EVERY_MS)
    }
  }
  return {
    round,
    start: () => void (running = loop()),
    stop: async () => {
      stopped = true
      pauses.stop()
      await running
      await store.sharing.release(LEASE, holder).catch((error: unknown) => {
        log.warn({ error: textOf(error) }, 'archive.release')
      })
    },
  }
}
