import { describe, expect, it } from 'vitest'
import { play } from './simulate.ts'
import type { Bite } from './store.ts'

/** What is broken on purpose, and invariants of which one at least must notice. */
const BITES: readonly (readonly [Bite, readonly string[]])[] = [
  ['fence off', ['S1', 'S3', 'S9', 'S12', 'S13', 'I1', 'I2']],
  ['numbers forgotten', ['S5', 'S12']],
  ['append torn', ['I1', 'I2', 'I4', 'I5', 'I15', 'S13', 'S16']],
]
const SEEDS_MAX = 40

describe('simulation', () => {
  it.each(BITES)('finds the fault when it plays with: %s', { timeout: 120_000 }, async (bite, invariants) => {
    const found = new Set<string>()
    for (let seed = 1; seed <= SEEDS_MAX && !invariants.some((name) => found.has(name)); seed++)
      for (const { invariant } of (await play(seed, bite)).violations) found.add(invariant)
    expect([...found]).toEqual(expect.arrayContaining([expect.toSatisfy((name: string) => invariants.includes(name))]))
  })
})
