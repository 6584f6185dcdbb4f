/** Last opened, first closed; one that fails to close, or does not come to an end, does not keep the others open. */
import { systemClock } from '../../clock.ts'
import type { Log } from '../../log.ts'

export type Closer = {
  /** Its end is waited for `withinMs`, when that is given. */
  readonly add: (close: () => unknown, withinMs?: number) => void
  readonly close: () => Promise<void>
}

const LATE = Symbol('late')
/** Whether it came to its end in time. */
const ends = async (work: Promise<unknown>, withinMs?: number): Promise<boolean> => {
  if (withinMs === undefined) return work.then(() => true)
  const { promise: late, resolve } = Promise.withResolvers<typeof LATE>()
  const cancel = systemClock.after(withinMs, () => resolve(LATE))
  return (await Promise.race([work, late]).finally(cancel)) !== LATE
}

export const closer = (log: Log): Closer => {
  const closing: (() => Promise<void>)[] = []
  return {
    add: (close, withinMs) =>
      void closing.unshift(async () => {
        if (!(await ends(Promise.resolve(close()), withinMs))) log.warn({ withinMs }, 'stop.cut')
      }),
    close: async () => {
      for (const close of closing.splice(0))
        await close().catch((error: unknown) => log.error({ error: String(error) }, 'stop'))
    },
  }
}
