/** Waits for work on a clock that is moved by hand: time passes only while the work waits for it. */
import type { handClock } from '../support/lab.ts'

/** More turns than any operation needs that does not wait. */
const TURNS = 400
/** No work waits for longer than this. */
const LIMIT_S = 600

export const settled = async <Value>(
  clock: Pick<ReturnType<typeof handClock>, 'pass'>,
  work: Promise<Value>,
): Promise<Value> => {
  let over = false
  const ended = () => void (over = true)
  void work.then(ended, ended)
  for (let passed = 0; passed <= LIMIT_S; passed++) {
    for (let turn = 0; turn < TURNS && !over; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
    if (over) return work
    await clock.pass(1000)
  }
  throw new Error(`the work did not end within ${LIMIT_S} s of its clock`)
}
