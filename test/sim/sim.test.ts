import { describe, expect, it } from 'vitest'
import { play } from './simulate.ts'

const SEEDS = [1, 2, 3, 4]

describe('simulation', () => {
  const played = new Map<number, Awaited<ReturnType<typeof play>>>()
  it.each(SEEDS)('of seed %i breaks no invariant', async (seed) => {
    const simulated = await play(seed)
    played.set(seed, simulated)
    const { violations, requests, faults } = simulated
    expect(violations).toEqual([])
    expect(requests).toBeGreaterThanOrEqual(190)
    expect(faults).toBe(12)
  })
  it('of one seed tells the same story twice, and of another seed another one', async () => {
    const [first, other, again] = [played.get(1)!, played.get(2)!, await play(1)]
    expect(again.story.join('\n')).toBe(first.story.join('\n'))
    expect(again.steps).toBe(first.steps)
    expect(other.story).not.toEqual(first.story)
  })
})
