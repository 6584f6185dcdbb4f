/** Waits, but not for ever. */
import { type Clock, bounded } from '../../clock.ts'

/** Whether the work ended in time, well or badly. */
export const within = (clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> => {
  const ended = work.then(
    () => true,
    () => true,
  )
  return bounded(clock, ended, ms, false)
}
