/**
 * Stops calls to a neighbour that does not answer, because each caller would wait for the whole time limit.
 *
 * CIRCUIT-1 after `FAILURES` failures in a row, calls fail at once during a pause, which doubles with each further
 *    failure;
 * CIRCUIT-2 after the pause one call is made, and all others fail at once until it has ended;
 * CIRCUIT-3 any status but 500, 502, 503 and 504 proves that the neighbour works;
 * CIRCUIT-4 a call that carries text of somebody whom nobody has identified yet may fail because of that text. Its
 *    failure counts only if a neutral call, which carries none, fails as well; and while calls fail at once, only the
 *    neutral call finds out whether the neighbour is back. An answer to another call since this one began saves the
 *    neutral call.
 */
import type { Clock } from '../../vocabulary/clock.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import type { Log } from '../../vocabulary/log.ts'
import { backoffMs } from '../../vocabulary/waiting.ts'
import { type Answer, NotAsked, Unanswered } from './send.ts'

const FAILURES = 3
const PAUSE = { firstMs: 500, maxMs: 15_000 }
const BROKEN: ReadonlySet<number> = new Set([500, 502, 503, 504])

/** This call failed, although the neighbour answers others. */
export class OnlyThisCall extends Unanswered {}
type Answered = Pick<Answer, 'status'>

export type Circuit = {
  /** During a pause, rejects with `NotAsked` and makes no call. */
  readonly run: <Got extends Answered>(call: () => Promise<Got>) => Promise<Got>
  /**
   * The same for a call with text of an unidentified caller (CIRCUIT-4). Rejects with `OnlyThisCall` when the neighbour
   * answers the neutral call.
   */
  readonly runFor: <Got extends Answered>(call: () => Promise<Got>, neutral: () => Promise<Answered>) => Promise<Got>
  /** Why the neighbour counts as unreachable; null: it answers, or was not asked yet. */
  readonly whyFailing: () => string | null
}

export const createCircuit = (name: string, clock: Pick<Clock, 'monotonic'>, log: Log): Circuit => {
  let failures = 0
  let closedUntil = 0
  let probing = false
  let answers = 0
  let proving: Promise<Answered> | null = null
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
    answers++
  }
  const run = async <Got extends Answered>(call: () => Promise<Got>): Promise<Got> => {
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
  }
  const prove = async (neutral: () => Promise<Answered>): Promise<void> => {
    const { status } = await (proving ??= run(neutral).finally(() => (proving = null)))
    if (BROKEN.has(status)) throw new Unanswered(`it answers ${status}`)
  }
  return {
    run,
    runFor: async (call, neutral) => {
      if (reason !== null) await prove(neutral)
      const answersBefore = answers
      const result = await call().then(
        (answer) => (BROKEN.has(answer.status) ? new OnlyThisCall(`it answers ${answer.status}`) : answer),
        (error: unknown) => new OnlyThisCall(textOf(error), { cause: error }),
      )
      if (result instanceof OnlyThisCall) {
        if (answers === answersBefore) await prove(neutral)
        throw result
      }
      answered()
      return result
    },
    whyFailing: () => reason,
  }
}
