/**
 * Checks periodically whether another service answers. Only one check runs at a time, and each change of state is
 * logged.
 */
import type { Clock } from '../../vocabulary/clock.ts'
import { messageOf } from '../../vocabulary/errorText.ts'
import type { Log } from '../../vocabulary/log.ts'
import { repeatedly } from '../../vocabulary/waiting.ts'

export type Health = {
  /** Null: it answers. Otherwise a short reason. */
  readonly whyFailing: () => string | null
  readonly stop: () => void
}
type Watched = {
  /** The name of the service in the log and in `/readyz`. */
  readonly name: string
  /** Rejects when it does not answer. */
  readonly look: () => Promise<unknown>
  readonly everyMs: number
  /** A check that takes longer counts as failed. */
  readonly lateMs: number
  readonly clock: Clock
  readonly log: Log
}

const inWords = (error: unknown): string => messageOf(error).split('\n', 1)[0]!

export const watch = ({ name, look, everyMs, lateMs, clock, log }: Watched): Health => {
  let reason: string | null = null
  const found = (now: string | null): void => {
    if (reason === null && now !== null) log.warn({ reason: now }, `${name}.away`)
    if (reason !== null && now === null) log.info({}, `${name}.back`)
    reason = now
  }
  const stop = repeatedly(clock, { everyMs }, async (isStopped) => {
    const tell = (now: string | null): void => {
      if (!isStopped()) found(now)
    }
    const late = clock.after(lateMs, () => tell(`no answer within ${lateMs} ms`))
    try {
      await look()
      tell(null)
    } catch (error) {
      tell(inWords(error))
    } finally {
      late()
    }
  })
  return {
    whyFailing: () => (reason === null ? null : `${name}: ${reason}`),
    stop,
  }
}
