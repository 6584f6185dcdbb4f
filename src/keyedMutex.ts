/** A mutex for each key: whoever asks for a key gets it in the order of asking. A key that nobody holds costs nothing. */
import type { Clock } from './clock.ts'

export type KeyedMutex = {
  /** The function that lets the key go; null: it was not free within `waitMs`. */
  readonly enter: (key: string, waitMs: number) => Promise<(() => void) | null>
  /** Whether somebody holds it: who asks now would have to wait. */
  readonly isHeld: (key: string) => boolean
  /** Runs the work while it holds the key, however long it waits for it. */
  readonly run: <Value>(key: string, work: () => Promise<Value>) => Promise<Value>
}
type Waiter = (entered: boolean) => void

export const keyedMutex = (clock: Pick<Clock, 'after'>): KeyedMutex => {
  const queues = new Map<string, Waiter[]>()
  const release = (key: string) => () => {
    const next = queues.get(key)?.shift()
    if (next === undefined) queues.delete(key)
    else next(true)
  }
  const wait = async (queue: Waiter[], waitMs: number | null): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    queue.push(resolve)
    if (waitMs === null) return promise
    const cancel = clock.after(waitMs, () => {
      const at = queue.indexOf(resolve)
      if (at >= 0) queue.splice(at, 1)
      resolve(false)
    })
    return promise.finally(cancel)
  }
  /** Taken at once where it is free: nothing is awaited then. */
  const entering = (key: string, waitMs: number | null): Promise<boolean> | null => {
    const queue = queues.get(key)
    if (queue !== undefined) return wait(queue, waitMs)
    queues.set(key, [])
    return null
  }
  return {
    enter: async (key, waitMs) => {
      const waiting = entering(key, waitMs)
      return waiting === null || (await waiting) ? release(key) : null
    },
    isHeld: (key) => queues.has(key),
    run: async (key, work) => {
      const waiting = entering(key, null)
      if (waiting !== null) await waiting
      try {
        return await work()
      } finally {
        release(key)()
      }
    },
  }
}
