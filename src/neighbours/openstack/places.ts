/**
 * Places for the validation of tokens, shared by the addresses that bring them: whoever sends many invented tokens
 * delays the others by little.
 *
 * PLACES-1 at most `open` validations are under way, at most `openOfOne` of them for one address. The last `kept`
 *    places are only for tokens that were valid before;
 * PLACES-2 who finds no place waits up to `waitMs`. A place that becomes free goes first to a token that was valid
 *    before, then to the address with the fewest places;
 * PLACES-3 at most `waiting` wait, at most `waitingOfOne` of one address; others are refused at once.
 */
import type { Clock } from '../../vocabulary/clock.ts'

const PLACES = { open: 64, kept: 8, openOfOne: 32, waiting: 2048, waitingOfOne: 256, waitMs: 2000 }

type Waiting = { readonly from: string; readonly wasValid: boolean; readonly answer: (got: boolean) => void }
export type Places = {
  /** False: there was no place in time. After true, `leave` must be called. */
  readonly take: (from: string, wasValid: boolean) => Promise<boolean>
  readonly leave: (from: string) => void
}

/** Whether a place is free for it now. */
const fits = ({ wasValid, from }: Waiting, taken: number, of: ReadonlyMap<string, number>): boolean =>
  wasValid ? taken < PLACES.open : taken < PLACES.open - PLACES.kept && (of.get(from) ?? 0) < PLACES.openOfOne

export const createPlaces = (clock: Pick<Clock, 'after'>): Places => {
  let taken = 0
  const takenOf = new Map<string, number>()
  const queue = new Set<Waiting>()
  const waitingOf = new Map<string, number>()
  const add = (counts: Map<string, number>, from: string, by: 1 | -1): void => {
    const count = (counts.get(from) ?? 0) + by
    if (count === 0) counts.delete(from)
    else counts.set(from, count)
  }
  const enter = (from: string): void => {
    taken++
    add(takenOf, from, 1)
  }
  /** A token that was valid before, otherwise the first that waits of the address with the fewest places. */
  const next = (): Waiting | undefined => {
    let best: Waiting | undefined
    for (const one of queue) {
      if (!fits(one, taken, takenOf)) continue
      if (one.wasValid) return one
      if (best === undefined || (takenOf.get(one.from) ?? 0) < (takenOf.get(best.from) ?? 0)) best = one
    }
    return best
  }
  const remove = (one: Waiting): void => {
    if (queue.delete(one)) add(waitingOf, one.from, -1)
  }
  return {
    take: async (from, wasValid) => {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const one: Waiting = { from, wasValid, answer: resolve }
      // a place that is free now suits nobody who waits: it would have been given when it became free
      if (fits(one, taken, takenOf)) {
        enter(from)
        return true
      }
      if (queue.size >= PLACES.waiting || (waitingOf.get(from) ?? 0) >= PLACES.waitingOfOne) return false
      queue.add(one)
      add(waitingOf, from, 1)
      const cancel = clock.after(PLACES.waitMs, () => {
        remove(one)
        resolve(false)
      })
      const got = await promise
      cancel()
      return got
    },
    leave: (from) => {
      taken--
      add(takenOf, from, -1)
      const one = next()
      if (one === undefined) return
      remove(one)
      enter(one.from)
      one.answer(true)
    },
  }
}
