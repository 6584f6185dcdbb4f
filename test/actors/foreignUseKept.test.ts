/** FOREIGN-1 since when hardware has been seen in use, host by host, by a clock that the test moves. */
import { expect, test } from 'vitest'
import type { Difference } from '../../src/actors/inventory/slotDifferences.ts'
import { createForeignUse } from '../../src/services/reports/foreignUse.ts'

const FOR_MS = 110_000
const HOSTS_MAX = 10_000
const used = (handle: string, mark = '1'): Difference => ({
  kind: 'in_use',
  deployable: 'd',
  handle,
  mark,
  reason: 'somebody has opened it',
  found: null,
})
const opened = () => {
  let now = 5000
  const foreignUse = createForeignUse({ monotonic: () => now })
  const shows = (host: string, ...all: readonly Difference[]) => foreignUse(host, all).map(({ handle }) => handle)
  return { shows, pass: (ms: number) => void (now += ms) }
}

test('it lasts from 110 seconds on, by handle and by what is remembered of it, and then begins anew', () => {
  const { shows, pass } = opened()
  expect(shows('h1', used('a'), used('b'))).toEqual([])
  pass(FOR_MS - 1)
  expect(shows('h1', used('a'), used('b', '2'), used('c'))).toEqual([])
  pass(1)
  expect(shows('h1', used('a'), used('b', '2'), used('c'))).toEqual(['a'])
  pass(FOR_MS - 2)
  expect(shows('h1', used('a'), used('b', '2'), used('c'))).toEqual([])
  pass(1)
  expect(shows('h1', used('a'), used('b', '2'), used('c'))).toEqual(['b', 'c'])
  // seen free in between
  expect(shows('h1')).toEqual([])
  pass(10 * FOR_MS)
  expect(shows('h1', used('a'))).toEqual([])
})

test('so many hosts are remembered: one more is not, and each of those goes on', () => {
  const { shows, pass } = opened()
  expect(Array.from({ length: HOSTS_MAX + 1 }, (_, n) => shows(`h${n}`, used('a'))).flat()).toEqual([])
  pass(FOR_MS)
  expect(shows(`h${HOSTS_MAX}`, used('a'))).toEqual([])
  expect(shows(`h${HOSTS_MAX - 1}`, used('b'), used('a'))).toEqual(['a'])
  // those that are known go on while there is no room for others
  pass(FOR_MS)
  expect(shows(`h${HOSTS_MAX - 1}`, used('b'))).toEqual(['b'])
  // one that has nothing to remember any more makes room
  expect(shows(`h${HOSTS_MAX}`, used('a'))).toEqual([])
  pass(FOR_MS)
  expect(shows(`h${HOSTS_MAX}`, used('a'))).toEqual(['a'])
})
