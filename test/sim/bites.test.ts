import { describe, expect, it } from 'vitest'
import type { Bite } from './lies.ts'
import { play } from './simulate.ts'

/**
 * For each planted bug: the invariants of which at least one must fail, and the first seed to play, which is known to
 * find it.
 */
const PLANTED: readonly (readonly [Bite, readonly string[], number])[] = [
  ['signatures unchecked', ['S5 disk', 'L4', 'L5'], 7],
  ['fence off', ['S1', 'S3', 'S9', 'S12', 'S13', 'I1', 'I2'], 1],
  ['numbers forgotten', ['S5', 'S5 disk', 'S12'], 2],
  ['append torn', ['I1', 'I2', 'I4', 'I5', 'I15', 'S13', 'S16'], 10],
  ['programming unverified', ['S14', 'S14 bound'], 1],
  ['card not read', ['S14', 'S14 bound'], 1],
  ['cards by address', ['data-model 11.7'], 1],
  ['vGPUs not made again', ['L4'], 1],
  ['health forgotten', ['S9'], 1],
  ['relay without checkpoint', ['PUBLISHED-1'], 2],
  ['relay without epoch', ['SHARING-2'], 5],
  ['refusal without reading the tail', ['S6', 'S7', 'S9'], 1],
  ['claims ignored', ['SHARING-3'], 14],
  ['chain off', ['S1', 'S13', 'I1', 'I2', 'L5'], 2],
  ['incarnation off', ['INCARNATION-2', 'S1 clients'], 18],
  ['ownership off', ['S11'], 1],
  ['generation ignored', ['SETTLE-3'], 1],
  ['revocation ignored', ['TOKENS-1'], 1],
  ['cleaning skipped', ['S18 host'], 1],
  ['far moments waited for', ['L1', 'L2', 'L3'], 2],
  ['any host believed', ['PROVENANCE-1'], 1],
  ['projects not told apart', ['L7'], 2],
]
/** Each change of the code changes the random sequence of a seed, so more seeds are tried. */
const SEEDS_MAX = 60

describe('simulation', () => {
  it.each(PLANTED)('finds the fault when it plays with: %s', { timeout: 180_000 }, async (bite, invariants, first) => {
    const found = new Set<string>()
    for (let at = 0; at < SEEDS_MAX && !invariants.some((name) => found.has(name)); at++)
      for (const { invariant } of (await play(first + at, bite)).violations) found.add(invariant)
    expect([...found]).toEqual(expect.arrayContaining([expect.toSatisfy((name: string) => invariants.includes(name))]))
  })
})
