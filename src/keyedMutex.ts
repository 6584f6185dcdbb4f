/** One at a time of a name, in the order of asking; who waits too long goes away with nothing. */
import type { Clock } from './clock.ts'

export type KeyedMutex = {
  /** The function that ends the turn; null: the turn did not come in time. */
  readonly enter: (name: string, waitMs: number) => Promise<(() => void) | null>
}
type Waiter = (turn: boolean) => void

export const keyedMutex = (clock: Clock): KeyedMutex => {
  const queues = new Map<string, Waiter[]>()
  const leave = (name: string) => () => {
    const next = queues.get(name)?.shift()
    if (next === undefined) queues.delete(name)
    else next(true)
  }
  const wait = async (queue: Waiter[], waitMs: number): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    queue.push(resolve)
    const cancel = clock.after(waitMs, () => {
      const place = queue.indexOf(resolve)
      if (place >= 0) queue.splice(place, 1)
      resolve(false)
    })
    return promise.finally(cancel)
  }
  return {
    enter: async (name, waitMs) => {
      const queue = queues.get(name)
      if (queue === undefined) queues.set(name, [])
      else if (!(await wait(queue, waitMs))) return null
      return leave(name)
    },
  }
}
