import { describe, expect, it } from 'vitest'
import { play } from './simulate.ts'

const SEEDS = [1, 2, 3, 4, 5, 6]

describe('simulation', () => {
  it.each(SEEDS)('of seed %i breaks no invariant', async (seed) => {
    const { violations, requests, faults } = await play(seed)
    expect(violations).toEqual([])
    expect(requests).toBeGreaterThanOrEqual(190)
    expect(faults).toBe(12)
  })
  it('of one seed tells the same story twice', async () => {
    const [first, second] = [await play(7), await play(7)]
    expect(second.story.join('\n')).toBe(first.story.join('\n'))
    expect(second.steps).toBe(first.steps)
  })
  it('of another seed tells another story', async () => {
    const [first, second] = [await play(8), await play(9)]
    expect(second.story).not.toEqual(first.story)
  })
})
