/** A semaphore: at most so many pieces of work run at once, the others wait in the order of asking. */
import type { Clock } from './clock.ts'

export type Semaphore = <Value>(work: () => Promise<Value>) => Promise<Value>
/** Who waits longer than `waitMs` is rejected with the error, and its work is never begun. */
export type WaitLimit = {
  readonly clock: Pick<Clock, 'after'>
  readonly waitMs: number
  readonly late: () => Error
}

export const createSemaphore = (atOnce: number, limit?: WaitLimit): Semaphore => {
  const waiting: (() => void)[] = []
  let running = 0
  const turn = (): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    waiting.push(resolve)
    if (limit === undefined) return promise
    const cancel = limit.clock.after(limit.waitMs, () => {
      const at = waiting.indexOf(resolve)
      if (at >= 0) waiting.splice(at, 1)
      reject(limit.late())
    })
    return promise.finally(cancel)
  }
  /** Whoever waits takes over the place of the one who ends, so that nobody who asks later comes first. */
  const release = (): void => {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
  return async (work) => {
    if (running < atOnce) running++
    else await turn()
    try {
      return await work()
    } finally {
      release()
    }
  }
}
