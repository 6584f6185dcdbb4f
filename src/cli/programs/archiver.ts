/**
 * Archives by itself what ended long ago, where the configuration says so.
 *
 * ARCHIVER-1 of several controls one archives at a time: the one that holds the lease `archive`;
 * ARCHIVER-2 each portion is one statement, a round has at most `PORTIONS_MAX` of them, and others have a pause after each;
 * ARCHIVER-3 a round that fails is logged, and the next one goes on where it ended.
 */
import type { Clock, Ids } from '../../clock.ts'
import { textOf } from '../../errorText.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../persistence/store.ts'
import { createPauses } from '../../waiting.ts'

export type Archiver = {
  /** One round: how many rows it moved; null: another process archives. */
  readonly round: () => Promise<number | null>
  readonly start: () => void
  /** Resolves when the portion that is being moved is done. */
  readonly stop: () => Promise<void>
}
type Parts = {
  readonly store: Pick<Store, 'archiveEnded' | 'sharing'>
  /** What ended longer ago than this is archived. */
  readonly endedMs: number
  readonly clock: Clock
  readonly ids: Pick<Ids, 'uuid'>
  readonly log: Log
}

/** Archives when a time is given, and does nothing otherwise. */
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
