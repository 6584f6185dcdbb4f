/**
 * Says whether a term has passed that begins at a recorded moment. Controls record moments by their own clocks, and
 * each of these may be wrong.
 *
 * TERMS-1 a moment further ahead than two clocks may differ comes from a clock that was wrong, and says nothing: such a
 *    term has passed when this process has seen the moment unchanged for as long as the term, by its monotonic clock.
 *    So no term lasts longer than twice itself, and none ends early because this process has the wrong clock.
 */
import type { Clock } from '../../vocabulary/clock.ts'
import { createObserver } from '../../vocabulary/observer.ts'

/** A moment that nobody has asked about for this long is forgotten. */
const FORGOTTEN_MS = 600_000
/** How far the clocks of two controls may differ; doctor warns long before. */
export const CLOCKS_MS = 120_000

/** Whether a moment lies so far ahead that the clock that it was recorded by was wrong. Pure. */
export const isAheadOf = (moment: number, now: number): boolean => moment > now + CLOCKS_MS

export type Terms = {
  /** `name`: what the moment is recorded of. It has to be asked about every few minutes while it lies ahead. */
  readonly hasPassed: (name: string, since: number, termMs: number) => boolean
}

export const createTerms = ({ now, monotonic }: Pick<Clock, 'now' | 'monotonic'>): Terms => {
  const observer = createObserver(monotonic, FORGOTTEN_MS)
  return {
    hasPassed: (name, since, termMs) =>
      since <= now() - termMs || (isAheadOf(since, now()) && observer.isOver(name, String(since), termMs)),
  }
}
