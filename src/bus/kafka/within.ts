/** Waits, but not for ever. */
import type { Clock } from '../../clock.ts'

/** Whether the work ended in time, well or badly. */
export const within = async (clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const cancel = clock.after(ms, () => resolve(false))
  const ended = work.then(
    () => true,
    () => true,
  )
  return Promise.race([ended, promise]).finally(cancel)
}
