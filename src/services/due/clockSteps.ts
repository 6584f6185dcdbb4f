/**
 * Notices that the clock of this machine was set. Deadlines are moments by that clock, recorded in the journal: those recorded before a
 * step are meant by the clock as it was.
 *
 * STEP-1 for as long as a bind may take after a step forward, deadlines are judged by the clock as it was, so that no bind fails early.
 *    Those recorded after the step are not due before that time is over, so none of them is late;
 * STEP-2 after a step back, a deadline that is further away than any bind may take was recorded before it, and is judged by the clock
 *    as it was. A step back that is shorter than that makes deadlines late by no more than itself.
 */
import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'

/** Less is the drift of two clocks, or a process that was busy between its two looks at them. */
const STEP_MS = 2_000

export type ClockSteps = {
  /** Until which moment recorded deadlines are over. */
  readonly moment: () => number
  /** Whether a deadline that is before that moment is over by it. */
  readonly isOver: (at: number) => boolean
}

/** `holdMs`: how long a bind may take. `moment` has to be asked more often than that. */
export const createClockSteps = (
  { clock, log }: { readonly clock: Pick<Clock, 'now' | 'monotonic'>; readonly log: Pick<Log, 'warn'> },
  holdMs: number,
): ClockSteps => {
  let difference = clock.now() - clock.monotonic()
  let [steppedMs, until] = [0, -Infinity]
  return {
    moment: () => {
      const monotonic = clock.monotonic()
      const step = clock.now() - monotonic - difference
      difference += step
      if (monotonic >= until) steppedMs = 0
      if (Math.abs(step) >= STEP_MS) {
        log.warn({ stepMs: Math.round(step) }, 'clock.stepped')
        ;[steppedMs, until] = [steppedMs + step, monotonic + holdMs]
      }
      return clock.now() - steppedMs
    },
    isOver: (at) => at <= clock.now() || at > clock.now() + holdMs,
  }
}
