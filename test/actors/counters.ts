/** The smallest entity there can be, in a region of its own: to watch shell, region and units and nothing else. */
import { type Decider, accept, refuse } from '../../src/actors/runtime/decider.ts'
import type { AnyDecider, Memory } from '../../src/actors/runtime/memory.ts'
import type { Journal } from '../../src/actors/runtime/ports.ts'
import { openRegion, REGION_DEFAULTS, type RegionOptions } from '../../src/actors/runtime/region.ts'
import { noCounts } from '../../src/actors/runtime/counts.ts'
import { type Work, counted } from '../../src/actors/runtime/commit.ts'
import { createUnits } from '../../src/actors/runtime/unit.ts'
import { createGuard } from '../../src/actors/runtime/unreadable.ts'
import { type Clock, systemClock } from '../../src/vocabulary/clock.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { type MemoryOptions, memoryStore } from '../support/memoryStore/memory.ts'

type Counter = { readonly count: number }
type Add = { readonly type: 'Add'; readonly by: number }
type Added = { readonly type: 'Added'; readonly by: number }
const LIMIT = 1000

/** Nothing may be taken below zero, and zero is nothing to record. */
export const counter: Decider<Counter, Add, Added> = {
  kind: 'counter',
  initial: { count: 0 },
  decide: ({ count }, { by }) => {
    if (count + by < 0 || count + by > LIMIT) return refuse({ kind: 'conflict', reason: `${count} and ${by}` })
    return by === 0 ? accept() : accept({ type: 'Added', by })
  },
  evolve: ({ count }, { by }) => ({ count: count + by }),
  rows: () => [],
}
const deciderOf = () => counter as AnyDecider
export const key = (name: string): string => `counter/${name}`
export const countOf = (memory: Memory): number => (memory.state as Counter).count

/** Adds to all named counters; the value is what the last one holds then. */
export const adding = (by: number, ...names: readonly string[]): Work<number> => ({
  commandId: crypto.randomUUID(),
  at: 1,
  cause: {},
  plan: (draft) => {
    for (const name of names) draft.decide(counter, key(name), { type: 'Add', by })
    return draft.state(counter, key(names.at(-1)!)).count
  },
})

export const createRegion = (store: Journal, options: Partial<RegionOptions> = {}, clock: Clock = systemClock) => {
  const crashes: string[] = []
  const counts = noCounts()
  const journal = counted(store, counts, clock)
  const ports = { journal, clock, deciderOf, crashed: (name: string) => void crashes.push(name) }
  const region = openRegion({ ...ports, options: { ...REGION_DEFAULTS, ...options } })
  const units = createUnits(region, journal, deciderOf, createGuard(silent))
  const add = (by: number, name: string) => region.tell(key(name), adding(by, name))
  const addAll = (by: number, ...names: readonly string[]) => units.together(names.map(key), adding(by, ...names))
  const count = async (name: string) => {
    const looked = await region.readCurrent(counter, key(name))
    return looked.ok ? countOf(looked.value) : looked.fault.kind
  }
  return { region, units, journal, counts, crashes, add, addAll, count }
}
export const openCounters = (
  store: MemoryOptions = {},
  options: Partial<RegionOptions> = {},
  clock: Clock = systemClock,
) => createRegion(memoryStore(store).journal, options, clock)

/** A door in the way of an append: it stays shut until it is opened. */
export const door = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let knocks = 0
  return {
    knocks: () => knocks,
    open: resolve,
    pass: async () => {
      knocks++
      await promise
    },
  }
}
