/** Runs only a few pieces of work at a time; the others wait in the order in which they came. */
import type { Clock } from './clock.ts'

export type Semaphore = <Value>(work: () => Promise<Value>) => Promise<Value>
/**
 * How long a piece of work may wait for its turn, and the error if it waits longer. Without a limit it waits as long as
 * necessary.
 */
export type WaitLimit = { readonly ms: number; readonly error: () => Error; readonly clock: Pick<Clock, 'after'> }

export const createSemaphore = (atOnce: number, limit?: WaitLimit): Semaphore => {
  const waiting: (() => void)[] = []
  let running = 0
  const turn = (): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const expire = () => {
      waiting.splice(waiting.indexOf(begin), 1)
      reject(limit!.error())
    }
    const cancel = limit?.clock.after(limit.ms, expire)
    const begin = () => {
      cancel?.()
      resolve()
    }
    waiting.push(begin)
    return promise
  }
  /** The one that ends hands its turn to the first that waits, so that nobody who asks later comes first. */
  const leave = () => {
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
      leave()
    }
  }
}
