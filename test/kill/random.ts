/**
 * Random choices from a seed. The timing of the machine is not seeded, so a repeated run makes the same choices, but
 * may differ.
 */
export type Random = {
  /** From 0 up to, not including, 1. */
  readonly next: () => number
  /** A whole number between both ends, both included. */
  readonly between: (from: number, to: number) => number
  readonly pick: <Item>(items: readonly Item[]) => Item
  readonly chance: (of: number) => boolean
}

/** Mulberry32. */
export const random = (seed: number): Random => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  return {
    next,
    between,
    pick: (items) => {
      if (items.length === 0) throw new Error('nothing to pick from')
      return items[between(0, items.length - 1)]!
    },
    chance: (of) => next() < of,
  }
}
