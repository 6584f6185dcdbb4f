/** A store of which one call fails. */
import type { Journal } from '../../src/actors/runtime/ports.ts'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import type { Store } from '../../src/persistence/store.ts'

/**
 * `overtaken`: others are always faster than any append. `lost`: one call fails and does nothing. `untold`: one append
 * is written, but its writer and all later calls get an error.
 */
export type Failure = 'lost' | 'untold' | 'overtaken'

type Port = Readonly<Record<string, unknown>>

export const failingStore = (store: Store) => {
  let [calls, appends, from]: [number, number, number] = [0, 0, Infinity]
  let failure: Failure = 'lost'
  const fails = (): boolean => {
    calls++
    return failure === 'untold' ? appends >= from : calls === from
  }
  const asked = <Value>(work: () => Promise<Value>): Promise<Value> =>
    fails() ? Promise.reject(new Unreadable('the store is away')) : work()
  const guarded = <Some extends object>(port: Some): Some =>
    Object.fromEntries(
      Object.entries(port as Port).map(([name, call]) => [
        name,
        typeof call !== 'function' || /^(on|is)[A-Z]/.test(name)
          ? call
          : (...given: readonly unknown[]) => asked(() => call(...given) as Promise<unknown>),
      ]),
    ) as Some
  const append: Journal['append'] = async (wanted) => {
    if (failure === 'overtaken') return 'stale'
    if (fails()) return 'unknown'
    const verdict = await store.journal.append(wanted)
    appends++
    return failure === 'untold' && appends === from ? 'unknown' : verdict
  }
  return {
    store: {
      ...store,
      journal: { ...guarded(store.journal), append },
      reads: guarded(store.reads),
      sharing: guarded(store.sharing),
      landmarks: guarded(store.landmarks),
    } satisfies Store,
    /** From now on: the n-th call fails; of `untold`, the n-th append. */
    fail: (how: Failure, n: number): void => {
      ;[calls, appends, from, failure] = [0, 0, n, how]
    },
    heal: (): void => void (from = Infinity),
    calls: () => calls,
    appends: () => appends,
  }
}
