/** Waits for work on a clock that is moved by hand: time passes only while the work waits for it. */
import type { handClock } from '../support/lab.ts'

/** More turns than any operation needs that does not wait. */
const TURNS = 400

export const settled = async <Value>(
  clock: Pick<ReturnType<typeof handClock>, 'pass'>,
  work: Promise<Value>,
): Promise<Value> => {
  let over = false
  const ended = () => void (over = true)
  void work.then(ended, ended)
  for (;;) {
    for (let turn = 0; turn < TURNS && !over; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
    if (over) return work
    await clock.pass(1000)
  }
}
