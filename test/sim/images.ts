/** The images port over a table in memory. */
import type { Images } from '../../src/actors/neighbours.ts'

export const IMAGES = ['4a3bd0ae-0000-4000-8000-000000000001', '4a3bd0ae-0000-4000-8000-000000000002'] as const
export const UNKNOWN_IMAGE = '4a3bd0ae-0000-4000-8000-00000000dead'

export const imagesOf = (): Images => ({
  find: async (image) =>
    (IMAGES as readonly string[]).includes(image)
      ? { found: true, path: `/images/${image}` }
      : { found: false, why: 'unknown' },
})
