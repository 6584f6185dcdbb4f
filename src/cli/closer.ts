/**
 * Closes resources in the reverse order of opening. A resource that fails to close, or does not finish closing, does
 * not prevent the others from closing.
 */
import { systemClock } from '../vocabulary/clock.ts'
import { bounded } from '../vocabulary/waiting.ts'
import type { Log } from '../vocabulary/log.ts'

export type Closer = {
  /** `withinMs`: how long to wait for the resource to close; absent: without limit. */
  readonly add: (close: () => unknown, withinMs?: number) => void
  readonly close: () => Promise<void>
}

/** Whether the work finished in time. */
const ends = (work: Promise<unknown>, withinMs?: number): Promise<boolean> => {
  const ended = work.then(() => true)
  return withinMs === undefined ? ended : bounded(systemClock, ended, withinMs, false)
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
