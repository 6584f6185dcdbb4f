/** A mutex for each key; callers get a key in the order in which they ask. A key that nobody holds uses no memory. */
import type { Clock } from './clock.ts'

export type KeyedMutex = {
  /** Resolves to the function that releases the key; null: the key was not free within `waitMs`. */
  readonly enter: (key: string, waitMs: number) => Promise<(() => void) | null>
  /** Whether the key is held, so that a caller would have to wait. */
  readonly isHeld: (key: string) => boolean
  /** Runs the work while it holds the key. It waits for the key without limit. */
  readonly run: <Value>(key: string, work: () => Promise<Value>) => Promise<Value>
}
type Waiter = (entered: boolean) => void

export const createKeyedMutex = (clock: Pick<Clock, 'after'>): KeyedMutex => {
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
  /** Null: the key was free and is held now, without waiting. */
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
