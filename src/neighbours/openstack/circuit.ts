/**
 * Stops calls to a neighbour that does not answer, because each caller would wait for the whole time limit.
 *
 * CIRCUIT-1 after `FAILURES` failures in a row, calls fail at once during a pause, which doubles with each further
 *    failure;
 * CIRCUIT-2 after the pause one call is made, and all others fail at once until it has ended;
 * CIRCUIT-3 any status but 500, 502, 503 and 504 proves that the neighbour works.
 */
import type { Clock } from '../../clock.ts'
import { textOf } from '../../errorText.ts'
import type { Log } from '../../log.ts'
import { backoffMs } from '../../waiting.ts'
import { type Answer, NotAsked } from './send.ts'

const FAILURES = 3
const PAUSE = { firstMs: 500, maxMs: 15_000 }
const BROKEN: ReadonlySet<number> = new Set([500, 502, 503, 504])

export type Circuit = {
  /** During a pause, rejects with `NotAsked` and makes no call. */
  readonly run: <Got extends Pick<Answer, 'status'>>(call: () => Promise<Got>) => Promise<Got>
  /** Why the neighbour counts as unreachable; null: it answers, or was not asked yet. */
  readonly whyFailing: () => string | null
}

export const createCircuit = (name: string, clock: Pick<Clock, 'monotonic'>, log: Log): Circuit => {
  let failures = 0
  let closedUntil = 0
  let probing = false
  let reason: string | null = null
  const failed = (why: string): void => {
    failures++
    if (failures < FAILURES) return
    if (reason === null) log.warn({ neighbour: name, reason: why }, 'neighbour.unreachable')
    reason = why
    closedUntil = clock.monotonic() + backoffMs(PAUSE, failures - FAILURES + 1)
  }
  const answered = (): void => {
    if (reason !== null) log.info({ neighbour: name }, 'neighbour.reachable')
    failures = 0
    reason = null
  }
  return {
    run: async (call) => {
      if (reason !== null && (probing || clock.monotonic() < closedUntil))
        throw new NotAsked(`it is not asked again yet: ${reason}`)
      probing = reason !== null
      try {
        const answer = await call()
        if (BROKEN.has(answer.status)) failed(`it answers ${answer.status}`)
        else answered()
        return answer
      } catch (error) {
        failed(textOf(error))
        throw error
      } finally {
        probing = false
      }
    },
    whyFailing: () => reason,
  }
}
