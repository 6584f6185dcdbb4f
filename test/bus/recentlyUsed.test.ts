/** The map of limited size in which keys are kept ready. */
import { expect, test } from 'vitest'
import { createRecentlyUsed } from '../../src/wire/recentlyUsed.ts'

test('what was used longest ago gives way, and being looked up counts as use', () => {
  const map = createRecentlyUsed<number>(2)
  map.set('a', 1)
  map.set('b', 2)
  expect(map.get('a')).toBe(1)
  map.set('c', 3)
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([1, undefined, 3])
  map.set('a', 4)
  map.set('d', 5)
  expect([map.get('a'), map.get('c'), map.get('d')]).toEqual([4, undefined, 5])
})
