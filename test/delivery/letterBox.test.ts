/** Dead letters while they are read: their marks, their times, and how many are kept. */
import { expect, test } from 'vitest'
import { letterBox, uuidOf } from '../../src/delivery/deadLetters/box.ts'
import { handledRecord } from '../../src/wire/handledLetter.ts'
import { deadLetterRecord } from '../../src/wire/message.ts'

const OF = { topic: 'host.reports.v1', key: 'h1', value: 'no JSON', headers: {} }
const letterOf = (id: string, time: number, more: Partial<typeof OF> = {}) => ({
  ...deadLetterRecord({ ...OF, ...more }, 'bad', { id, time }),
  time,
})
const markOf = (id: string, time: number, how: 'replayed' | 'dropped' = 'replayed') =>
  handledRecord({ ...OF, reason: '' }, { id, time }, { how, by: 'a', reason: 'b', command: `c${time}` })
/** Later than all moments of the letters. */
const NOW = 1000
const boxOf = (...most: readonly number[]) => letterBox({ now: () => NOW }, ...most)
const idsOf = (box: ReturnType<typeof letterBox>) => box.all().map(({ id }) => id)

test('BOX-1 of too many the oldest is forgotten, in whatever order they are read', () => {
  const box = boxOf(3)
  for (const [id, time] of [
    ['d', 40],
    ['b', 20],
    ['e', 50],
    ['c', 30],
    ['a', 10],
  ] as const)
    box.take(letterOf(id, time))
  expect(idsOf(box)).toEqual(['c', 'd', 'e'])
  expect(box.get(uuidOf({ id: 'b' }))).toBe(null)
})
test.each(['value', 'key'] as const)('BOX-1 so are those that have too many characters together, in the %s', (part) => {
  const box = boxOf(10, 2500)
  for (const n of [2, 3, 1]) box.take(letterOf(`${n}`, n, { [part]: 'x'.repeat(900) }))
  expect(idsOf(box)).toEqual(['2', '3'])
})
test('BOX-1 a letter that is read again is kept once, at the time that was read last', () => {
  const box = boxOf(3)
  for (const time of [10, 10, 30]) {
    box.take(letterOf('a', time))
    box.take(letterOf('b', 20))
  }
  expect(idsOf(box)).toEqual(['b', 'a'])
})
test('BOX-2 marks that are read before their letter hold for it', () => {
  const box = boxOf()
  box.take(markOf('a', 5, 'dropped'))
  box.take(markOf('a', 6))
  expect(box.all()).toEqual([])
  box.take(letterOf('a', 1))
  expect(box.all()).toMatchObject([{ id: 'a', retriedAt: '1970-01-01T00:00:00.006Z', handled: { how: 'replayed' } }])
  expect(['c5', 'c6', 'c7'].map((command) => box.isDone(uuidOf({ id: 'a' }), command))).toEqual([true, true, false])
})
test.each([
  [Number.NaN, 0],
  [-1, 0],
  [1e300, NOW],
  [Number.POSITIVE_INFINITY, NOW],
])('BOX-3 a letter with the time %s is kept at one that can be shown', (time, shown) => {
  const box = boxOf()
  box.take({ ...letterOf('a', 1), time })
  expect(box.all()).toMatchObject([{ time: shown }])
})
test('BOX-3 a letter of a clock that is ahead is as old as its first reading, and is displaced by later ones', () => {
  let now = 100
  const box = letterBox({ now: () => now }, 2)
  box.take(letterOf('ahead', 1e9))
  now = 200
  box.take(letterOf('b', 199))
  box.take(letterOf('ahead', 1e9))
  expect(box.all().map(({ id, time }) => [id, time])).toEqual([
    ['ahead', 100],
    ['b', 199],
  ])
  now = 300
  box.take(letterOf('c', 299))
  expect(idsOf(box)).toEqual(['b', 'c'])
})
test('BOX-4 letters are forgotten by the moment at which they were first read, not by their own', () => {
  let now = 100
  const box = letterBox({ now: () => now })
  box.take(letterOf('old', 50))
  now = 200
  box.take(letterOf('behind', 1))
  box.take(letterOf('old', 150))
  box.forget(100)
  expect(idsOf(box)).toEqual(['behind', 'old'])
  box.forget(101)
  expect(idsOf(box)).toEqual(['behind'])
})
