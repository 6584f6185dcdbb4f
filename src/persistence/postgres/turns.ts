/**
 * Turns on a pool. The pool of `pg` has a queue of its own, but one that is being ended never serves who waits in it: the callers
 * would wait in vain. So they wait here, before they choose a pool, and a pool never gets more work than it has connections.
 */

export type Turns = <Value>(work: () => Promise<Value>) => Promise<Value>

/** Lets at most `atOnce` pieces of work run. The others wait in the order of asking; whoever waits longer than `waitMs` gets an error. */
export const createTurns = (atOnce: number, waitMs: number): Turns => {
  const waiting: (() => void)[] = []
  let running = 0
  const turn = (): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(begin), 1)
      reject(new Error(`no connection to the database was free within ${waitMs} ms`))
    }, waitMs)
    const begin = () => {
      clearTimeout(timer)
      resolve()
    }
    waiting.push(begin)
    return promise
  }
  /** Whoever waits takes over the place of the one who ends, so that nobody who asks later comes first. */
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
