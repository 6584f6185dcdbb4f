/**
 * Decides that a record that another process renews has expired: this process saw it unchanged for its duration, by its
 * own monotonic clock. Clocks of the database and of other machines may jump; they do not matter here. Kubernetes
 * decides in the same way that a lease has ended.
 */

/**
 * A record that nobody has asked about for this long is forgotten; the next question counts as the first sight of it.
 */
const FORGOTTEN_MS = 60_000
const SWEEP_EVERY = 1000

type Seen = { readonly mark: string; readonly since: number; asked: number }
export type Observer = {
  /**
   * Whether the record has had this mark for `forMs` since it was first seen with it. The mark changes with each
   * renewal.
   */
  readonly isOver: (name: string, mark: string, forMs: number) => boolean
}

/** `monotonic`: ms, never goes back. */
export const createObserver = (monotonic: () => number, forgottenMs = FORGOTTEN_MS): Observer => {
  const records = new Map<string, Seen>()
  let asked = 0
  const sweep = (now: number): void => {
    for (const [name, seen] of records) if (now - seen.asked > forgottenMs) records.delete(name)
  }
  return {
    isOver: (name, mark, forMs) => {
      const now = monotonic()
      if (++asked % SWEEP_EVERY === 0) sweep(now)
      const seen = records.get(name)
      if (seen?.mark === mark) {
        seen.asked = now
        return now - seen.since >= forMs
      }
      records.set(name, { mark, since: now, asked: now })
      return false
    },
  }
}
