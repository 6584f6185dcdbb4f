/** The ports for time and identifiers, so that a simulation can replace both. */
import { randomBytes, randomUUID } from 'node:crypto'

export const DAY_MS = 86_400_000

export type Clock = {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /**
   * Milliseconds since some fixed moment; advances while the process is suspended, and does not jump when the clock is
   * set.
   */
  readonly monotonic: () => number
  /** Calls `run` once, after at least `ms` by the monotonic clock, unless the returned function is called before. */
  readonly after: (ms: number, run: () => void) => Cancel
}
export type Cancel = () => void

export type Ids = {
  /** A random UUID (version 4), lower case. */
  readonly uuid: () => string
  /** A time-ordered UUID (version 7): within a process, later calls sort later. */
  readonly ordered: () => string
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, run) => {
    const waitMs = Math.min(Math.max(0, ms), 2 ** 31 - 1)
    const due = performance.now() + waitMs
    // Node counts from the beginning of the present step of its event loop, so a timer may fire too early
    const fire = (): void => {
      const leftMs = due - performance.now()
      if (leftMs > 0) timer = setTimeout(fire, leftMs)
      else run()
    }
    let timer = setTimeout(fire, waitMs)
    return () => clearTimeout(timer)
  },
}

/** A clock whose `now` is wrong by `offsetMs`; its timers are right. */
export const shifted = (clock: Clock, offsetMs: number): Clock =>
  offsetMs === 0 ? clock : { ...clock, now: () => clock.now() + offsetMs }

/**
 * UUIDv7 with a 12-bit counter in `rand_a`, so that UUIDs made in one millisecond keep their order. The package `uuid`
 * is not used: with a given time it does not keep an order, and without one it reads the clock of the machine.
 */
export const orderedIds = (now: () => number, bytes: (count: number) => Uint8Array): (() => string) => {
  let last = 0
  let counter = 0
  return () => {
    const at = now()
    if (at > last) [last, counter] = [at, 0]
    else if (++counter > 0xfff) [last, counter] = [last + 1, 0]
    const time = last.toString(16).padStart(12, '0')
    const tail = Buffer.from(bytes(8))
    tail[0] = (tail[0]! & 0x3f) | 0x80
    const rest = tail.toString('hex')
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, '0')}-${rest.slice(0, 4)}-${rest.slice(4)}`
  }
}

/** Identifiers whose ordered UUIDs contain the time of this clock. */
export const idsBy = ({ now }: Pick<Clock, 'now'>): Ids => ({
  uuid: () => randomUUID(),
  ordered: orderedIds(now, randomBytes),
})
export const systemIds: Ids = idsBy(systemClock)
