/** Whole simulated clouds, each decided by its seed: they break no invariant, and can be played again. */
import { describe, expect, it } from 'vitest'
import { play } from './simulate.ts'

const SEEDS = [1, 2, 3, 4]

describe('simulation', () => {
  /** Each seed is played once for all tests. */
  const played = new Map<number, ReturnType<typeof play>>()
  const playedOf = (seed: number) => played.get(seed) ?? played.set(seed, play(seed)).get(seed)!
  it.each(SEEDS)('of seed %i breaks no invariant', async (seed) => {
    const { violations, requests, faults } = await playedOf(seed)
    expect(violations).toEqual([])
    expect(requests).toBeGreaterThanOrEqual(190)
    expect(faults).toBe(12)
  })
  it('of one seed tells the same story twice, and of another seed another one', async () => {
    const [first, other, again] = [await playedOf(1), await playedOf(2), await play(1)]
    expect(again.story.join('\n')).toBe(first.story.join('\n'))
    expect(again.steps).toBe(first.steps)
    expect(other.story).not.toEqual(first.story)
  })
})
