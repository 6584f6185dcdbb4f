/**
 * Notices that the clock of this machine was set. The journal records deadlines by this clock, so a deadline that was
 * recorded before a step has to be compared with the clock without that step.
 *
 * STEP-1 after a step forward, deadlines are compared with the unstepped clock for as long as a bind may take, so that
 *    no bind fails early. A deadline recorded after the step falls due after that time, so this makes none late;
 * STEP-2 after a step back, a deadline further ahead than any bind may take must have been recorded before the step,
 *    and counts as passed. A step back that is shorter than that makes a deadline late by the length of the step at
 *    most.
 */
import type { Clock } from '../../vocabulary/clock.ts'
import type { Log } from '../../vocabulary/log.ts'

/**
 * A smaller difference can be drift between the two clocks, or a process that was busy between reading one and the
 * other.
 */
const STEP_MS = 2_000

export type ClockSteps = {
  /** The moment up to which recorded deadlines count as passed. */
  readonly moment: () => number
  /**
   * Whether a recorded deadline that is before `moment()` has really passed, or lies so far ahead that it precedes a
   * step back.
   */
  readonly isOver: (at: number) => boolean
}

/** `holdMs`: how long a bind may take. `moment` has to be called more often than that. */
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
