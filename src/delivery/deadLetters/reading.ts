/** Reads the dead letters on their topic, and goes on reading them (LETTERS-1, LETTERS-2). */
import type { Clock } from '../../vocabulary/clock.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import { type Outcome, done, refuse } from '../../vocabulary/fault.ts'
import type { Log } from '../../vocabulary/log.ts'
import { type Backoff, backoffMs, createPauses, endedWithin } from '../../vocabulary/waiting.ts'
import type { Box, Taken } from './box.ts'

/** Reads the topic from its beginning until `signal` is aborted. Rejects when that is not possible. */
export type Follow = (take: (message: Taken) => void, caughtUp: () => void, signal: AbortSignal) => Promise<void>

const WAIT_MS = 6000
const AGAIN: Backoff = { firstMs: 1000, maxMs: 30_000 }
const STOP_MS = 2000
type Parts = { readonly clock: Clock; readonly log: Log; readonly follow: Follow | null }

/** `follow` null: the box is filled without reading. */
export const createReading = ({ clock, log, follow }: Parts, box: Pick<Box, 'take'>) => {
  const end = new AbortController()
  const pauses = createPauses(clock)
  let first = Promise.withResolvers<void>()
  let running: Promise<void> | null = null
  let current = follow === null
  let wasCurrent = current
  let readError: string | null = null
  const caughtUp = (): void => {
    current = true
    wasCurrent = true
    readError = null
    first.resolve()
  }
  const read = async (begin: Follow): Promise<void> => {
    for (let failures = 1; !end.signal.aborted; failures++) {
      try {
        await begin(box.take, caughtUp, end.signal)
      } catch (error) {
        readError = textOf(error)
        log.warn({ reason: readError }, 'deadLetters.unread')
      }
      if (current) failures = 1
      current = false
      first.resolve()
      first = Promise.withResolvers()
      await pauses.pause(backoffMs(AGAIN, failures))
    }
  }
  const begin = (): void => {
    if (follow !== null) running ??= read(follow)
  }
  const refusal = (): Outcome<never> =>
    refuse({
      kind: 'unavailable',
      reason:
        readError === null ? 'the dead letters are still being read' : `the dead letters cannot be read: ${readError}`,
      retryAfterSeconds: 5,
    })
  return {
    begin,
    /** Whether the topic was read to its end since the start, also if the reading has broken off since. */
    wasCurrent: () => wasCurrent,
    /** Waits a while for the end of the topic, and refuses if it was not reached (LETTERS-2). */
    readToEnd: async (): Promise<Outcome<null>> => {
      begin()
      if (!current && readError === null) await endedWithin(clock, WAIT_MS, first.promise)
      return current ? done(null) : refusal()
    },
    stop: async () => {
      end.abort()
      pauses.stop()
      await endedWithin(clock, STOP_MS, running ?? Promise.resolve())
    },
  }
}
