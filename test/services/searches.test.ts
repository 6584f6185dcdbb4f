/** The image searches of one bind: which are made, how often, how many at most, and what a refusal says. */
import { expect, test } from 'vitest'
import type { ImageSearch } from '../../src/actors/neighbours.ts'
import { type NoImage, noImage } from '../../src/images.ts'
import { createImageSearches } from '../../src/services/arqs/imageSearches.ts'
import { imageOf } from '../support/images.ts'

const FOUND = { found: true, images: [imageOf('i')] } as const
const opened = (problem: NoImage | null = null) => {
  const made: string[] = []
  const searches = createImageSearches({
    find: async () => noImage('unknown'),
    search: async (wish) => {
      made.push(wish.by === 'all' ? 'all' : `${wish.by} ${wish.value}`)
      return problem ?? FOUND
    },
  })
  return { made, ...searches }
}
const search = (value: string, by: ImageSearch['by'] = 'function_id'): ImageSearch => ({ by, value })

test('a search that is asked for is made once, by the next look, and has its result then', async () => {
  const { made, resultOf, lookUp } = opened()
  expect(await lookUp()).toBe(null)
  expect([resultOf(search('a')), resultOf(search('a')), resultOf(search('a', 'bitstream_name'))]).toEqual([
    null,
    null,
    null,
  ])
  expect(await lookUp()).toBe(null)
  expect(made).toEqual(['function_id a', 'bitstream_name a'])
  expect(resultOf(search('a'))).toEqual(FOUND)
  expect(await lookUp()).toBe(null)
  expect(made).toHaveLength(2)
})
test.each([
  [16, null],
  [17, { ok: false, fault: { kind: 'conflict', reason: 'one bind may search for 16 images' } }],
])('%i searches at once', async (count, answer) => {
  const { made, resultOf, lookUp } = opened()
  for (let n = 0; n < count; n++) resultOf(search(String(n)))
  expect(await lookUp()).toEqual(answer)
  expect(made).toHaveLength(answer === null ? count : 0)
})
test.each([
  [
    noImage('none', 'unused'),
    {
      kind: 'conflict',
      reason: 'accel:function_id needs an image service that can be searched, and none is configured',
    },
  ],
  [noImage('forbidden'), { kind: 'conflict', reason: 'the images with accel:function_id a cannot be read: forbidden' }],
  [
    noImage('unavailable', 'it is away'),
    {
      kind: 'unavailable',
      reason: 'the images with accel:function_id a cannot be read: it is away',
      retryAfterSeconds: 5,
    },
  ],
])('a search that finds %o', async (problem, fault) => {
  const { made, resultOf, lookUp } = opened(problem)
  resultOf(search('a'))
  resultOf(search('b'))
  expect(await lookUp()).toEqual({ ok: false, fault })
  expect([made, resultOf(search('a'))]).toEqual([['function_id a'], null])
})
