/**
 * Keeps an answer that is expensive to compute, for all callers of this process.
 *
 * COUNTED-1 one computation runs at a time, and everybody who asks meanwhile gets its answer;
 * COUNTED-2 an answer is kept for `leastMs`, and at least `TIMES` as long as its computation took, up to `MOST_MS`: so
 *    computing takes only a small share of the time, however many entities there are and however often it is asked for;
 * COUNTED-3 a refusal is kept for `leastMs` only.
 */
import type { Clock } from '../../vocabulary/clock.ts'
import type { Outcome } from '../../vocabulary/fault.ts'

const TIMES = 20
const MOST_MS = 60_000

type Kept<Value> = { readonly answer: Promise<Outcome<Value>>; until: number }

export const keptAnswer = <Value>(
  clock: Pick<Clock, 'monotonic'>,
  leastMs: number,
  compute: () => Promise<Outcome<Value>>,
): (() => Promise<Outcome<Value>>) => {
  let kept: Kept<Value> | null = null
  const begun = (at: number): Kept<Value> => {
    const one: Kept<Value> = { answer: compute(), until: Infinity }
    const keep = (forMs: number) => void (one.until = at + Math.max(leastMs, forMs))
    one.answer.then(
      ({ ok }) => keep(ok ? Math.min(TIMES * (clock.monotonic() - at), MOST_MS) : 0),
      () => keep(0),
    )
    return one
  }
  return () => {
    const at = clock.monotonic()
    if (kept === null || at >= kept.until) kept = begun(at)
    return kept.answer
  }
}
